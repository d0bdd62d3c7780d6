import { type CopyRequest, copyStore } from '../../db/copy/copy-store.ts'
import { describeLocation } from '../../db/location.ts'
import { count } from './count.ts'

interface Copied {
  /** For the operator. */
  summary: string
  /** Of all tables. */
  rows: number
}

export async function copy(request: CopyRequest): Promise<Copied> {
  const tables = await copyStore(request)
  const summary = [
    `Copied ${describeLocation(request.from)} to ${describeLocation(request.to)}. After reading back, both contain:`,
    ...tables.map(({ name, rows, sha256 }) => `  ${name}: ${count(rows, 'row')}, SHA-256 ${sha256.slice(0, 12)}…`),
  ].join('\n')
  return { summary, rows: tables.reduce((sum, { rows }) => sum + rows, 0) }
}
