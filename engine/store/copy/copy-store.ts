import { createHash } from 'node:crypto'
import { getTableColumns, getTableName, sql, type Table } from 'drizzle-orm'
import { UnusableDatabase } from '../collection/errors.ts'
import { columnOf, listOf, maxId } from '../collection/row.ts'
import type { StoreDefinition } from '../collection.ts'
import type { Location } from '../database/location.ts'
import type { OnMigrate } from '../database/migrations.ts'
import { orUnusable } from '../sqlite/file/diagnosis.ts'
import { identify } from '../sqlite/file/files.ts'
import type { CopyDatabase, TextRow } from './driver.ts'

export interface CopyRequest {
  definition: StoreDefinition
  /** Must exist and have this release's schema. It keeps its rows. No other process of this service may have it open. */
  from: Location
  /** Is created if necessary. Must have this release's schema and no rows. */
  to: Location
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

const minId = -maxId - 1n

/**
 * Copies the whole store into an empty one. Rows keep their ids, and the target never assigns an id that
 * the source has assigned. Before the single commit, all rows are read back and compared: after a failure at any moment
 * the target is empty or complete.
 *
 * @returns what both databases contain.
 * @throws {UnusableDatabase}
 */
export async function copyStore({
  definition,
  from,
  to,
  batchSize = 1_000,
  onMigrate,
  onProgress = () => {},
}: CopyRequest): Promise<TableSummary[]> {
  await using source = await (await importDriver(from)).openSource(addressOf(from), definition)
  // SQLite must not open a file under two names. Any other source is refused as a target because it contains rows.
  const areFiles = from.kind === 'sqlite' && to.kind === 'sqlite'
  if (areFiles && orUnusable(to.path, () => identify(from.path) === identify(to.path)))
    throw new UnusableDatabase(to.path, 'it is also the source of the copy; choose another database in --to')
  await source.refuseOthers()
  await using target = await (await importDriver(to)).openTarget(addressOf(to), definition, onMigrate)
  return await copyTables({ source, target, batchSize, onProgress })
}

/** Its `openSource` opens a snapshot. Its `openTarget` may create the database, and keeps other processes from it. */
function importDriver({ kind }: Location) {
  return kind === 'postgres' ? import('./postgres.ts') : import('./sqlite.ts')
}

function addressOf(location: Location): string {
  return location.kind === 'postgres' ? location.url : location.path
}

async function copyTables(copy: Copy): Promise<TableSummary[]> {
  const { source, target } = copy
  for (const table of target.tables) {
    if ((await countRows(target, table)) === 0) continue
    const remedy = `choose an empty database in --to, or delete its contents: ${target.emptying}`
    throw new UnusableDatabase(target.name, `its table ${getTableName(table)} contains rows; ${remedy}`)
  }
  // A table in each database. The types of its columns differ.
  const pairs = source.tables.flatMap((from, index) => {
    const to = target.tables[index]
    return to ? [{ from, to }] : []
  })
  const summaries: TableSummary[] = []
  for (const { from, to } of pairs) summaries.push(await copyTable(copy, from, to))
  for (const { from, to } of pairs) await continueIds(copy, from, to)
  // What it has written meanwhile would be missing.
  await source.refuseOthers()
  await target.commit()
  return summaries
}

async function countRows(database: CopyDatabase, table: Table): Promise<number> {
  const [row] = await database.query(sql`SELECT CAST(count(*) AS text) FROM ${table}`)
  return Number(row?.[0])
}

async function copyTable(copy: Copy, from: Table, to: Table): Promise<TableSummary> {
  const { source, target, batchSize, onProgress } = copy
  const name = getTableName(from)
  const total = await countRows(source, from)
  const copied = await readTable(source, from, batchSize, async (rows, done) => {
    await target.insert(to, rows, (message, row) => {
      const refused = row ? `the row ${row[0]}` : `one of the rows ${rows[0]?.[0]} to ${rows.at(-1)?.[0]}`
      const remedy = `correct or delete that row in ${source.name}`
      return new UnusableDatabase(target.name, `it refused ${refused} of ${name}: ${message}; ${remedy}`)
    })
    onProgress({ step: 'copy', table: name, done, total })
  })
  const found = await readTable(target, to, batchSize, (_, done) =>
    onProgress({ step: 'compare', table: name, done, total }),
  )
  if (found.rows === copied.rows && found.sha256 === copied.sha256) return copied
  const rows = `${found.rows} rows instead of ${copied.rows}`
  const checksums = `SHA-256 ${found.sha256} instead of ${copied.sha256}`
  const remedy = 'and was rolled back; look for triggers in that table, then copy again'
  throw new UnusableDatabase(target.name, `the copy of table ${name} has ${rows} and ${checksums}, ${remedy}`)
}

/** Reads all rows in batches, passes each batch to `use`, and computes the checksum. */
async function readTable(
  database: CopyDatabase,
  table: Table,
  batchSize: number,
  use: (rows: TextRow[], done: number) => Promise<void> | void,
): Promise<TableSummary> {
  const id = columnOf(table, 'id')
  const columns = listOf(Object.values(getTableColumns(table)).map(database.asText))
  const hash = createHash('sha256')
  let [done, lastId] = [0, minId - 1n]
  while (lastId < maxId) {
    const rows = await database.query(
      sql`SELECT ${columns} FROM ${table} WHERE ${id} >= ${lastId + 1n} ORDER BY ${id} LIMIT ${batchSize}`,
    )
    const last = rows.at(-1)
    if (!last) break
    hash.update(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    done += rows.length
    lastId = BigInt(last[0])
    await use(rows, done)
  }
  return { name: getTableName(table), rows: done, sha256: hash.digest('hex') }
}

/** The ids continue after all that either database has assigned, also after rows that were inserted with an id. */
async function continueIds({ source, target }: Copy, from: Table, to: Table): Promise<void> {
  const [row] = await target.query(sql`SELECT CAST(max(${columnOf(to, 'id')}) AS text) FROM ${to}`)
  const ids = [BigInt(row?.[0] ?? 0), await source.lastId(from), await target.lastId(to)]
  const last = ids.reduce((a, b) => (a > b ? a : b))
  if (last > 0n) await target.setLastId(to, last)
}
