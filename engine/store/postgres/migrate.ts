import { getTableName, type SQL, sql } from 'drizzle-orm'
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import { type Client, DatabaseError } from 'pg'
import { incomplete, reasons, UnusableDatabase } from '../collection/errors.ts'
import {
  type AppliedMigration,
  type MigrateOptions,
  type Migration,
  migrationFailed,
  missingColumnRules,
  pendingMigrations,
  refuseOtherRelease,
} from '../database/migrations.ts'
import type { PostgresCollection, Queries } from './collection.ts'
import { ruleNamesOf, sqlStateOf } from './connection/failure.ts'
import { columnsOf, query, sqlTextOf } from './statements.ts'
import { tablesOf } from './table.ts'
import { lockCall, lockStatement } from './transaction.ts'

/** No migration can create the journal, because each is recorded in it. */
export const createJournal = `CREATE TABLE IF NOT EXISTS "migrations"
  ("name" text PRIMARY KEY NOT NULL, "hash" text NOT NULL, "applied_at" timestamp (3) with time zone NOT NULL)`

/**
 * Applies the missing migrations in one transaction. Several instances may start at once: an advisory lock serializes them,
 * and the journal is read under it. The check runs last inside it, and may refuse what the migrations have led to.
 */
export async function migrate(
  client: Client,
  release: { migrations: Migration[]; program: string },
  { name: database, create = true, migrate = true, onMigrate }: MigrateOptions & { name: string },
  check: () => Promise<void> = async () => {},
): Promise<void> {
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  await client.query(lockStatement('migrations'))
  const isNew = !(await hasTable(client, 'migrations'))
  if (isNew) {
    if (!create) throw new UnusableDatabase(database, reasons.empty)
    await client.query(createJournal)
  }
  const applied = await readJournal(client)
  if (!isNew && !migrate) refuseOtherRelease(applied, release, database)
  const pending = pendingMigrations(applied, release.migrations, database)
  for (const { name, sql: text, hash } of pending) {
    await client.query(text).catch((error) => {
      // The classes "data exception" and "integrity constraint violation".
      if (!/^2[23]/.test(sqlStateOf(error))) throw error
      throw migrationFailed(database, name, error.message)
    })
    await query(client, sql`INSERT INTO migrations (name, hash, applied_at) VALUES (${name}, ${hash}, now())`)
  }
  await check()
  await client.query('COMMIT')
  const names = pending.map(({ name }) => name)
  if (names.length > 0) onMigrate?.(names, isNew)
}

export async function hasTable(client: Queries, name: string): Promise<boolean> {
  const [row] = await query(client, sql`SELECT ${oidOf(name)}`)
  return row?.[0] !== null
}

export async function readApplied(client: Queries): Promise<AppliedMigration[]> {
  return (await hasTable(client, 'migrations')) ? readJournal(client) : []
}

/** The journal must exist. */
export async function readJournal(client: Queries): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>('SELECT name, hash FROM migrations')
  // As the migrations are, whatever the collation of the database.
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** A reason if something is missing in an up-to-date database: a table, column or rule, or a trigger that orders ids. */
export async function findMissingPart(
  client: Queries,
  collections: Record<string, PostgresCollection>,
): Promise<string | undefined> {
  try {
    for (const table of tablesOf(collections)) {
      await query(client, sql`SELECT ${columnsOf(table)} FROM ${table} WHERE false`)
      const rules = await missingRules(client, table)
      if (rules.length > 0) return incomplete(`its table ${getTableName(table)} lacks ${rules.join(', ')}`)
    }
    for (const { table, mutations } of Object.values(collections)) {
      if (!Object.values(mutations).some(({ hasOrderedIds }) => hasOrderedIds)) continue
      // Without it, a client that pages by id could skip rows. drizzle-kit does not write triggers.
      const lock = lockCall('inserts')
      const rows = await query(
        client,
        sql`SELECT FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
        WHERE tgrelid = ${oidOf(getTableName(table))} AND tgenabled IN ('O', 'A') AND strpos(prosrc, ${lock}) > 0
          AND pg_get_triggerdef(pg_trigger.oid) LIKE '% BEFORE INSERT % FOR EACH STATEMENT EXECUTE %'`,
      )
      if (rows.length === 0)
        return incomplete(`table "${getTableName(table)}" has no trigger before each INSERT that calls ${lock}`)
    }
    return undefined
  } catch (error) {
    // undefined_table and undefined_column
    if (error instanceof DatabaseError && /^(42P01|42703)$/.test(sqlStateOf(error))) return incomplete(error.message)
    throw error
  }
}

/** Checks and indexes are compared by their names, which PostgreSQL shortens to 63 bytes: each version rewrites their texts. */
async function missingRules(client: Queries, table: PgTable): Promise<string[]> {
  const names = sql.param(ruleNamesOf(table))
  const oid = oidOf(getTableName(table))
  const rows = await query<[string]>(
    client,
    sql`SELECT name FROM unnest(${names}::text[]) AS name
    WHERE name::name NOT IN (SELECT conname FROM pg_constraint WHERE conrelid = ${oid}
      UNION SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
      WHERE indrelid = ${oid} AND indisvalid)`,
  )
  const ofColumns = sql`SELECT attname FROM pg_attribute WHERE attrelid = ${oid} AND attnotnull`
  const required = (await query<[string]>(client, ofColumns)).map(([column]) => column)
  const references = await query<[string, string]>(
    client,
    sql`SELECT attname, relname FROM pg_constraint JOIN pg_class ON pg_class.oid = confrelid
      JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
    WHERE conrelid = ${oid} AND contype = 'f'`,
  )
  return [...rows.map(([name]) => name), ...missingColumnRules(getTableConfig(table), { required, references })]
}

/** An expression for the id of a table in the database, which is NULL if it does not exist. */
function oidOf(name: string): SQL {
  return sql`to_regclass(${sqlTextOf(sql`${sql.identifier(name)}`)})`
}
