import { asc, getTableName, type SQL, sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { type PgTable, pgTable, text } from 'drizzle-orm/pg-core'
import { type Client, DatabaseError } from 'pg'
import {
  type AppliedMigration,
  createJournal,
  type Migration,
  type PrepareOptions,
  pendingMigrations,
  refuseOtherRelease,
} from '../migrations.ts'
import { reasons, UnusableDatabase } from '../unusable-database.ts'
import { time } from './columns.ts'
import { causeOf } from './connection/failure.ts'
import { type PostgresResource, tablesOf } from './resource.ts'
import { textOf } from './statements.ts'
import { lockUntilCommit } from './transaction.ts'

/** The migrations that were applied. */
export const journal = pgTable('migrations', {
  name: text().primaryKey(),
  hash: text().notNull(),
  appliedAt: time('applied_at').notNull(),
})

interface MigrateOptions extends PrepareOptions {
  /** The name of the database, for error messages. */
  name: string
}

/**
 * Applies the missing migrations in one transaction. Several instances may start at once: an advisory lock serializes
 * them, and the journal is read under it.
 *
 * @throws {UnusableDatabase} as {@link pendingMigrations} does.
 */
export async function migrate(
  client: Client,
  migrations: Migration[],
  { name: database, create = true, migrate = true, onMigrate }: MigrateOptions,
): Promise<void> {
  const db = drizzle({ client })
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  await lockUntilCommit(db, 'migrations')
  const isNew = !(await hasTable(db, journal))
  if (isNew) {
    if (!create) throw new UnusableDatabase(database, reasons.empty)
    await db.execute(createJournal(journal))
  }
  const applied = await readJournal(db)
  if (!isNew && !migrate) refuseOtherRelease(applied, migrations, database)
  const pending = pendingMigrations(applied, migrations, database)
  for (const { name, sql, hash } of pending) {
    await client.query(sql)
    await db.insert(journal).values({ name, hash, appliedAt: new Date() })
  }
  await client.query('COMMIT')
  const names = pending.map(({ name }) => name)
  if (names.length > 0) onMigrate?.(names, isNew)
}

export async function hasTable(db: NodePgDatabase, table: PgTable): Promise<boolean> {
  const { rows } = await db.execute(sql`SELECT ${oidOf(table)} AS oid`)
  return rows[0]?.oid !== null
}

/** The migrations that were applied to the database. Its journal must exist. */
export async function readJournal(db: NodePgDatabase): Promise<AppliedMigration[]> {
  return db.select({ name: journal.name, hash: journal.hash }).from(journal).orderBy(asc(journal.name))
}

/**
 * What is missing, although the journal is up to date: PostgreSQL's message about a table or a column, or a trigger that
 * orders ids. Undefined if nothing is.
 */
export async function findMissingPart(
  db: NodePgDatabase,
  resources: Record<string, PostgresResource>,
): Promise<string | undefined> {
  try {
    for (const table of tablesOf(resources)) await db.select().from(table).where(sql`false`)
    return await findMissingTrigger(db, resources)
  } catch (error) {
    const cause = causeOf(error)
    // undefined_table and undefined_column
    if (cause instanceof DatabaseError && /^(42P01|42703)$/.test(cause.code ?? '')) return cause.message
    throw error
  }
}

/** Without its trigger, a client that pages by id could skip rows. drizzle-kit does not write triggers. */
async function findMissingTrigger(
  db: NodePgDatabase,
  resources: Record<string, PostgresResource>,
): Promise<string | undefined> {
  const ordered = Object.values(resources).filter(({ writes }) =>
    Object.values(writes).some(({ hasOrderedIds }) => hasOrderedIds),
  )
  for (const { table } of ordered) {
    const [name, trigger] = [getTableName(table), `${getTableName(table)}_take_turns`]
    const { rows } = await db.execute(sql`SELECT FROM pg_trigger
      WHERE tgrelid = ${oidOf(table)} AND tgname = ${trigger} AND tgenabled <> 'D'`)
    if (rows.length === 0) return `trigger "${trigger}" of table "${name}" does not exist`
  }
  return undefined
}

/** An expression for the table's id in the database, which is NULL if it does not exist. */
export function oidOf(table: PgTable): SQL {
  return sql`to_regclass(${textOf(sql`${table}`)})`
}
