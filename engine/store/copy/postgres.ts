import { setTimeout as wait } from 'node:timers/promises'
import { type Column, getTableColumns, is, type SQL, sql, type Table } from 'drizzle-orm'
import { PgBoolean, PgTimestamp } from 'drizzle-orm/pg-core'
import { type Client, DatabaseError } from 'pg'
import { UnusableDatabase } from '../collection/errors.ts'
import { listOf } from '../collection/row.ts'
import type { StoreDefinition } from '../collection.ts'
import type { Loaded } from '../database/loaded.ts'
import { type OnMigrate, refuseOtherRelease } from '../database/migrations.ts'
import type { PostgresCollection } from '../postgres/collection.ts'
import { connectClient, orEnd } from '../postgres/connection/connection.ts'
import { concernsOneWrite, orUnusable, unusable, urlWithoutPassword } from '../postgres/connection/failure.ts'
import { createOrMigrate } from '../postgres/create-or-migrate.ts'
import { readJournal } from '../postgres/migrate.ts'
import { query, sequenceOf, sqlTextOf } from '../postgres/statements.ts'
import { tablesOf } from '../postgres/table.ts'
import { lockStatement } from '../postgres/transaction.ts'
import type { CopyDatabase, TextRow } from './driver.ts'

/** Milliseconds; 0 disables a timeout. A copy may take hours, but does not wait long for the locks of others. */
const timeouts = { lock_timeout: 10_000, statement_timeout: 0, idle_in_transaction_session_timeout: 0 }

export async function openSource(url: string, definition: StoreDefinition): Promise<CopyDatabase> {
  const loaded = await definition.forPostgres()
  return begin(url, loaded, 'REPEATABLE READ READ ONLY', async (client) =>
    refuseOtherRelease(await readJournal(client), loaded, urlWithoutPassword(url)),
  )
}

export async function openTarget(
  url: string,
  definition: StoreDefinition,
  onMigrate?: OnMigrate,
): Promise<CopyDatabase> {
  const loaded = await definition.forPostgres()
  await createOrMigrate(url, loaded, { migrate: false, onMigrate })
  return begin(url, loaded, 'READ COMMITTED READ WRITE', async (client, tables) => {
    // The advisory lock blocks the inserts of collections with ordered ids. It comes first, as in every transaction that
    // takes several locks.
    await client.query(lockStatement('inserts'))
    await client.query(sqlTextOf(sql`LOCK TABLE ${sql.join(tables, sql`, `)} IN SHARE ROW EXCLUSIVE MODE`))
  })
}

/** Begins a transaction on a connection of its own, which is closed if `prepare` fails. */
async function begin(
  url: string,
  { program, collections }: Loaded<PostgresCollection>,
  mode: string,
  prepare: (client: Client, tables: Table[]) => Promise<void>,
): Promise<CopyDatabase> {
  const tables = tablesOf(collections)
  return orUnusable(url, async () => {
    const client = await connectClient(url, { application_name: program, query_timeout: 0 }, timeouts)
    return orEnd(client, async () => {
      await client.query(`BEGIN ISOLATION LEVEL ${mode}`)
      // The URL, the role or the database may set timeouts. Not every server version has all of them.
      await client.query(`SELECT set_config(name, '0', true) FROM pg_settings
        WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`)
      await prepare(client, tables)
      return methods(url, program, tables, client)
    })
  })
}

/** Milliseconds for which the server may still list the sessions of a service that was stopped. */
const maxClosingTime = 2_000

function methods(url: string, program: string, tables: Table[], client: Client): CopyDatabase {
  const run = (statement: SQL) => orUnusable(url, () => query<TextRow>(client, statement))
  return {
    name: urlWithoutPassword(url),
    emptying: `run ${sqlTextOf(sql`TRUNCATE ${listOf(tables.map((table) => sql`${table}`))}`)}`,
    async refuseOthers() {
      for (const deadline = performance.now() + maxClosingTime; ; await wait(100)) {
        // Otherwise the transaction would see the sessions as they were before.
        await run(sql`SELECT CAST(pg_stat_clear_snapshot() AS text)`)
        const [sessions] = await run(sql`SELECT CAST(count(*) AS text) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = ${program} AND pid <> pg_backend_pid()`)
        if (sessions?.[0] === '0') return
        if (performance.now() > deadline) break
      }
      const remedy = 'stop the service and try again; a pooler may keep its connections for a while'
      throw new UnusableDatabase(urlWithoutPassword(url), `another process of the service has it open; ${remedy}`)
    },
    tables,
    query: (statement) => run(statement),
    asText,
    async insert(table, rows, toError) {
      const columns = Object.values(getTableColumns(table))
      // One parameter for each column is twice as fast as one for each value.
      const arrays = columns.map(
        (column, index) => sql`${sql.param(rows.map((row) => row[index]))}::${sql.raw(column.getSQLType())}[]`,
      )
      const insert = sql`INSERT INTO ${table} (${listOf(columns.map(({ name }) => sql.identifier(name)))})
        OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${listOf(arrays)})`
      await query(client, insert, true).catch((error) => {
        throw concernsOneWrite(error) ? toError(error.message) : unusable(url, error)
      })
    },
    async lastId(table) {
      const [sequence] = await run(sql`SELECT ${sequenceOf(table)}`)
      if (!sequence?.[0]) return 0n
      // The sequence is not part of a snapshot. It may only be ahead of the rows.
      const [last] = await run(
        sql`SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM ${sql.raw(sequence[0])}`,
      )
      return BigInt(last?.[0] ?? 0)
    },
    async setLastId(table, id) {
      await run(sql`SELECT setval(${sequenceOf(table)}, ${id})`)
    },
    async commit() {
      await orUnusable(url, () => client.query('COMMIT')).catch((error) => {
        if (error.cause instanceof DatabaseError) throw error
        const reason =
          'the connection was lost during the commit, so the copy may be complete or missing; copy again to see'
        throw new UnusableDatabase(urlWithoutPassword(url), reason, { cause: error.cause })
      })
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

/** PostgreSQL has times that are not ISO 8601 timestamps, such as `infinity`. They are not changed. */
function asText(column: Column): SQL {
  const text = sql`CAST(${column} AS text)`
  if (is(column, PgBoolean)) return sql`CAST(CAST(${column} AS int) AS text)`
  if (!is(column, PgTimestamp)) return text
  return sql`CASE WHEN ${column} BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'
    THEN to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') ELSE ${text} END`
}
