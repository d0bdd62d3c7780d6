import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { UnusableDatabase } from './store.ts'

export interface Migration {
  name: string
  sql: string
  /** SHA-256 of the file, by which a change after the fact is noticed. */
  hash: string
}

/** Reads the numbered `*.sql` files of a folder, in order. */
export function readMigrations(folder: URL): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const sql = readFileSync(new URL(file, `${folder}/`), 'utf8').replaceAll('\r\n', '\n')
      return { name: file.slice(0, -'.sql'.length), sql, hash: createHash('sha256').update(sql).digest('hex') }
    })
}

/**
 * Applies what is missing, all of it in one transaction. Any number of processes may start at once: the write lock makes
 * them take turns, and the journal is read inside it. Foreign keys are off meanwhile, since a table rebuild drops the
 * old table and would cascade into its children; none may be broken by the end.
 *
 * @param claim runs first inside the transaction, and may refuse the database by throwing.
 * @throws {UnusableDatabase} if the database was migrated by a newer release or an applied migration was changed since.
 */
export function migrate(connection: Database.Database, migrations: Migration[], claim: () => void = () => {}): void {
  connection.pragma('foreign_keys = OFF')
  connection.exec('BEGIN IMMEDIATE')
  try {
    claim()
    connection.exec(
      'CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, hash TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT',
    )
    const pending = pendingMigrations(connection, migrations)
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

/** Whether a database has been through exactly these migrations. */
export function isUpToDate(connection: Database.Database, migrations: Migration[]): boolean {
  const applied = readJournal(connection)
  return (
    applied.length === migrations.length &&
    applied.every(({ name, hash }, index) => name === migrations[index]?.name && hash === migrations[index].hash)
  )
}

/**
 * The migrations a database still lacks; its journal must exist.
 *
 * @throws {UnusableDatabase} as {@link migrate} does.
 */
export function pendingMigrations(connection: Database.Database, migrations: Migration[]): Migration[] {
  const applied = readJournal(connection)
  for (const { name, hash } of applied) {
    const known = migrations.find((migration) => migration.name === name)
    if (!known) {
      throw new UnusableDatabase(
        `it was migrated by a newer release (${name}): start that release, or restore a backup made before it`,
      )
    }
    if (known.hash !== hash) {
      throw new UnusableDatabase(
        `the migration ${name} was changed after it was applied: restore the file as it was and add a new migration`,
      )
    }
  }
  return migrations.filter(({ name }) => !applied.some((migration) => migration.name === name))
}

function readJournal(connection: Database.Database): Pick<Migration, 'name' | 'hash'>[] {
  return connection.prepare('SELECT name, hash FROM migrations ORDER BY name').all() as Pick<
    Migration,
    'name' | 'hash'
  >[]
}
