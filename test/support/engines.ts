import type Database from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import { definition, type Store } from '../../db/store.ts'
import { prepareDatabase as prepareOnPostgres } from '../../engine/store/postgres/migrate.ts'
import { openPostgresStore } from '../../engine/store/postgres/store.ts'
import { tablesOf } from '../../engine/store/sqlite/collection.ts'
import { prepareDatabase as prepareOnSqlite } from '../../engine/store/sqlite/opening/prepare.ts'
import { openSqliteStore } from '../../engine/store/sqlite/opening/store.ts'
import { prepareWrites as prepareWritesOf } from '../../engine/store/sqlite/writer/writes.ts'

/** The engines with the collections of the service. */

export const onSqlite = await definition.forSqlite()
export const onPostgres = await definition.forPostgres()

/** The tables of the service on both databases, each after those that its foreign keys refer to. */
export const tableNames = tablesOf(onSqlite.collections).map((table) => getTableName(table))

/** Deletes the rows of all tables, but only the API keys that match the condition. */
export function deletingRows(apiKeys: string): string {
  const deletes = tableNames.map((table) => `DELETE FROM ${table} WHERE ${table === 'api_keys' ? apiKeys : 'true'};`)
  return deletes.toReversed().join(' ')
}

type Parameters2<T extends (...args: never[]) => unknown> = Parameters<T>[2]

export function openSqlite(options: Omit<Parameters<typeof openSqliteStore>[0], 'loaded'>): Store {
  return openSqliteStore({ ...options, loaded: onSqlite }) as Store
}

export async function openPostgres(options: Omit<Parameters<typeof openPostgresStore>[0], 'loaded'>): Promise<Store> {
  return (await openPostgresStore({ ...options, loaded: onPostgres })) as Store
}

export function prepareSqlite(path: string, options?: Parameters2<typeof prepareOnSqlite>): void {
  prepareOnSqlite(path, onSqlite, options)
}

export function preparePostgres(url: string, options?: Parameters2<typeof prepareOnPostgres>): Promise<void> {
  return prepareOnPostgres(url, onPostgres, options)
}

export function prepareWrites(connection: Database.Database) {
  return prepareWritesOf(connection, onSqlite.collections)
}
