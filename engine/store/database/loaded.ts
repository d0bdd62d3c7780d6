import type { StoreObserver } from '../collection/base-store.ts'
import type { MigrateOptions, Migration } from './migrations.ts'

/** What a store is known by, whatever its database is. */
export interface Identity {
  /** The address of the module that exports the definition as `definition`. The writer thread imports it. */
  url: string
  /** The command of the program, for messages, and for the names of temporary files and of connections to PostgreSQL. */
  program: string
  /** `PRAGMA application_id` of the SQLite files, from 1 to 2³¹ - 1. A file with another one is refused. */
  applicationId: number
}

/** The collections and migrations of one kind of database. */
export interface Loaded<C> extends Identity {
  migrations: Migration[]
  collections: Record<string, C>
}

export type SqliteRelease = Pick<Loaded<unknown>, 'program' | 'applicationId' | 'migrations'>

export interface OpenOptions extends MigrateOptions {
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
  observer?: StoreObserver | undefined
}
