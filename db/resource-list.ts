import type { Table } from 'drizzle-orm'
import { type Migration, readMigrations } from './migrations.ts'
import type { PostgresResource, TableWithId as PostgresTable } from './postgres/resource.ts'
import type { Entity, Loaded, NewEntity } from './resource.ts'
import type { SqliteResource, TableWithId as SqliteTable } from './sqlite/resource.ts'

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

/** The columns that the engines support. Others hold other values than Drizzle says, or are not compared exactly. */
type Supported =
  | { columnType: 'SQLiteInteger' | 'PgBigInt64'; data: bigint }
  | { columnType: 'SQLiteText' | 'PgText'; data: string }
  | { columnType: 'SQLiteBoolean' | 'PgBoolean' }
  | { columnType: 'SQLiteCustomColumn' | 'PgTimestamp'; data: Date }

/** The fields whose columns are not supported; never if none. */
type Unsupported<T extends Table> = {
  [Name in keyof T['_']['columns']]: T['_']['columns'][Name]['_'] extends Supported ? never : Name
}[keyof T['_']['columns']]

/** The fields that both tables do not have alike, that only one of them generates, or whose columns are not supported. */
type Wrong<L extends Table, P extends Table> =
  | Differing<Entity<L>, Entity<P>>
  | Differing<NewEntity<L>, NewEntity<P>>
  | Unsupported<L>
  | Unsupported<P>

/** Pairs the modules of a resource. It does not compile if the rows of their tables differ, or hold unsupported values. */
export function resource<S, L extends SqliteTable, P extends PostgresTable>(
  sqlite: () => Promise<SqliteResource<S, L>>,
  postgres: (() => Promise<PostgresResource<S, P>>) &
    ([Wrong<L, P>] extends [never] ? unknown : { wrongFields: Wrong<L, P> }),
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
  readonly definition: Definition<Stores>

  constructor(definition: Definition<Stores>) {
    this.definition = definition
    this.names = Object.keys(definition.resources)
  }

  migrationsFor(kind: 'sqlite' | 'postgres'): Migration[] {
    return readMigrations(this.definition.migrations[kind])
  }

  forSqlite(): Promise<Loaded<SqliteResource>> {
    return this.#load('sqlite', ({ sqlite }) => sqlite())
  }

  forPostgres(): Promise<Loaded<PostgresResource>> {
    return this.#load('postgres', ({ postgres }) => postgres())
  }

  async #load<R>(kind: 'sqlite' | 'postgres', modulesOf: (resource: Resource) => Promise<R>): Promise<Loaded<R>> {
    // Whatever a resource adds to the store, it has a module for each database.
    const definitions = this.definition.resources as Record<string, Resource>
    const modules = Object.entries(definitions).map(async ([name, each]) => [name, await modulesOf(each)])
    return {
      url: this.definition.url,
      migrations: this.migrationsFor(kind),
      resources: Object.fromEntries(await Promise.all(modules)),
    }
  }
}
