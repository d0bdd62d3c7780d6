import { existsSync } from 'node:fs'
import type { Location } from './location.ts'
import type { Store } from './store.ts'

interface OpenOptions {
  /** Whether a database that is missing or empty is made, which is so by default. */
  create?: boolean
  /** Called if it was. */
  onCreate?: () => void
  /** Called with a sentence for the operator when the database needs attention, at any time while it is open. */
  onWarning?: (message: string) => void
  /** Milliseconds to wait for another process that holds the lock of an SQLite file. */
  busyTimeout: number
}

/**
 * Opens the store at a location, which is created or migrated first if need be. Only the driver that is needed is loaded.
 *
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export async function openStore(
  location: Location,
  { create = true, onCreate, onWarning, busyTimeout }: OpenOptions,
): Promise<Store> {
  if (location.kind === 'postgres') {
    const { openPostgresStore } = await import('./postgres/store.ts')
    return openPostgresStore({ url: location.url, create, onCreate })
  }
  const { openSqliteStore } = await import('./sqlite/store.ts')
  const isNew = !existsSync(location.path)
  const store = openSqliteStore({ path: location.path, create, onWarning, busyTimeout })
  if (isNew) onCreate?.()
  return store
}
