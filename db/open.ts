import { existsSync } from 'node:fs'
import type { Location } from './location.ts'
import type { OnMigrate } from './migrations.ts'
import type { ResourceList } from './resource-list.ts'
import { resources as ownResources, type Store } from './resources.ts'
import type { BaseStore, StoreObserver } from './store.ts'

interface OpenOptions {
  /** Whether to create a database that is missing or empty. True by default. */
  create?: boolean
  /** Whether to migrate the database of an older release, true by default. Otherwise it is refused. */
  migrate?: boolean
  /** Called if the database was created. */
  onCreate?: () => void
  onMigrate?: OnMigrate
  /** Called with a sentence for the operator when the database needs attention. It may be called at any time. */
  onWarning?: (message: string) => void
  /** Milliseconds to wait for the lock of an SQLite file that another process holds. */
  busyTimeout: number
  /** The maximum number of connections to PostgreSQL for requests. */
  maxConnections?: number | undefined
  observer?: StoreObserver
}

/**
 * Applies the pending migrations, and creates the database first if necessary, as {@link openStore} does.
 *
 * @throws {UnusableDatabase}
 */
export async function migrateStore(
  location: Location,
  { onCreate, onMigrate, onWarning }: Pick<OpenOptions, 'onCreate' | 'onMigrate' | 'onWarning'>,
): Promise<void> {
  if (location.kind === 'postgres') {
    const { prepareDatabase } = await import('./postgres/prepare.ts')
    if (await prepareDatabase(location.url, await ownResources.forPostgres(), { onMigrate })) onCreate?.()
    return
  }
  const { prepareDatabase } = await import('./sqlite/store/prepare.ts')
  const isNew = !existsSync(location.path)
  prepareDatabase(location.path, await ownResources.forSqlite(), { onMigrate, onWarning })
  if (isNew) onCreate?.()
}

/**
 * Opens the store at a location. Creates or migrates the database first if necessary. Loads only the driver that is needed.
 *
 * @throws {UnusableDatabase}
 */
export async function openStore(location: Location, options: OpenOptions): Promise<Store> {
  return openStoreOf(ownResources, location, options)
}

/** As {@link openStore}, with the resources of another list. */
export async function openStoreOf<Stores>(
  list: ResourceList<Stores>,
  location: Location,
  { onCreate, ...options }: OpenOptions,
): Promise<BaseStore & Stores> {
  // Safe: the engines open each resource of the list under its name.
  if (location.kind === 'postgres') {
    const { openPostgresStore } = await import('./postgres/store.ts')
    const resources = await list.forPostgres()
    return (await openPostgresStore({ ...options, url: location.url, resources, onCreate })) as BaseStore & Stores
  }
  const { openSqliteStore } = await import('./sqlite/store/store.ts')
  const isNew = !existsSync(location.path)
  const resources = await list.forSqlite()
  const store = openSqliteStore({ ...options, path: location.path, resources }) as BaseStore & Stores
  if (isNew) onCreate?.()
  return store
}
