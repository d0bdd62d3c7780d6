import { type Migration, readMigrations } from './migrations.ts'
import type { OwnOnPostgres, PostgresResource, TableWithId as PostgresTable } from './postgres/resource.ts'
import type { Engine, Loaded, Names, SearchFields } from './resource.ts'
import type { OwnOnSqlite, SqliteResource, TableWithId } from './sqlite/resource.ts'

/** A collection on each database. Only the modules of one of them are loaded. */
export interface Collection<S = object> {
  sqlite(): Promise<SqliteResource<S>>
  postgres(): Promise<PostgresResource<S>>
}

/** What a collection adds to the store. */
export type StoreOf<C> = C extends Collection<infer S> ? S : never

/** The columns that both databases hold exactly. Others hold other values than Drizzle says, or are not compared exactly. */
type Supported =
  | { columnType: 'SQLiteInteger'; data: bigint }
  | { columnType: 'SQLiteText'; data: string }
  | { columnType: 'SQLiteBoolean' }
  | { columnType: 'SQLiteCustomColumn'; data: Date }

/** The fields whose columns are not supported; never if none. */
type Unsupported<T extends TableWithId> = {
  [Name in keyof T['_']['columns']]: T['_']['columns'][Name]['_'] extends Supported ? never : Name
}[keyof T['_']['columns']]

type Field<T extends TableWithId> = keyof T['$inferSelect'] & string

interface Definition<T extends TableWithId, F extends Names, Q extends SearchFields, S, Own> {
  /** The table of SQLite, from which that of PostgreSQL is derived. */
  table: T & ([Unsupported<T>] extends [never] ? unknown : { unsupportedFields: Unsupported<T> })
  /** The fields by which `list` filters. Each needs an index. */
  filters?: F & readonly Field<T>[]
  /** The fields of `search` besides the filters. They need no index. */
  search?: Q & Record<Exclude<keyof Q, Field<T>>, never>
  /** Makes what the collection adds to the store, of what is derived. */
  methods?(derived: Engine<T, F, Q>): S
  /** What else it adds, with statements of its own. */
  own?: { sqlite(): Promise<OwnOnSqlite<Own>>; postgres(): Promise<OwnOnPostgres<Own>> }
}

/** Defines the rows of a table and what can be done with them, for both databases. */
export function collection<
  T extends TableWithId,
  S,
  Own,
  const F extends Names = readonly [],
  const Q extends SearchFields = Record<never, never>,
>({ table, filters, search, methods, own }: Definition<T, F, Q, S, Own>): Collection<S & Own> {
  return {
    async sqlite() {
      const { insertInto } = await import('./sqlite/statements.ts')
      const { writes, errors, open } = (await own?.sqlite()) ?? {}
      const insert = insertInto<TableWithId>(table)
      return {
        table,
        filters: filters ?? [],
        search,
        insert,
        writes: { ...(methods && { create: insert }), ...writes },
        ...(errors && { errors }),
        // Safe: the engine derives the methods from this table.
        open: (engine) => ({ ...methods?.(engine as Engine<T, F, Q>), ...open?.(engine) }) as S & Own,
      }
    },
    async postgres() {
      const [{ postgresTableOf }, { insertInto }] = await Promise.all([
        import('./postgres/table.ts'),
        import('./postgres/statements.ts'),
      ])
      const { writes, open } = (await own?.postgres()) ?? {}
      // Safe: it has the fields of the table, and so an id.
      const derived = postgresTableOf(table) as unknown as PostgresTable
      const insert = insertInto(derived)
      return {
        table: derived,
        filters: filters ?? [],
        search,
        insert,
        writes: { ...(methods && { create: insert }), ...writes },
        // Safe: the engine derives the methods from this table.
        open: (engine) => ({ ...methods?.(engine as Engine<T, F, Q>), ...open?.(engine) }) as S & Own,
      }
    },
  }
}

interface List<Stores> {
  /** The address of the module that exports the list as `resources`. Threads import it. */
  url: string
  /** The folders with the migrations of all tables. */
  migrations: Record<'sqlite' | 'postgres', URL[]>
  /** By their names, each after those that its foreign keys refer to. */
  resources: { [Name in keyof Stores]: Collection<Stores[Name]> }
}

/** Every resource of a service. */
export class ResourceList<Stores = unknown> {
  /** Of the resources, in the order of the list. */
  readonly names: string[]
  readonly definition: List<Stores>

  constructor(definition: List<Stores>) {
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

  async #load<R>(kind: 'sqlite' | 'postgres', modulesOf: (resource: Collection) => Promise<R>): Promise<Loaded<R>> {
    // Whatever a resource adds to the store, it has a module for each database.
    const definitions = this.definition.resources as Record<string, Collection>
    const modules = Object.entries(definitions).map(async ([name, each]) => [name, await modulesOf(each)])
    return {
      url: this.definition.url,
      migrations: this.migrationsFor(kind),
      resources: Object.fromEntries(await Promise.all(modules)),
    }
  }
}
