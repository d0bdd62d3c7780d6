import { getTableName, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import type { PgTable } from 'drizzle-orm/pg-core'
import { type Client, DatabaseError } from 'pg'
import { describeLocation } from '../location.ts'
import { type OnMigrate, refuseOtherRelease } from '../migrations.ts'
import { connectClient } from '../postgres/connection.ts'
import { concernsDatabase, unusable } from '../postgres/failure.ts'
import { readJournal } from '../postgres/migrate.ts'
import { prepareDatabase } from '../postgres/prepare.ts'
import { tablesOf } from '../postgres/resource.ts'
import { textOf } from '../postgres/statements.ts'
import { lockUntilCommit } from '../postgres/transaction.ts'
import type { ResourceList } from '../resource-list.ts'
import { UnusableDatabase } from '../unusable-database.ts'
import {
  type Column,
  type CopyDatabase,
  describeTables,
  type Row,
  RowsRefused,
  refuseSameDatabase,
  type Table,
} from './driver.ts'

/** Milliseconds; 0 disables a timeout. A copy may take hours, but does not wait long for the locks of others. */
const timeouts = {
  lock_timeout: 10_000,
  statement_timeout: 0,
  query_timeout: 0,
  idle_in_transaction_session_timeout: 0,
}

export async function openSource(url: string, list: ResourceList): Promise<CopyDatabase> {
  const { migrations, resources } = await list.forPostgres()
  return attempt(url, () =>
    begin(url, 'REPEATABLE READ READ ONLY', async (client) => {
      refuseOtherRelease(await readJournal(drizzle({ client })), migrations, describe(url))
      return methods(url, describeTables(tablesOf(resources)), client, await identify(client, tablesOf(resources)))
    }),
  )
}

export async function openTarget(
  url: string,
  list: ResourceList,
  source: string,
  onMigrate?: OnMigrate,
): Promise<CopyDatabase> {
  const loaded = await list.forPostgres()
  await prepareDatabase(url, loaded, { migrate: false, onMigrate })
  return attempt(url, () =>
    begin(url, 'READ COMMITTED READ WRITE', async (client) => {
      const tables = tablesOf(loaded.resources)
      const identity = await identify(client, tables)
      refuseSameDatabase(identity, source, describe(url))
      // The advisory lock blocks the inserts of resources with ordered ids. It comes first, as in every transaction that
      // takes several locks.
      await lockUntilCommit(drizzle({ client }), 'inserts')
      await client.query(textOf(sql`LOCK TABLE ${sql.join(tables, sql`, `)} IN SHARE ROW EXCLUSIVE MODE`))
      return methods(url, describeTables(tables), client, identity)
    }),
  )
}

/** Begins a transaction on a connection of its own, which is closed if `prepare` fails. */
async function begin<T>(url: string, mode: string, prepare: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectClient(url, timeouts)
  try {
    await client.query(`BEGIN ISOLATION LEVEL ${mode}`)
    // The URL, the role or the database may set timeouts. Not every server version has all of them.
    await client.query(`SELECT set_config(name, '0', true) FROM pg_settings
      WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`)
    return await prepare(client)
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** Differs for each database, and for each schema in it, of every running server. */
async function identify(client: Client, [table]: PgTable[]): Promise<string> {
  const { rows } = await client.query<{ identity: string }>(
    `SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), oid, to_regclass($1)::oid) AS identity
    FROM pg_database WHERE datname = current_database()`,
    [table && getTableName(table)],
  )
  return rows[0]?.identity ?? ''
}

function methods(url: string, tables: Table[], client: Client, identity: string): CopyDatabase {
  function query(text: string, values: unknown[] = [], options: { name?: string } = {}): Promise<Row[]> {
    return attempt(url, async () => (await client.query<Row>({ text, values, rowMode: 'array', ...options })).rows)
  }

  return {
    name: describe(url),
    identity,
    tables,
    async count({ name }) {
      const [row] = await query(`SELECT count(*) FROM ${name}`)
      return Number(row?.[0])
    },
    async read({ name, columns }, from, limit) {
      const sql = `SELECT ${columns.map(asText)} FROM ${name} WHERE id >= $1 ORDER BY ${name}.id LIMIT $2`
      return query(sql, [from, limit])
    },
    async insert({ name, columns }, rows) {
      // One parameter for each column is twice as fast as one for each value.
      const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`)
      const sql = `INSERT INTO ${name} (${columns.map((column) => column.name)}) OVERRIDING SYSTEM VALUE
        SELECT * FROM unnest(${arrays})`
      const values = columns.map((_, index) => rows.map((row) => row[index]))
      await query(sql, values, { name: `copy_${name}` })
    },
    async lastId({ name }) {
      const [sequence] = await query(`SELECT pg_get_serial_sequence($1, 'id')`, [name])
      // The sequence is not part of a snapshot. It may only be ahead of the rows.
      const [last] = await query(`
        SELECT greatest(CASE WHEN is_called THEN last_value ELSE last_value - 1 END, (SELECT max(id) FROM ${name}))
        FROM ${sequence?.[0]}`)
      return BigInt(last?.[0] ?? 0)
    },
    async setLastId({ name }, id) {
      await query(`SELECT setval(pg_get_serial_sequence($1, 'id'), $2)`, [name, id])
    },
    commit: () => attempt(url, () => commit(url, client)),
    close: () => client.end(),
  }
}

/** PostgreSQL has times that are not ISO 8601 timestamps, such as `infinity`. They are not changed. */
function asText({ name, type }: Column): string {
  if (type === 'boolean') return `${name}::int::text`
  if (!type.startsWith('timestamp')) return `${name}::text`
  return `CASE WHEN ${name} BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'
    THEN to_char(${name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') ELSE ${name}::text END`
}

async function commit(url: string, client: Client): Promise<void> {
  try {
    await client.query('COMMIT')
  } catch (error) {
    if (error instanceof DatabaseError) throw error
    const reason =
      'the connection was lost during the commit, so the copy may be complete or missing; copy again to see'
    throw new UnusableDatabase(describe(url), reason, { cause: error })
  }
}

async function attempt<T>(url: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    // Classes 22 and 23: a value does not fit its column, or violates a constraint.
    const isRefusal = error instanceof DatabaseError && /^2[23]/.test(error.code ?? '')
    if (isRefusal) throw new RowsRefused(error.message, { cause: error })
    throw concernsDatabase(error) ? unusable(url, error) : error
  }
}

function describe(url: string): string {
  return describeLocation({ kind: 'postgres', url })
}
