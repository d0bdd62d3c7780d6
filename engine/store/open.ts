import type { BaseStore, StoreObserver } from './collection/base-store.ts'
import type { StoreDefinition } from './collection.ts'
import type { Location } from './database/location.ts'
import type { PrepareOptions } from './database/migrations.ts'
import type { Inspection } from './inspection/inspection.ts'

interface OpenOptions extends PrepareOptions {
  /** Milliseconds to wait for the lock of an SQLite file that another process holds, 5,000 by default. */
  busyTimeout?: number | undefined
  /** The maximum number of connections to PostgreSQL for requests. */
  maxConnections?: number | undefined
  /**
   * Called once if the files of SQLite were deleted, moved, replaced or truncated while they were open, with a sentence for
   * the operator. By then, what only this process had is saved. Every method rejects from the damage on, and the process must
   * end. {@link BaseStore.close} waits for this call.
   */
  onDamage?: ((message: string) => void) | undefined
  observer?: StoreObserver
}

/** Creates the database if necessary, and applies the pending migrations. Throws UnusableDatabase. */
export async function migrateStore(
  definition: StoreDefinition,
  location: Location,
  options: PrepareOptions,
): Promise<void> {
  if (location.kind === 'postgres') {
    const { prepareDatabase } = await import('./postgres/migrate.ts')
    return prepareDatabase(location.url, await definition.forPostgres(), options)
  }
  const { prepareDatabase } = await import('./sqlite/opening/prepare.ts')
  const { orRescue } = await import('./sqlite/rescue/rescue.ts')
  const loaded = await definition.forSqlite()
  const sqlite = { ...options, path: location.path, program: loaded.program }
  await orRescue(() => prepareDatabase(location.path, loaded, sqlite), sqlite)
}

/** Opens the store at a location. Creates or migrates the database first if necessary. Throws UnusableDatabase. */
export async function openStore<Stores>(
  definition: StoreDefinition<Stores>,
  location: Location,
  options: OpenOptions = {},
): Promise<BaseStore & Stores> {
  // Safe: each database opens each collection of the definition under its name.
  if (location.kind === 'postgres') {
    const { openPostgresStore } = await import('./postgres/store.ts')
    const loaded = await definition.forPostgres()
    return (await openPostgresStore({ ...options, url: location.url, loaded })) as BaseStore & Stores
  }
  const { openSqliteStore } = await import('./sqlite/opening/store.ts')
  const { orRescue } = await import('./sqlite/rescue/rescue.ts')
  const loaded = await definition.forSqlite()
  const sqlite = { ...options, path: location.path, program: loaded.program }
  return (await orRescue(() => openSqliteStore({ ...sqlite, loaded }), sqlite)) as BaseStore & Stores
}

/** Opens a database for inspection; undefined if there is no SQLite file, or nothing in it. Throws UnusableDatabase. */
export async function inspect(definition: StoreDefinition, location: Location): Promise<Inspection | undefined> {
  if (location.kind === 'postgres') {
    const { inspectPostgres } = await import('./inspection/postgres.ts')
    return inspectPostgres(location.url, await definition.forPostgres())
  }
  const { inspectSqlite } = await import('./inspection/sqlite.ts')
  return inspectSqlite(location.path, await definition.forSqlite())
}
