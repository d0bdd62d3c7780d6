import type { Migration } from './migrations.ts'

/** What a store is known by, whatever its database is. */
export interface Identity {
  /** The address of the module that exports the definition as `definition`. The writer thread imports it. */
  url: string
  /** The command of the program, for messages and for the name of its connections to PostgreSQL. */
  program: string
  /** `PRAGMA application_id` of the SQLite files, from 1 to 2³¹ - 1. A file with another one is refused. */
  applicationId: number
}

/** The collections and migrations of one kind of database. */
export interface Loaded<C> extends Identity {
  migrations: Migration[]
  collections: Record<string, C>
}

export type SqliteRelease = Pick<Loaded<unknown>, 'applicationId' | 'migrations'>
