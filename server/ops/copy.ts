import { type CopyRequest, copyStore, type TableSummary } from '../../db/copy/copy-store.ts'
import { describeLocation } from '../../db/location.ts'
import { count } from './count.ts'

interface Copied {
  /** Paths, or URLs without passwords. */
  from: string
  to: string
  tables: TableSummary[]
}

export async function copy(request: CopyRequest): Promise<Copied> {
  const tables = await copyStore(request)
  return { from: describeLocation(request.from), to: describeLocation(request.to), tables }
}

export function describeCopy({ from, to, tables }: Copied): string {
  return [
    `Copied ${from} to ${to}. After reading back, both contain:`,
    ...tables.map(({ name, rows, sha256 }) => `  ${name}: ${count(rows, 'row')}, SHA-256 ${sha256.slice(0, 12)}…`),
  ].join('\n')
}
