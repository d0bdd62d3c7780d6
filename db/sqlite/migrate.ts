import type Database from 'better-sqlite3'
import { type AppliedMigration, type Migration, pendingMigrations } from '../migrations.ts'

/**
 * Applies what is missing, all of it in one transaction. Any number of processes may start at once: the write lock makes
 * them take turns, and the journal is read inside it. Foreign keys are off meanwhile, since a table rebuild drops the
 * old table and would cascade into its children; none may be broken by the end.
 *
 * @param claim runs first inside the transaction, and may refuse the database by throwing.
 * @throws {UnusableDatabase} as {@link pendingMigrations} does.
 */
export function migrate(connection: Database.Database, migrations: Migration[], claim: () => void = () => {}): void {
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
    throw new Error('A migration left rows that refer to rows which are gone.')
  }
}

/** Other programs may leave some: the `sqlite3` command line, for one, does not enforce foreign keys. */
function countBrokenReferences(connection: Database.Database): number {
  return (connection.pragma('foreign_key_check') as unknown[]).length
}

/** What the database has been through; its journal must exist. */
export function readJournal(connection: Database.Database): AppliedMigration[] {
  return connection.prepare('SELECT name, hash FROM migrations ORDER BY name').all() as AppliedMigration[]
}
