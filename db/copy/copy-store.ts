import { createHash } from 'node:crypto'
import type { Location } from '../location.ts'
import type { OnMigrate } from '../migrations.ts'
import type { ResourceList } from '../resource-list.ts'
import { UnusableDatabase } from '../unusable-database.ts'
import { type CopyDatabase, type CopyDriver, type Row, RowsRefused, type Table } from './driver.ts'

export interface CopyRequest {
  resources: ResourceList
  /** Must exist and have this release's schema. The copy only reads it, and other processes may use it meanwhile. */
  from: Location
  /** Is created if necessary. Must have this release's schema and no rows. */
  to: Location
  /** How many rows are read and inserted at a time. */
  batchSize?: number
  /** Called if the target was created. */
  onMigrate?: OnMigrate
  onProgress?: ((progress: CopyProgress) => void) | undefined
}

/** How many rows of a table have been copied, or read back and compared. */
export interface CopyProgress {
  step: 'copy' | 'compare'
  table: string
  done: number
  total: number
}

export interface TableSummary {
  name: string
  rows: number
  /** SHA-256 of all rows in ascending order of id, in hexadecimal. The same for equal rows in any database. */
  sha256: string
}

interface Copy {
  source: CopyDatabase
  target: CopyDatabase
  batchSize: number
  onProgress: (progress: CopyProgress) => void
}

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

/**
 * Copies a snapshot of the whole store into an empty one. Rows keep their ids, and the target never assigns an id that
 * the source has assigned. Before the single commit, all rows are read back and compared: after a failure at any moment
 * the target is empty or complete.
 *
 * @returns what both databases contain.
 * @throws {UnusableDatabase}
 */
export async function copyStore({
  resources,
  from,
  to,
  batchSize = 1_000,
  onMigrate,
  onProgress = () => {},
}: CopyRequest): Promise<TableSummary[]> {
  const source = await (await importDriver(from)).openSource(addressOf(from), resources)
  try {
    const target = await (await importDriver(to)).openTarget(addressOf(to), resources, source.identity, onMigrate)
    try {
      return await copyTables({ source, target, batchSize, onProgress })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Loads only the driver that is needed. */
function importDriver({ kind }: Location): Promise<CopyDriver> {
  return kind === 'postgres' ? import('./postgres.ts') : import('./sqlite.ts')
}

function addressOf(location: Location): string {
  return location.kind === 'postgres' ? location.url : location.path
}

async function copyTables(copy: Copy): Promise<TableSummary[]> {
  const pairs = pairTables(copy)
  for (const { to } of pairs) await refuseRows(copy, to)
  const summaries: TableSummary[] = []
  for (const pair of pairs) summaries.push(await copyTable(copy, pair))
  for (const { from } of pairs) await continueIds(copy, from)
  await copy.target.commit()
  return summaries
}

/** A table as each database describes it. The types of its columns differ. */
interface Pair {
  from: Table
  to: Table
}

/** The compiler compares the types of the fields, but not the order of the columns. */
function pairTables({ source, target }: Copy): Pair[] {
  const [from, to] = [source, target].map(({ tables }) =>
    tables.map(({ name, columns }) => `${name} (${columns.map((column) => column.name)})`).join(', '),
  )
  if (from !== to) throw new Error(`The tables of both databases differ: ${from}; ${to}.`)
  return source.tables.flatMap((from, index) => {
    const to = target.tables[index]
    return to ? [{ from, to }] : []
  })
}

async function refuseRows({ target }: Copy, table: Table): Promise<void> {
  if ((await target.count(table)) > 0)
    throw new UnusableDatabase(target.name, `its table ${table.name} contains rows; choose an empty database in --to`)
}

async function copyTable(copy: Copy, pair: Pair): Promise<TableSummary> {
  const { source, target, batchSize, onProgress } = copy
  const { name } = pair.from
  const total = await source.count(pair.from)
  const copied = await readTable(source, pair.from, batchSize, async (rows, done) => {
    await insert(copy, pair.to, rows)
    onProgress({ step: 'copy', table: name, done, total })
  })
  const found = await readTable(target, pair.to, batchSize, (_rows, done) =>
    onProgress({ step: 'compare', table: name, done, total }),
  )
  if (found.rows !== copied.rows || found.sha256 !== copied.sha256) {
    throw new UnusableDatabase(
      target.name,
      `the copy of table ${name} has ${found.rows} rows instead of ${copied.rows} and SHA-256 ${found.sha256} instead of ${copied.sha256}, and was rolled back; look for triggers in that table, then copy again`,
    )
  }
  return copied
}

/** Reads all rows in batches, passes each batch to `use`, and computes the checksum. */
async function readTable(
  database: CopyDatabase,
  table: Table,
  batchSize: number,
  use: (rows: Row[], done: number) => Promise<void> | void,
): Promise<TableSummary> {
  const hash = createHash('sha256')
  let [done, lastId] = [0, minInt64 - 1n]
  while (lastId < maxInt64) {
    const rows = await database.read(table, lastId + 1n, batchSize)
    const last = rows.at(-1)
    if (!last) break
    hash.update(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    done += rows.length
    lastId = BigInt(last[0])
    await use(rows, done)
  }
  return { name: table.name, rows: done, sha256: hash.digest('hex') }
}

async function insert({ source, target }: Copy, table: Table, rows: Row[]): Promise<void> {
  try {
    await target.insert(table, rows)
  } catch (error) {
    if (!(error instanceof RowsRefused)) throw error
    throw new UnusableDatabase(
      target.name,
      `it refused one of the rows ${rows[0]?.[0]} to ${rows.at(-1)?.[0]} of ${table.name}: ${error.message}; correct or delete that row in ${source.name}`,
      { cause: error },
    )
  }
}

async function continueIds({ source, target }: Copy, table: Table): Promise<void> {
  const [inSource, inTarget] = [await source.lastId(table), await target.lastId(table)]
  const last = inSource > inTarget ? inSource : inTarget
  if (last > 0n) await target.setLastId(table, last)
}
