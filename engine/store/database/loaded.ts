import type { Migration } from './migrations.ts'

/** What an SQLite file must fit. */
export interface SqliteRelease {
  /** `PRAGMA application_id` of the files of this product. */
  applicationId: number
  migrations: Migration[]
}

/** The collections and migrations of one kind of database. */
export interface Loaded<R> {
  /** The address of the module that exports the definition as `definition`. */
  url: string
  /** The command of the program, for messages and for the name of its connections. */
  program: string
  applicationId: number
  migrations: Migration[]
  collections: Record<string, R>
}
