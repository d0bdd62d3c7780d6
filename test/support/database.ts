import { join } from 'node:path'
import Database from 'better-sqlite3'
import { inject, onTestFinished } from 'vitest'
import { definition, type Store } from '../../db/store.ts'
import { describeLocation, type Location } from '../../engine/store/database/location.ts'
import { openStore } from '../../engine/store/open.ts'
import { deletingRows, openSqlite } from './engines.ts'
import { createDatabase, deleteRows, query } from './postgres/databases.ts'
import { type AtEnd, temporaryFolder } from './temporary.ts'

/** A database of the kind that the Vitest project selects: SQLite or PostgreSQL. */
export interface TestDatabase {
  location: Location
  /** Opens it as the service does. */
  open(): Promise<Store>
  /** Runs statements without the service. */
  execute(sql: string): Promise<unknown>
  /** Inserts a pet with this id, without the service. */
  insertPet(id: bigint): Promise<unknown>
  /** Deletes all rows, but only the API keys that match the condition, without the service. Ids start at 1 again. */
  empty(apiKeys?: string): Promise<unknown>
  /** All rows of a table. */
  rows(table: string): Promise<unknown[]>
}

export const isOnPostgres = inject('postgresUrl') !== undefined

/** Creates a database for one test. It is deleted or emptied when the test ends. */
export async function testDatabase(atEnd: AtEnd = onTestFinished): Promise<TestDatabase> {
  if (!isOnPostgres) return sqliteDatabase(join(temporaryFolder(atEnd), 'petstore.db'), atEnd)
  const url = cleared.pop() ?? (await createDatabase())
  atEnd(async () => {
    await deleteRows(url)
    cleared.push(url)
  })
  return postgresDatabase(url, atEnd)
}

/** Databases of earlier tests, which were emptied. */
const cleared: string[] = []

export function sqliteDatabase(path: string, atEnd: AtEnd = onTestFinished): TestDatabase {
  const location: Location = { kind: 'sqlite', path }
  return {
    location,
    open: () => open(location, atEnd),
    execute: async (sql) => withFile(path, (file) => file.exec(sql)),
    insertPet: async (id) => withFile(path, (file) => file.exec(`INSERT INTO pets ${columns} VALUES ${values(id)}`)),
    empty: async (apiKeys = 'true') =>
      withFile(path, (file) =>
        file.exec(`BEGIN IMMEDIATE; ${deletingRows(apiKeys)} DELETE FROM sqlite_sequence; COMMIT`),
      ),
    rows: async (table) => withFile(path, (file) => file.prepare(`SELECT * FROM ${table}`).all()),
  }
}

export function postgresDatabase(url: string, atEnd: AtEnd = onTestFinished): TestDatabase {
  const location: Location = { kind: 'postgres', url }
  return {
    location,
    open: () => open(location, atEnd),
    execute: (sql) => query(url, sql),
    insertPet: (id) => query(url, `INSERT INTO pets ${columns} OVERRIDING SYSTEM VALUE VALUES ${values(id)}`),
    empty: (apiKeys) => deleteRows(url, apiKeys),
    rows: (table) => query(url, `SELECT * FROM ${table}`),
  }
}

/** Opens a store in a new database. */
export async function openTestStore(): Promise<Store> {
  return (await testDatabase()).open()
}

/** Opens a store in this SQLite file. */
export function openFileStore(path: string, atEnd: AtEnd = onTestFinished): Store {
  const store = openSqlite({ path, busyTimeout: 250 })
  atEnd(() => store.close())
  return store
}

/** Opens an SQLite file as `sqlite3` does. Without a path, the database is in memory. */
export function openDatabase(path = ':memory:'): Database.Database {
  const database = new Database(path)
  onTestFinished(() => void database.close())
  return database
}

/** Adds pets named `pet 1`, `pet 2` and so on, in the order of their ids. */
export async function addPets(store: Store, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `pet ${index + 1}`)
  await Promise.all(names.map((name) => store.pets.create({ name, categoryId: 1n, status: 'available' })))
}

const columns = '(id, name, category_id, status)'

function values(id: bigint): string {
  return `(${id}, 'Rex', 1, 'sold')`
}

async function open(location: Location, atEnd: AtEnd): Promise<Store> {
  const store = await openStore(definition, location, { busyTimeout: 250 })
  atEnd(() => store.close())
  return store
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

/** The location of the database of processes in this working folder. */
export function locationOf(folder: string): Location {
  const { DATABASE_URL: url } = databaseOf(folder)
  return url === undefined ? { kind: 'sqlite', path: join(folder, 'data/petstore.db') } : { kind: 'postgres', url }
}

/** The name of this database in messages. */
export function databaseNameOf(folder: string): string {
  return describeLocation(locationOf(folder))
}

/** The environment of processes in this working folder: `DATABASE_URL` on PostgreSQL, nothing on SQLite. */
export function databaseOf(folder: string): { DATABASE_URL?: string } {
  if (!isOnPostgres) return {}
  const url = urlsByFolder.get(folder) ?? prepared.pop()
  if (url === undefined) throw new Error('The test uses more databases than were prepared for it.')
  urlsByFolder.set(folder, url)
  return { DATABASE_URL: url }
}
