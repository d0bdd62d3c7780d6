import type Database from 'better-sqlite3'
import { getTableName, is, sql } from 'drizzle-orm'
import { getTableConfig, SQLiteInteger, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { incomplete } from '../collection/errors.ts'
import type { Loaded } from '../database/loaded.ts'
import {
  type AppliedMigration,
  type Migration,
  migrationFailed,
  missingColumnRules,
  pendingMigrations,
} from '../database/migrations.ts'
import { type SqliteCollection, tablesOf } from './collection.ts'
import { toFailure } from './file/failure.ts'
import { query, selectFrom, sqlTextOf } from './statements.ts'

/** No migration can create the journal, because each is recorded in it. */
const createJournal = `CREATE TABLE IF NOT EXISTS "migrations"
  ("name" text PRIMARY KEY NOT NULL, "hash" text NOT NULL, "applied_at" text NOT NULL) STRICT`

/**
 * Applies the pending migrations in one transaction, and returns their names. The write lock serializes processes that start
 * at once, and the journal is read inside the transaction. Foreign keys are off meanwhile, because a table rebuild drops the
 * old table and would cascade into its children. The migrations must not break any reference.
 *
 * @param claim runs first inside the transaction, and may refuse the database by throwing
 * @param check runs last inside the transaction, and may refuse what the migrations have led to
 */
export function migrate(
  connection: Database.Database,
  migrations: Migration[],
  claim: () => void = () => {},
  check: () => void = () => {},
): string[] {
  connection.pragma('foreign_keys = OFF')
  connection.exec('BEGIN IMMEDIATE')
  try {
    claim()
    connection.exec(createJournal)
    const pending = pendingMigrations(readJournal(connection), migrations, connection.name)
    if (pending.length > 0) apply(connection, pending)
    check()
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
    try {
      connection.exec(sql)
    } catch (error) {
      const { code, message } = toFailure(error)
      if (!/^SQLITE_(?:ERROR|CONSTRAINT)/.test(code)) throw error
      throw migrationFailed(connection.name, name, message)
    }
    record.run(name, hash, new Date().toISOString())
  }
  if (countBrokenReferences(connection) > broken)
    throw migrationFailed(connection.name, String(pending.at(-1)?.name), 'rows refer to rows that are missing')
}

/** There may be some before a migration: the `sqlite3` shell, for example, does not enforce foreign keys. */
function countBrokenReferences(connection: Database.Database): number {
  // The pragma returns a row for each broken reference.
  return (connection.pragma('foreign_key_check') as unknown[]).length
}

export function hasTable(connection: Database.Database, name: string): boolean {
  return query(connection, sql`SELECT 1 FROM sqlite_schema WHERE name = ${name}`).length > 0
}

export function readApplied(connection: Database.Database): AppliedMigration[] {
  return hasTable(connection, 'migrations') ? readJournal(connection) : []
}

/** The journal must exist. */
export function readJournal(connection: Database.Database): AppliedMigration[] {
  return connection.prepare<[], AppliedMigration>('SELECT name, hash FROM migrations ORDER BY name').all()
}

/** A reason if something is missing although the journal is up to date: a table, a column, or a rule of the code. */
export function findMissingPart(
  connection: Database.Database,
  { program, collections }: Pick<Loaded<SqliteCollection>, 'program' | 'collections'>,
): string | undefined {
  try {
    for (const table of tablesOf(collections)) {
      connection.prepare(sqlTextOf(selectFrom(table)))
      const rules = missingRules(connection, table)
      if (rules.length > 0)
        return `its table ${getTableName(table)} lacks ${rules.join(', ')}; if another program rebuilt it, stop the service, make a new file with "${program} db copy", and use that; otherwise add them in a migration`
    }
    return undefined
  } catch (error) {
    const { code, message } = toFailure(error)
    if (code === 'SQLITE_ERROR') return incomplete(message)
    throw error
  }
}

/** Other programs rebuild a table without its rules, and drizzle-kit does not draft STRICT. */
function missingRules(connection: Database.Database, table: SQLiteTable): string[] {
  const config = getTableConfig(table)
  const { name, columns, checks, indexes, uniqueConstraints } = config
  const [[text = '', isStrict] = []] = query<[string, bigint]>(
    connection,
    sql`SELECT sql, strict FROM sqlite_schema JOIN pragma_table_list(${name}) WHERE sqlite_schema.name = ${name}`,
  )
  const ofTable = sql`SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ${name}`
  const present = query<[string]>(connection, ofTable).map(([index]) => index)
  const named = [
    ...indexes.map(({ config }) => config.name),
    ...uniqueConstraints.map((unique) => unique.name),
    ...columns.map(({ isUnique, uniqueName }) => (isUnique ? uniqueName : undefined)),
  ]
  const ofColumns = sql`SELECT name FROM pragma_table_info(${name}) WHERE "notnull"`
  const required = query<[string]>(connection, ofColumns).map(([column]) => column)
  const ofKeys = sql`SELECT "from", "table" FROM pragma_foreign_key_list(${name})`
  const references = query<[string, string]>(connection, ofKeys)
  const plain = withoutLayout(text)
  const has = (part: string) => plain.includes(withoutLayout(part))
  const isCounted = columns.some((column) => is(column, SQLiteInteger) && column.autoIncrement)
  return [
    ...(isStrict ? [] : ['STRICT']),
    ...(isCounted && !has('AUTOINCREMENT') ? ['AUTOINCREMENT'] : []),
    ...checks.filter((rule) => !has(`${rule.name} CHECK (${sqlTextOf(rule.value)})`)).map((rule) => rule.name),
    ...missingColumnRules(config, { required, references }),
    ...named.filter((index) => index !== undefined).filter((index) => !present.includes(index)),
  ]
}

/** SQL without spaces, quotes of names, and upper case. */
function withoutLayout(text: string): string {
  return text.toLowerCase().replaceAll(/["`[\]\s]/g, '')
}
