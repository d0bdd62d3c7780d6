import type Database from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import { prepareDatabase as prepareOnPostgres } from '../../db/postgres/migrate.ts'
import { openPostgresStore } from '../../db/postgres/store.ts'
import { resources, type Store } from '../../db/resources.ts'
import { tablesOf } from '../../db/sqlite/resource.ts'
import { prepareDatabase as prepareOnSqlite } from '../../db/sqlite/store/prepare.ts'
import { openSqliteStore } from '../../db/sqlite/store/store.ts'
import { prepareWrites as prepareWritesOf } from '../../db/sqlite/writer/writes.ts'

/** The engines with the resources of the service. */

export const onSqlite = await resources.forSqlite()
export const onPostgres = await resources.forPostgres()

/** The tables of the service on both databases, each after those that its foreign keys refer to. */
export const tableNames = tablesOf(onSqlite.resources).map((table) => getTableName(table))

/** Deletes the rows of all tables, but only the API keys that match the condition. */
export function deletingRows(apiKeys: string): string {
  const deletes = tableNames.map((table) => `DELETE FROM ${table} WHERE ${table === 'api_keys' ? apiKeys : 'true'};`)
  return deletes.toReversed().join(' ')
}

type Parameters2<T extends (...args: never[]) => unknown> = Parameters<T>[2]

export function openSqlite(options: Omit<Parameters<typeof openSqliteStore>[0], 'resources'>): Store {
  return openSqliteStore({ ...options, resources: onSqlite }) as Store
}

export async function openPostgres(
  options: Omit<Parameters<typeof openPostgresStore>[0], 'resources'>,
): Promise<Store> {
  return (await openPostgresStore({ ...options, resources: onPostgres })) as Store
}

export function prepareSqlite(path: string, options?: Parameters2<typeof prepareOnSqlite>): void {
  prepareOnSqlite(path, onSqlite, options)
}

export function preparePostgres(url: string, options?: Parameters2<typeof prepareOnPostgres>): Promise<void> {
  return prepareOnPostgres(url, onPostgres, options)
}

export function prepareWrites(connection: Database.Database) {
  return prepareWritesOf(connection, onSqlite.resources)
}
