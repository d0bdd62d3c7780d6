import { getTableName, is, type Table } from 'drizzle-orm'
import { getTableConfig, SQLiteInteger, SQLiteText } from 'drizzle-orm/sqlite-core'
import type { MakeChange, OwnChanges } from './collection/change.ts'
import type { Count, Counted } from './collection/counts.ts'
import type {
  AddingMutation,
  CollectionOn,
  Derived,
  DerivedMutations,
  MutationMethods,
  OwnOn,
  ReadMethods,
} from './collection/derived.ts'
import type { HistoryEntry, HistoryQuery } from './collection/history.ts'
import type { Names, SearchFields } from './collection/query.ts'
import { columnOf } from './collection/row.ts'
import { oneOfCheck, timestampCheck } from './collection/schema.ts'
import type { Identity, Loaded, SqliteRelease } from './database/loaded.ts'
import { type Migration, readMigrations } from './database/migrations.ts'
import type { OwnOnPostgres, PostgresCollection, PostgresTable } from './postgres/collection.ts'
import type { OwnOnSqlite, SqliteCollection, TableWithId } from './sqlite/collection.ts'

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

/** What a collection adds to the store. */
export type StoreOf<C> = C extends Collection<infer S> ? S : never

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

type Field<T extends TableWithId> = keyof T['$inferSelect'] & string

type MutationName = keyof MutationMethods<TableWithId>

interface Definition<
  T extends TableWithId,
  F extends Names,
  Q extends SearchFields,
  H extends boolean,
  M extends MutationName,
  C,
  OwnMutations,
  OwnReads,
> {
  /** The table of SQLite, from which that of PostgreSQL is derived. */
  table: T &
    ([Unsupported<T>] extends [never] ? unknown : { 'Use text, int64, a boolean or timestamp for': Unsupported<T> })
  /** The fields by which `list` filters. Each needs an index. */
  filters?: F & readonly Field<T>[]
  /** The fields of `search` besides the filters. They need no index. */
  search?: Q & Record<Exclude<keyof Q, Field<T>>, never>
  /** Whether each change and each removal of a row leaves an entry in the history. */
  history?: H
  /** The derived mutations that it has. */
  mutations?: readonly M[]
  /** Makes further changes of a row besides `update`, each from a function. Each becomes a method of its name. */
  changes?(change: MakeChange<T>): C & { [Name in MutationName]?: never }
  /** What else it adds, with statements of its own, for each database that the product uses. */
  own?: {
    sqlite?(): Promise<OwnOnSqlite<OwnMutations, OwnReads>>
    postgres?(): Promise<OwnOnPostgres<OwnMutations, OwnReads>>
  }
}

/** The filter by whose values `counts` counts the rows, each up to a limit. */
interface Counts<Name> {
  field: Name
  limit: number
}

/** Without AUTOINCREMENT, SQLite gives the id of a removed row to another one. */
function refuseReusedIds(table: TableWithId): void {
  if (is(table.id, SQLiteInteger) && table.id.autoIncrement) return
  throw new Error(`The id of ${getTableName(table)} must be int64('id').primaryKey({ autoIncrement: true }).`)
}

/** Refuses a column that SQLite would not check, and what Drizzle's own statements would do and those of a collection not. */
function refuseColumns(table: TableWithId): void {
  const { name: tableName, columns, checks } = getTableConfig(table)
  for (const column of columns) {
    const { name, columnType, enumValues, generated, default: constant, defaultFn, onUpdateFn, notNull } = column
    const refuseIf = (isWrong: unknown, problem: string) => {
      if (isWrong) throw new Error(`The column ${name} of ${tableName} ${problem}`)
    }
    const isKnown = /^SQLite(Integer|Text|Boolean|CustomColumn)$/.test(columnType)
    refuseIf(!isKnown, 'must be text, int64, a boolean or timestamp.')
    const rule = columnType === 'SQLiteCustomColumn' ? timestampCheck : enumValues && oneOfCheck
    const lacksRule = rule && !checks.some((check) => check.name === rule(column).name)
    refuseIf(lacksRule, `needs the rule ${rule?.name} of #store.`)
    refuseIf(generated, 'has generatedAlwaysAs. Compute it with $defaultFn, or in a change.')
    // The callers give a required field, and its default is for the rows that a migration finds.
    const isUnused = constant !== undefined && !notNull
    refuseIf(isUnused, 'has a default that no row would get. Use $defaultFn, or a default of the input.')
    const hasLength = is(column, SQLiteText) && column.length !== undefined
    refuseIf(hasLength, 'has a length that no database would check. Use lineChecks.')
    refuseIf(onUpdateFn && !defaultFn, 'has $onUpdateFn. It also needs $defaultFn, for new rows.')
  }
}

/** A filter without an index would read the whole table, and on SQLite block all other requests meanwhile. */
function refuseSlowFilters(table: TableWithId, filters: Names): void {
  const { name, indexes, columns } = getTableConfig(table)
  // An index of some rows lacks the others, and one of further columns has another order than that of the ids.
  const own = indexes.filter(
    ({ config }) => !config.where && config.columns.slice(1).every((each) => each === table.id),
  )
  const indexed = [...own.map(({ config }) => config.columns[0]), ...columns.filter(({ isUnique }) => isUnique)]
  for (const filter of filters) {
    const column = columnOf(table, filter)
    if (indexed.includes(column)) continue
    const remedy = `Add index('${name}_by_${column.name}').on(….${filter}) to its table, and a migration.`
    throw new Error(`The filter ${filter} of ${name} has no index of its own. ${remedy}`)
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
  C,
  OwnMutations,
  OwnReads,
  const F extends Names = readonly [],
  const Q extends SearchFields = Record<never, never>,
  const H extends boolean = false,
  const M extends MutationName = never,
  const N extends Counted<T, F> = never,
>({
  counts,
  ...definition
}: Definition<T, F, Q, H, M, C, OwnMutations, OwnReads> & { counts?: Counts<N> }): Collection<
  ReadMethods<T, F, Q> &
    HistoryMethods<T, H> &
    CountMethods<T, N> &
    Pick<MutationMethods<T>, M> &
    C &
    OwnMutations &
    OwnReads
> {
  const { history, mutations = [] } = definition
  return collectionWith(definition, (derived) => ({
    list: derived.list(),
    get: derived.get(),
    search: derived.search(),
    ...(history && { history: derived.history() }),
    ...(counts && { counts: derived.count(counts.field, counts.limit) }),
    ...Object.fromEntries(mutations.map((name) => [name, derived[name]()])),
  }))
}

type HistoryMethods<T extends TableWithId, H> = H extends true
  ? { history(query: HistoryQuery): Promise<HistoryEntry<T>[]> }
  : unknown

type CountMethods<T extends TableWithId, N extends keyof T['$inferSelect']> = [N] extends [never]
  ? unknown
  : { counts(): Promise<Record<T['$inferSelect'][N] & string, Count>> }

/** A collection whose other methods are made of the derived ones. */
export function collectionWith<
  T extends TableWithId,
  F extends Names,
  Q extends SearchFields,
  H extends boolean,
  M extends MutationName,
  C,
  OwnMutations,
  OwnReads,
  S,
>(
  {
    table,
    filters,
    search,
    history,
    mutations: names = [],
    changes,
    own,
  }: Definition<T, F, Q, H, M, C, OwnMutations, OwnReads>,
  methodsOf: (derived: Derived<T, F, Q>) => object,
): Collection<S> {
  refuseColumns(table)
  refuseSlowFilters(table, filters ?? [])
  refuseReusedIds(table)
  // Safe: it gets the functions of changes, and says what methods they become.
  const ownChanges = changes?.((compute) => compute as never) as OwnChanges | undefined
  /** What is the same on both databases. */
  const partsOf = <OnDatabase extends Table, Mutation, Create extends Mutation, Access>(
    table: OnDatabase,
    mutations: DerivedMutations<Create, Mutation>,
    own: OwnOn<Record<string, AddingMutation<Mutation>>, Access, OwnReads> = {},
  ): CollectionOn<OnDatabase, Create, Mutation, Access, S> => ({
    table,
    filters: filters ?? [],
    search,
    mutations,
    own: own.mutations ?? {},
    writes: {
      ...mutations.changes,
      ...Object.fromEntries(names.map((name) => [name, mutations[name]])),
      ...own.mutations,
    },
    // Safe: the methods are derived from this table.
    open: (access) => ({ ...methodsOf(access as Derived<T, F, Q>), ...access.own, ...own.reads?.(access) }) as S,
  })
  return {
    kinds: kinds.filter((kind) => !own || own[kind]),
    async sqlite() {
      const { mutationsOf } = await import('./sqlite/change.ts')
      return partsOf(table, mutationsOf<TableWithId>(table, history, ownChanges), await own?.sqlite?.())
    },
    async postgres() {
      const [{ postgresTableOf }, { mutationsOf }] = await Promise.all([
        import('./postgres/table.ts'),
        import('./postgres/change.ts'),
      ])
      // Safe: it has the fields of the table, and so an id.
      const derived = postgresTableOf(table) as unknown as PostgresTable
      return partsOf(derived, mutationsOf(derived, history, ownChanges), await own?.postgres?.())
    },
  }
}

/** The collections and the migrations of a store, which both databases get as an argument. */
export interface StoreDefinition<Stores = unknown> extends Parts<Stores> {
  /** The names of the collections, in their order. */
  names: string[]
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

/** @throws {Error} for a collection that lacks `own` for a database with migrations */
export function defineStore<Stores>(parts: Parts<Stores>): StoreDefinition<Stores> {
  const { applicationId, migrations, collections } = parts
  // Safe: whatever a collection adds to the store.
  const entries = Object.entries(collections as Record<string, Collection>)
  for (const kind of kinds.filter((each) => migrations[each]?.length)) {
    const [lacking] = entries.find(([, collection]) => !collection.kinds.includes(kind)) ?? []
    if (lacking !== undefined)
      throw new Error(`The collection ${lacking} needs own.${kind}, because the store has migrations for ${kind}.`)
  }
  const migrationsFor = (kind: Kind) => readMigrations(migrations[kind] ?? [])

  async function load<C>(kind: Kind, modulesOf: (collection: Collection) => Promise<C>) {
    const loading = entries.map(async ([name, each]) => [name, await modulesOf(each)])
    const loaded: Record<string, C> = Object.fromEntries(await Promise.all(loading))
    return { ...parts, migrations: migrationsFor(kind), collections: loaded }
  }

  return {
    ...parts,
    names: Object.keys(collections),
    migrationsFor,
    sqliteRelease: () => ({ applicationId, migrations: migrationsFor('sqlite') }),
    forSqlite: () => load('sqlite', ({ sqlite }) => sqlite()),
    forPostgres: () => load('postgres', ({ postgres }) => postgres()),
  }
}
