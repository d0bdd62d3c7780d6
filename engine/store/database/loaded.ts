import type { Migration } from './migrations.ts'

/** The collections and migrations of one kind of database. */
export interface Loaded<R> {
  /** The address of the module that exports the definition as `definition`. */
  url: string
  /** The command of the program, for messages and for the name of its connections. */
  program: string
  migrations: Migration[]
  collections: Record<string, R>
}
