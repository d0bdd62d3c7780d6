import type { Table } from 'drizzle-orm'
import type { ChangeFunctions, MakeChange } from './collection/change.ts'
import type { Counted } from './collection/counts.ts'
import type {
  CollectionOn,
  CountMethods,
  DerivedMethods,
  HistoryMethods,
  MutationMethods,
  ReadMethods,
  StatementsOn,
  WithKind,
} from './collection/derived.ts'
import type { Names, SearchFields } from './collection/query.ts'
import type { TableWithId } from './collection/row.ts'
import { refuseTakenNames, refuseUnfit } from './collection/rules.ts'
import type { Identity, Loaded, SqliteRelease } from './database/loaded.ts'
import { type Migration, readMigrations } from './database/migrations.ts'
import type { PostgresCollection, PostgresTable, StatementsOnPostgres } from './postgres/collection.ts'
import type { SqliteCollection, StatementsOnSqlite } from './sqlite/collection.ts'

/** Defines the collections of a product and its store. Each has a function for each database, to load only one driver. */

const kinds = ['sqlite', 'postgres'] as const

type Kind = (typeof kinds)[number]

/** A collection on each database. Only the modules of one of them are loaded. */
export interface Collection<S = object> {
  /** The databases for which it has everything. */
  kinds: Kind[]
  sqlite(): Promise<SqliteCollection<S>>
  postgres(): Promise<PostgresCollection<S>>
}

export type StoresOf<D> = D extends StoreDefinition<infer Stores> ? Stores : never

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

type Refused<Remedy extends string, Names> = [Names] extends [never] ? unknown : Record<Remedy, Names>

type MutationName = keyof MutationMethods<TableWithId>

type Field<T extends TableWithId> = keyof T['$inferSelect'] & string

interface CollectionDefinition<T extends TableWithId> {
  /** The table of SQLite, from which that of PostgreSQL is derived. */
  table: T
  /** The fields by which `list` filters. Each needs an index. */
  filters?: readonly Field<T>[]
  /** The fields of `search` besides the filters. They need no index. */
  search?: SearchFields
  /** The filter by whose values `counts` counts the rows, each up to a limit. */
  counts?: { field: Field<T>; limit: number }
  /** Whether each change and each removal of a row leaves an entry in the history. */
  history?: boolean
  /** The derived mutations that it has. */
  mutations?: readonly MutationName[]
}

/** What a collection adds to the derived methods. */
interface Additions<T extends TableWithId, Changes, OwnMutations, OwnReads> {
  /** Makes further changes of a row besides `update`, each from a function. Each becomes a method of its name. */
  changes?(change: MakeChange<T>): Changes & { [Name in MutationName]?: never }
  /** What else it adds, with statements of its own, for each database that the product uses. */
  statements?: {
    sqlite?(): Promise<StatementsOnSqlite<OwnMutations, OwnReads>>
    postgres?(): Promise<StatementsOnPostgres<OwnMutations, OwnReads>>
  }
}

/**
 * Defines the rows of a table and what can be done with them, for both databases.
 *
 * @throws {Error} for an id that could be used again, a column without its rule, of another kind or with what would be ignored,
 *   and a filter without index
 */
export function collection<
  T extends TableWithId,
  Changes,
  OwnMutations,
  OwnReads,
  const Filters extends Names = readonly [],
  const Search extends SearchFields = Record<never, never>,
  const Counting extends Counted<T, Filters> = never,
  const History extends boolean = false,
  const Mutations extends MutationName = never,
>(
  definition: CollectionDefinition<T> &
    Additions<T, Changes, OwnMutations, OwnReads> & {
      table: Refused<'Use text, int64, a boolean or timestamp for', Unsupported<T>>
      filters?: Filters
      search?: Search & Record<Exclude<keyof Search, Field<T>>, never>
      counts?: { field: Counting }
      history?: History
      mutations?: readonly Mutations[]
    },
): Collection<
  ReadMethods<T, Filters, Search> &
    ([Counting] extends [never] ? unknown : CountMethods<T, Counting>) &
    (History extends true ? HistoryMethods<T> : unknown) &
    Pick<MutationMethods<T>, Mutations> &
    Changes &
    OwnMutations &
    OwnReads
> {
  const { history, counts } = definition
  return collectionWith(definition, ({ list, get, search, mutations, ...derived }) => ({
    list,
    get,
    search,
    ...(history && { history: derived.history() }),
    ...(counts && { counts: derived.counts(counts.field, counts.limit) }),
    ...mutations,
  }))
}

/** A collection whose methods are made of the derived ones. */
export function collectionWith<T extends TableWithId, S>(
  {
    table,
    filters = [],
    search,
    history,
    mutations = [],
    changes,
    statements,
  }: CollectionDefinition<T> & Additions<T, unknown, Record<string, unknown>, unknown>,
  methodsOf: (derived: DerivedMethods<T>) => object,
): Collection<S> {
  refuseUnfit(table, filters)
  // Safe: it gets the functions of changes, and says what methods they become.
  const functions = (changes?.((compute) => compute as never) ?? {}) as ChangeFunctions
  const names: string[] = [...mutations, ...Object.keys(functions)]
  /** What is the same on both databases. */
  const collectionOn = <OnDatabase extends Table, Mutation, OfProduct, Access>(
    table: OnDatabase,
    derived: Record<string, WithKind<Mutation>>,
    mutationOf: (mutation: OfProduct) => WithKind<Mutation>,
    statements: StatementsOn<Record<string, OfProduct>, Access, unknown> = {},
  ): CollectionOn<OnDatabase, Mutation, Access, S> => ({
    table,
    filters,
    search,
    mutations: {
      ...Object.fromEntries(Object.entries(derived).filter(([name]) => names.includes(name))),
      ...Object.fromEntries(Object.entries(statements.mutations ?? {}).map(([name, each]) => [name, mutationOf(each)])),
    },
    open(access) {
      const reads = statements.reads?.(access) as object | undefined
      refuseTakenNames(table, [functions, statements.mutations, reads])
      // Safe: the methods are derived from this table.
      return { ...methodsOf(access as unknown as DerivedMethods<T>), ...reads } as S
    },
  })
  return {
    kinds: kinds.filter((kind) => !statements || statements[kind]),
    async sqlite() {
      const { mutationsOf, mutationOf } = await import('./sqlite/change.ts')
      return collectionOn(table, mutationsOf(table, history, functions), mutationOf, await statements?.sqlite?.())
    },
    async postgres() {
      const [{ postgresTableOf }, { mutationsOf, mutationOf }] = await Promise.all([
        import('./postgres/table.ts'),
        import('./postgres/change.ts'),
      ])
      // Safe: it has the fields of the table, and so an id.
      const derived = postgresTableOf(table) as unknown as PostgresTable
      return collectionOn(derived, mutationsOf(derived, history, functions), mutationOf, await statements?.postgres?.())
    },
  }
}

/** The collections and the migrations of a store, which both databases get as an argument. */
export interface StoreDefinition<Stores = unknown> extends Parts<Stores> {
  /** The migrations of a kind of database. Undefined for one that the product does not use. */
  migrationsFor(kind: Kind): Migration[]
  /** For backups, which need no collections. */
  sqliteRelease(): SqliteRelease
  forSqlite(): Promise<Loaded<SqliteCollection>>
  forPostgres(): Promise<Loaded<PostgresCollection>>
}

interface Parts<Stores> extends Identity {
  /** The folders with the migrations of all tables, for each database that the product uses. */
  migrations: Partial<Record<Kind, URL[]>>
  /** The collections by their names, each after those that its foreign keys refer to. Idempotency keys store the names. */
  collections: { [Name in keyof Stores]: Collection<Stores[Name]> }
}

/** @throws {Error} for a collection that lacks `statements` for a database with migrations */
export function defineStore<Stores>(parts: Parts<Stores>): StoreDefinition<Stores> {
  const { program, applicationId, migrations, collections } = parts
  // Safe: whatever a collection adds to the store.
  const entries = Object.entries(collections as Record<string, Collection>)
  for (const kind of kinds.filter((each) => migrations[each]?.length)) {
    const [lacking] = entries.find(([, collection]) => !collection.kinds.includes(kind)) ?? []
    if (lacking !== undefined)
      throw new Error(
        `The collection ${lacking} needs statements.${kind}, because the store has migrations for ${kind}.`,
      )
  }
  const migrationsFor = (kind: Kind) => readMigrations(migrations[kind] ?? [])

  async function load<C>(kind: Kind, modulesOf: (collection: Collection) => Promise<C>) {
    const loading = entries.map(async ([name, each]) => [name, await modulesOf(each)])
    const loaded: Record<string, C> = Object.fromEntries(await Promise.all(loading))
    return { ...parts, migrations: migrationsFor(kind), collections: loaded }
  }

  return {
    ...parts,
    migrationsFor,
    sqliteRelease: () => ({ program, applicationId, migrations: migrationsFor('sqlite') }),
    forSqlite: () => load('sqlite', ({ sqlite }) => sqlite()),
    forPostgres: () => load('postgres', ({ postgres }) => postgres()),
  }
}
