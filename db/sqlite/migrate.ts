import type Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type AppliedMigration, type Migration, pendingMigrations } from '../migrations.ts'
import { toFailure } from './file/failure.ts'

/**
 * Applies the pending migrations in one transaction. The write lock serializes processes that start at once, and the
 * journal is read inside the transaction. Foreign keys are off meanwhile, because a table rebuild drops the old table and
 * would cascade into its children. The migrations must not break any reference.
 *
 * @param claim runs first inside the transaction, and may refuse the database by throwing.
 * @returns the names of the applied migrations.
 * @throws {UnusableDatabase} as {@link pendingMigrations} does.
 */
export function migrate(
  connection: Database.Database,
  migrations: Migration[],
  claim: () => void = () => {},
): string[] {
  connection.pragma('foreign_keys = OFF')
  connection.exec('BEGIN IMMEDIATE')
  try {
    claim()
    connection.exec(
      'CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, hash TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT',
    )
    const pending = pendingMigrations(readJournal(connection), migrations, connection.name)
    if (pending.length > 0) apply(connection, pending)
    connection.exec('COMMIT')
    return pending.map(({ name }) => name)
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK')
    throw error
  } finally {
    connection.pragma('foreign_keys = ON')
  }
}

function apply(connection: Database.Database, pending: Migration[]): void {
  const broken = countBrokenReferences(connection)
  const record = connection.prepare('INSERT INTO migrations (name, hash, applied_at) VALUES (?, ?, ?)')
  for (const { name, sql, hash } of pending) {
    connection.exec(sql)
    record.run(name, hash, new Date().toISOString())
  }
  if (countBrokenReferences(connection) > broken) {
    throw new Error('A migration left rows that refer to deleted rows.')
  }
}

/** There may be some before a migration: the `sqlite3` shell, for example, does not enforce foreign keys. */
function countBrokenReferences(connection: Database.Database): number {
  // The pragma returns a row for each broken reference.
  return (connection.pragma('foreign_key_check') as unknown[]).length
}

/** The migrations that were applied; none if there is no journal. */
export function readApplied(connection: Database.Database): AppliedMigration[] {
  const hasJournal = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get()
  return hasJournal ? readJournal(connection) : []
}

/** Reads the journal, which must exist. */
export function readJournal(connection: Database.Database): AppliedMigration[] {
  return connection.prepare<[], AppliedMigration>('SELECT name, hash FROM migrations ORDER BY name').all()
}

/** SQLite's message about a table or a column that is missing, although the journal is up to date. Undefined if none is. */
export function findMissingPart(connection: Database.Database, tables: SQLiteTable[]): string | undefined {
  const db = drizzle({ client: connection })
  try {
    for (const table of tables) db.select().from(table).where(sql`false`).all()
    return undefined
  } catch (error) {
    const { code, message } = toFailure(error)
    if (code === 'SQLITE_ERROR') return message
    throw error
  }
}
