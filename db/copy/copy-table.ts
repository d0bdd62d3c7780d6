import { UnusableDatabase } from '../unusable-database.ts'
import { Checksum } from './checksum.ts'
import { RowsRefused, type SourceTable, type TargetTable } from './endpoints.ts'

/** How many rows of a table are copied by now, or read back and compared. */
export interface CopyProgress {
  step: 'copy' | 'compare'
  table: string
  done: number
  total: number
}

export interface CopyContext {
  /** The databases as messages name them. */
  from: string
  to: string
  /** How many rows are read and written at once. */
  batchSize: number
  onProgress?: ((progress: CopyProgress) => void) | undefined
}

/** What a table holds. */
export interface TableSummary {
  name: string
  rows: number
  /** Of all rows in ascending id, in hexadecimal. */
  sha256: string
  /** The highest id that is known to have been given. */
  lastId: bigint
}

interface StoredRow {
  id: bigint
}

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

/**
 * Copies a table, reads back what was written, and compares.
 *
 * @throws {UnusableDatabase} also if it is not the same.
 */
export async function copyTable<Row extends StoredRow>(
  source: SourceTable<Row>,
  target: TargetTable<Row>,
  context: CopyContext,
): Promise<TableSummary> {
  const { from, to, batchSize, onProgress } = context
  const total = await source.count()
  const counting = (step: CopyProgress['step']) => (done: number) =>
    onProgress?.({ step, table: source.name, done, total })

  const copied = await summarize(source, batchSize, counting('copy'), (rows) => insert(target, rows, context))
  const copy = await summarize(target, batchSize, counting('compare'))
  if (copy.rows !== copied.rows || copy.sha256 !== copied.sha256) {
    throw new UnusableDatabase(
      to,
      `its table ${source.name} came out other than that of ${from}, with ${copy.rows} rows of ${copied.rows} and the SHA-256 ${copy.sha256}, not ${copied.sha256}; nothing was kept of the copy`,
    )
  }
  return copied
}

async function insert<Row extends StoredRow>(
  target: TargetTable<Row>,
  rows: Row[],
  { from, to }: CopyContext,
): Promise<void> {
  const untimely = rows.find((row) => Object.values(row).some(isInvalidDate))
  if (untimely)
    throw new UnusableDatabase(
      from,
      `a time in the row ${untimely.id} of its table ${target.name} is none; correct or delete that row`,
    )
  try {
    await target.insert(rows)
  } catch (error) {
    if (!(error instanceof RowsRefused)) throw error
    throw new UnusableDatabase(
      to,
      `it does not take one of the rows ${rows[0]?.id} to ${rows.at(-1)?.id} of ${target.name}: ${error.message}; correct or delete that row in ${from}`,
      { cause: error },
    )
  }
}

/** PostgreSQL has times that JavaScript cannot represent; the constraint against them may have been dropped by hand. */
function isInvalidDate(value: unknown): boolean {
  return value instanceof Date && Number.isNaN(value.getTime())
}

/** Reads a whole table, and gives each batch to `use`. */
async function summarize<Row extends StoredRow>(
  table: SourceTable<Row>,
  batchSize: number,
  onRows: (done: number) => void,
  use: (rows: Row[]) => Promise<void> = async () => {},
): Promise<TableSummary> {
  const checksum = new Checksum()
  let [rows, lastId] = [0, await table.lastId()]
  for await (const batch of batchesOf(table, batchSize)) {
    await use(batch)
    checksum.add(batch)
    rows += batch.length
    onRows(rows)
    const last = batch.at(-1)
    if (last && last.id > lastId) lastId = last.id
  }
  return { name: table.name, rows, sha256: checksum.digest(), lastId }
}

async function* batchesOf<Row extends StoredRow>(table: SourceTable<Row>, size: number): AsyncGenerator<Row[]> {
  for (let from = minInt64; ; ) {
    const rows = await table.read(from, size)
    const last = rows.at(-1)
    if (!last) return
    yield rows
    if (last.id === maxInt64) return
    from = last.id + 1n
  }
}
