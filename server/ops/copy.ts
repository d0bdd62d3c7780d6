import { type CopyRequest, copyStore } from '../../db/copy/copy-store.ts'
import { describeLocation } from '../../db/location.ts'
import { count } from './count.ts'

/** @returns a summary for the operator. */
export async function copy(request: CopyRequest): Promise<string> {
  const tables = await copyStore(request)
  return [
    `Copied ${describeLocation(request.from)} to ${describeLocation(request.to)}. After reading back, both contain:`,
    ...tables.map(({ name, rows, sha256 }) => `  ${name}: ${count(rows, 'row')}, SHA-256 ${sha256.slice(0, 12)}…`),
  ].join('\n')
}
