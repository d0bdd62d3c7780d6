import type { BaseStore } from './collection/base-store.ts'
import type { StoreDefinition } from './collection.ts'
import type { OpenOptions } from './database/loaded.ts'
import type { Location } from './database/location.ts'
import type { MigrateOptions } from './database/migrations.ts'

/** Creates the database if necessary, and applies the pending migrations. Throws UnusableDatabase. */
export async function migrateStore(
  definition: StoreDefinition,
  location: Location,
  options: MigrateOptions,
): Promise<void> {
  if (location.kind === 'postgres') {
    const { createOrMigrate } = await import('./postgres/create-or-migrate.ts')
    return createOrMigrate(location.url, await definition.forPostgres(), options)
  }
  const { createOrMigrate } = await import('./sqlite/opening/create-or-migrate.ts')
  const { orRescue } = await import('./sqlite/rescue/rescue.ts')
  const sqlite = { ...options, path: location.path, loaded: await definition.forSqlite() }
  await orRescue(createOrMigrate, sqlite)
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
    const postgres = { ...options, url: location.url, loaded: await definition.forPostgres() }
    return (await openPostgresStore(postgres)) as BaseStore & Stores
  }
  const { openSqliteStore } = await import('./sqlite/opening/store.ts')
  const { orRescue } = await import('./sqlite/rescue/rescue.ts')
  const sqlite = { ...options, path: location.path, loaded: await definition.forSqlite() }
  return (await orRescue(openSqliteStore, sqlite)) as BaseStore & Stores
}

export type Inspection = NonNullable<Awaited<ReturnType<typeof inspect>>>

/**
 * Opens a database for inspection, which changes nothing, also while the service runs. Undefined if there is no SQLite file,
 * or nothing in it. Throws UnusableDatabase.
 */
export async function inspect(definition: StoreDefinition, location: Location) {
  if (location.kind === 'postgres') {
    const { inspectPostgres } = await import('./inspection/postgres.ts')
    return inspectPostgres(location.url, await definition.forPostgres())
  }
  const { inspectSqlite } = await import('./inspection/sqlite.ts')
  return inspectSqlite(location.path, await definition.forSqlite())
}
