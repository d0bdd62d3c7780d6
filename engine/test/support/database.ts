import { join } from 'node:path'
import Database from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import { afterEach, inject, onTestFinished } from 'vitest'
import type { BaseStore } from '../../store/collection/base-store.ts'
import type { StoreDefinition } from '../../store/collection.ts'
import { describeLocation, type Location } from '../../store/database/location.ts'
import type { MigrateOptions } from '../../store/database/migrations.ts'
import type { WithApiKeys } from '../../store/keys.ts'
import { openStore } from '../../store/open.ts'
import { createOrMigrate as prepareOnPostgres } from '../../store/postgres/create-or-migrate.ts'
import { openPostgresStore } from '../../store/postgres/store.ts'
import { tablesOf } from '../../store/sqlite/collection.ts'
import { createOrMigrate as prepareOnSqlite } from '../../store/sqlite/opening/create-or-migrate.ts'
import { openSqliteStore } from '../../store/sqlite/opening/store.ts'
import { prepareWrites } from '../../store/sqlite/writer/writes.ts'
import { createDatabase, dropDatabase, query } from './postgres/databases.ts'
import { share } from './share.ts'
import { type AtEnd, temporaryFolder } from './temporary.ts'

/** A database of the kind that the Vitest project selects: SQLite or PostgreSQL. */
export interface TestDatabase<Store = BaseStore> {
  location: Location
  /** Opens it as the service does. */
  open(): Promise<Store>
  /** Runs statements without the service. */
  execute(sql: string): Promise<unknown>
  /** Deletes all rows, but only the API keys that match the condition, without the service. Ids start at 1 again. */
  empty(apiKeys?: string): Promise<unknown>
  /** All rows of a table. */
  rows(table: string): Promise<unknown[]>
}

export const isOnPostgres = inject('postgresUrl') !== undefined

/** Opens a store of a product on a new database, until the test ends. Its ids start at 1. */
export async function openTestStore<Stores extends WithApiKeys>(definition: StoreDefinition<Stores>) {
  return (await databaseFixtures(definition, 'drop')).openTestStore()
}

/**
 * The databases of a product.
 *
 * @param afterTest what happens to a database of PostgreSQL when its test ends. One that is emptied is used again.
 */
export async function databaseFixtures<Stores extends WithApiKeys>(
  definition: StoreDefinition<Stores>,
  afterTest: 'empty' | 'drop' = 'empty',
) {
  type Store = BaseStore & Stores
  const [onSqlite, onPostgres] = await Promise.all([definition.forSqlite(), definition.forPostgres()])
  /** The tables on both databases, each after those that its foreign keys refer to. */
  const tableNames = tablesOf(onSqlite.collections).map((table) => getTableName(table))

  /** Deletes the rows of all tables, but only the API keys that match the condition. */
  function deletingRows(apiKeys: string): string {
    const deletes = tableNames.map((table) => `DELETE FROM ${table} WHERE ${table === 'api_keys' ? apiKeys : 'true'};`)
    return deletes.toReversed().join(' ')
  }

  /**
   * Deletes all rows, but only the API keys that match the condition, and restarts the ids. TRUNCATE would cost more,
   * because it makes a new file for each table and index.
   */
  async function deleteRows(url: string, apiKeys = 'true'): Promise<void> {
    const restarts = tableNames.map(
      (table) => `SELECT setval('${table}_id_seq', coalesce(max(id), 0) + 1, false) FROM ${table}`,
    )
    await query(url, `${deletingRows(apiKeys)} ${restarts.join('; ')}`)
  }

  async function open(location: Location, atEnd: AtEnd): Promise<Store> {
    const store = await openStore(definition, location, { busyTimeout: 250 })
    atEnd(() => store.close())
    return store
  }

  function sqliteDatabase(path: string, atEnd: AtEnd = onTestFinished): TestDatabase<Store> {
    const location: Location = { kind: 'sqlite', path }
    return {
      location,
      open: () => open(location, atEnd),
      execute: async (sql) => withFile(path, (file) => file.exec(sql)),
      empty: async (apiKeys = 'true') =>
        withFile(path, (file) =>
          file.exec(`BEGIN IMMEDIATE; ${deletingRows(apiKeys)} DELETE FROM sqlite_sequence; COMMIT`),
        ),
      rows: async (table) => withFile(path, (file) => file.prepare(`SELECT * FROM ${table}`).all()),
    }
  }

  function postgresDatabase(url: string, atEnd: AtEnd = onTestFinished): TestDatabase<Store> {
    const location: Location = { kind: 'postgres', url }
    return {
      location,
      open: () => open(location, atEnd),
      execute: (sql) => query(url, sql),
      empty: (apiKeys) => deleteRows(url, apiKeys),
      rows: (table) => query(url, `SELECT * FROM ${table}`),
    }
  }

  /** Databases of earlier tests, which were emptied. */
  const cleared: string[] = []

  /** Creates a database for one test. */
  async function testDatabase(atEnd: AtEnd = onTestFinished): Promise<TestDatabase<Store>> {
    if (!isOnPostgres) return sqliteDatabase(join(temporaryFolder(atEnd), `${definition.program}.db`), atEnd)
    const url = cleared.pop() ?? (await createDatabase())
    atEnd(async () => {
      if (afterTest === 'drop') return dropDatabase(url)
      await deleteRows(url)
      cleared.push(url)
    })
    return postgresDatabase(url, atEnd)
  }

  function openSqlite(options: Omit<Parameters<typeof openSqliteStore>[0], 'loaded'>): Store {
    return openSqliteStore({ ...options, loaded: onSqlite }) as Store
  }

  return {
    onSqlite,
    onPostgres,
    tableNames,
    sqliteDatabase,
    postgresDatabase,
    testDatabase,
    openSqlite,
    openPostgres: async (options: Omit<Parameters<typeof openPostgresStore>[0], 'loaded'>) =>
      (await openPostgresStore({ ...options, loaded: onPostgres })) as Store,
    prepareSqlite: (path: string, options?: MigrateOptions) => prepareOnSqlite({ ...options, path, loaded: onSqlite }),
    preparePostgres: (url: string, options?: MigrateOptions) => prepareOnPostgres(url, onPostgres, options),
    prepareWrites: (connection: Database.Database) => prepareWrites(connection, onSqlite.collections),
    /** Opens a store in a new database. */
    openTestStore: async () => (await testDatabase()).open(),
    /** Opens a store in this SQLite file. */
    openFileStore(path: string, atEnd: AtEnd = onTestFinished): Store {
      const store = openSqlite({ path, busyTimeout: 250 })
      atEnd(() => store.close())
      return store
    },
    /** Shares one store and its database among the tests of a group. After each test, all rows are deleted. */
    shareEmptiedStore(): () => { database: TestDatabase<Store>; store: Store } {
      const shared = share(async (atEnd) => {
        const database = await testDatabase(atEnd)
        return { database, store: await database.open() }
      })
      afterEach(() => shared().database.empty())
      return shared
    },
    /** The location of the database of processes in this working folder. */
    locationOf: (folder: string) => locationIn(folder, definition.program),
    /** The name of this database in messages. */
    databaseNameOf: (folder: string) => describeLocation(locationIn(folder, definition.program)),
  }
}

/** Opens an SQLite file as `sqlite3` does. Without a path, the database is in memory. */
export function openDatabase(path = ':memory:'): Database.Database {
  const database = new Database(path)
  onTestFinished(() => void database.close())
  return database
}

function withFile<T>(path: string, work: (file: Database.Database) => T): T {
  const file = new Database(path)
  try {
    return work(file)
  } finally {
    file.close()
  }
}

/** Empty databases for the processes of the next test, on PostgreSQL. */
const prepared: string[] = []
const urlsByFolder = new Map<string, string>()

/** Creates databases before each test on PostgreSQL, because tests start processes synchronously. */
export async function prepareDatabases(): Promise<void> {
  while (prepared.length < 2) prepared.push(await createDatabase())
}

function locationIn(folder: string, program: string): Location {
  const { DATABASE_URL: url } = databaseOf(folder)
  return url === undefined ? { kind: 'sqlite', path: join(folder, `data/${program}.db`) } : { kind: 'postgres', url }
}

/** The environment of processes in this working folder: `DATABASE_URL` on PostgreSQL, nothing on SQLite. */
export function databaseOf(folder: string): { DATABASE_URL?: string } {
  if (!isOnPostgres) return {}
  const url = urlsByFolder.get(folder) ?? prepared.pop()
  if (url === undefined) throw new Error('The test uses more databases than were prepared for it.')
  urlsByFolder.set(folder, url)
  return { DATABASE_URL: url }
}
