import { describeLocation, type Location } from '../../db/location.ts'
import { openStore } from '../../db/open.ts'
import type { Store } from '../../db/store.ts'
import { readConfig } from '../config.ts'
import { OperatorError } from '../ops/operator-error.ts'
import { note } from './output.ts'

/** Opens the store of the configuration for one command, and closes it. */
export async function withStore(use: (store: Store) => Promise<void>, { create = false } = {}): Promise<void> {
  const { database } = readConfig()
  const onCreate = () => noteCreated(database)
  // Longer than in the service: a command may wait until a busy service has committed.
  const store = await openStore(database, { create, onCreate, onWarning: note, busyTimeout: 5_000 })
  try {
    await use(store)
  } finally {
    await store.close()
  }
}

export function noteCreated(database: Location): void {
  note(`Created the database ${describeLocation(database)}.`)
}

/** The path of the database, for commands that only SQLite has. */
export function databaseFile(): string {
  const { database } = readConfig()
  if (database.kind === 'sqlite') return database.path
  throw new OperatorError(
    'DATABASE_URL names a PostgreSQL database: use pg_dump and pg_restore to back it up and restore it.',
  )
}
