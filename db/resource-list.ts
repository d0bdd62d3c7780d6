import type { PgTable } from 'drizzle-orm/pg-core'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Migration, readMigrations } from './migrations.ts'
import type { PostgresResource } from './postgres/resource.ts'
import type { Loaded } from './resource.ts'
import type { SqliteResource } from './sqlite/resource.ts'

/** The list of all resources, which the engines get as an argument. */

/** A resource on each database. Only the modules of one of them are loaded. */
export interface Resource<S = object> {
  sqlite(): Promise<SqliteResource<S>>
  postgres(): Promise<PostgresResource<S>>
}

/** The fields whose types differ; never if none. */
type Differing<A, B> = {
  [Name in keyof A | keyof B]-?: Name extends keyof A & keyof B
    ? [Pick<A, Name>, Pick<B, Name>] extends [Pick<B, Name>, Pick<A, Name>]
      ? never
      : Name
    : Name
}[keyof A | keyof B]

/** Pairs the modules of a resource. It does not compile if the rows of their tables differ. */
export function resource<S, L extends SQLiteTable, P extends PgTable>(
  sqlite: () => Promise<SqliteResource<S, L>>,
  postgres: (() => Promise<PostgresResource<S, P>>) &
    ([Differing<L['$inferSelect'], P['$inferSelect']>] extends [never]
      ? unknown
      : { differing: Differing<L['$inferSelect'], P['$inferSelect']> }),
): Resource<S> {
  return { sqlite, postgres }
}

interface Definition<Stores> {
  /** The address of the module that exports the list as `resources`. Threads import it. */
  url: string
  /** The folders with the migrations of all tables. */
  migrations: Record<'sqlite' | 'postgres', URL[]>
  /** By their names, each after those that its foreign keys refer to. */
  resources: { [Name in keyof Stores]: Resource<Stores[Name]> }
}

/** Every resource of a service. */
export class ResourceList<Stores = unknown> {
  /** Of the resources, in the order of the list. */
  readonly names: string[]
  readonly #definition: Definition<Stores>

  constructor(definition: Definition<Stores>) {
    this.#definition = definition
    this.names = Object.keys(definition.resources)
  }

  migrationsFor(kind: 'sqlite' | 'postgres'): Migration[] {
    return readMigrations(this.#definition.migrations[kind])
  }

  forSqlite(): Promise<Loaded<SqliteResource>> {
    return this.#load('sqlite', ({ sqlite }) => sqlite())
  }

  forPostgres(): Promise<Loaded<PostgresResource>> {
    return this.#load('postgres', ({ postgres }) => postgres())
  }

  async #load<R>(kind: 'sqlite' | 'postgres', modulesOf: (resource: Resource) => Promise<R>): Promise<Loaded<R>> {
    // Whatever a resource adds to the store, it has a module for each database.
    const definitions = this.#definition.resources as Record<string, Resource>
    const modules = Object.entries(definitions).map(async ([name, each]) => [name, await modulesOf(each)])
    return {
      url: this.#definition.url,
      migrations: this.migrationsFor(kind),
      resources: Object.fromEntries(await Promise.all(modules)),
    }
  }
}
