import { getTableColumns, type Table } from 'drizzle-orm'
import type { Searcher } from './base-store.ts'
import { type Change, changeMethodOf, type Expectation } from './change.ts'
import type { Count } from './counts.ts'
import { type HistoryEntry, type HistoryQuery, historyWith } from './history.ts'
import { addingMethodOf, type Caller, type RunMutation } from './mutation.ts'
import type { Found, Names, Only, PageOrder, PageQuery, SearchFields, SearchQuery } from './query.ts'
import { type Entity, idOf, type NewEntity } from './row.ts'
import { type Reads, scanQueue, searchWith } from './search.ts'

/** The methods with which every collection is read. */
export interface ReadMethods<T extends Table, F extends Names, S extends SearchFields> {
  /** Reads a page in ascending order of id. */
  list(query: PageQuery<T, F[number] & keyof T['$inferSelect']> & Only<T, F[number]>): Promise<Entity<T>[]>
  get(id: bigint): Promise<Entity<T> | undefined>
  search(query: SearchQuery<T, F, S> & Only<T, F[number] | keyof S | 'id'>, searcher?: Searcher): Promise<Found<T>>
}

/** The methods that change a collection. Each resolves when the change is on disk, where it survives a loss of power. */
export interface MutationMethods<T extends Table> {
  create(row: NewEntity<T>, caller?: Caller): Promise<Entity<T>>
  /** Changes a row. Resolves to the changed row, or to undefined if no row has the id. */
  update(change: Change<T>, caller?: Caller): Promise<Entity<T> | undefined>
  /** Deletes a row. Resolves to its id, or to undefined if no row has it. */
  remove(row: Expectation<T>, caller?: Caller): Promise<{ id: bigint } | undefined>
}

export interface HistoryMethods<T extends Table> {
  history(query: HistoryQuery): Promise<HistoryEntry<T>[]>
}

export interface CountMethods<T extends Table, Name extends keyof T['$inferSelect']> {
  counts(): Promise<Record<T['$inferSelect'][Name] & string, Count>>
}

/** The methods that both databases derive for a collection. */
export interface DerivedMethods<T extends Table = Table, F extends Names = Names, S extends SearchFields = SearchFields>
  extends ReadMethods<T, F, S> {
  /** The methods of its mutations. Those that it does not list are missing. */
  mutations: MutationMethods<T>
  /** Makes the method that reads a row by another unique field. */
  getBy<Name extends keyof T['$inferSelect'] & string>(
    field: Name,
  ): (value: NonNullable<T['$inferSelect'][Name]>) => Promise<Entity<T> | undefined>
  /** Makes the method that counts the rows with each value of a filter, up to a limit. */
  counts(field: string, limit: number): () => Promise<Record<string, Count>>
  /** Makes the method that reads the history. */
  history(): HistoryMethods<T>['history']
  /** Like {@link BaseStore.revision}, for a collection. On PostgreSQL, a change of another instance shows within a second. */
  revision(): number | undefined
}

/** It takes the values of these fields of its input, and its method returns the input with what was generated. */
export type Adds = { kind: 'adds'; fields: Names }

/** A mutation. One that changes a row takes the call of `changeMethodOf`. */
export type WithKind<Mutation> = Mutation & (Adds | { kind: 'changes' })

/** The mutations with statements of a collection's own, if their methods have these types. */
export type MutationsWith<Mutation, Methods> = {
  [Name in keyof Methods]: Mutation & { fields: Names; method?: Methods[Name] }
}

/** What a collection does with statements of its own on a database. Each mutation and each read becomes a method of its name. */
export interface StatementsOn<Mutations, Access, Reads> {
  mutations?: Mutations
  reads?(access: Access): Reads
}

/** A collection on a database. */
export interface CollectionOn<T extends Table, Mutation, Access, S> {
  table: T
  filters: Names
  search?: SearchFields | undefined
  /** Its mutations, by the names of their methods. */
  mutations: Record<string, WithKind<Mutation>>
  open(access: Access & DerivedMethods): S
}

/** How a database reads the rows of a collection, and runs its mutations. */
interface RowAccess<Mutation> extends Pick<DerivedMethods, 'getBy' | 'counts' | 'revision'> {
  pages(order: PageOrder): DerivedMethods['list']
  /** Makes the function that reads pages of the whole history, the newest first. */
  entries(): Parameters<typeof historyWith>[1]
  run(operation: string, mutation: WithKind<Mutation>): RunMutation
}

/**
 * Opens collections, each with the derived methods and the access to its database, which is closed if one of them cannot be
 * opened. See {@link Reads} for `step`.
 */
export function openCollections<T extends Table, Mutation, Access>(
  collections: Record<string, CollectionOn<T, Mutation, Access, object>>,
  access: Access,
  { step, close }: { step: number; close(): Promise<void> },
  accessTo: (collection: CollectionOn<T, Mutation, Access, object>) => RowAccess<Mutation>,
): Record<string, object> {
  const scans = { step, inTurn: scanQueue() }
  try {
    const opened = Object.entries(collections).map(([name, collection]) => {
      const derived = derive(name, collection, accessTo(collection), scans)
      return [name, collection.open({ ...derived, ...access })]
    })
    return Object.fromEntries(opened)
  } catch (error) {
    void close()
    throw error
  }
}

function derive<Mutation>(
  collection: string,
  { table, filters, search, mutations }: Omit<CollectionOn<Table, Mutation, never, never>, 'open'>,
  { pages, entries, run, ...access }: RowAccess<Mutation>,
  scans: Pick<Reads, 'step' | 'inTurn'>,
): DerivedMethods {
  const get = access.getBy('id')
  const required = Object.entries(getTableColumns(table)).flatMap(([field, { notNull }]) => (notNull ? field : []))
  const methods = Object.entries(mutations).map(([name, mutation]) => {
    const runThis = run(`${collection}.${name}`, mutation)
    if (mutation.kind === 'changes') {
      const needed = name === 'remove' ? [] : required
      return [name, changeMethodOf(name, withNewFields(runThis, needed, get))]
    }
    const needed = name === 'create' ? required.filter((field) => !mutation.fields.includes(field)) : []
    return [name, addingMethodOf<Record<string, unknown>, object>(mutation.fields, withNewFields(runThis, needed, get))]
  })
  return {
    ...access,
    list: pages('oldest'),
    get,
    search: searchWith(filters, search, { get, newest: pages('newest'), oldest: pages('oldest'), ...scans }),
    mutations: Object.fromEntries(methods),
    history: () => historyWith(table, entries()),
  }
}

/** Completes a result that was stored before an upgrade: the fields that the upgrade has added are those of the row now. */
function withNewFields(run: RunMutation, needed: Names, get: DerivedMethods['get']): RunMutation {
  return async (...call) => {
    const result = await run(...call)
    const { generated = {}, isReplay } = result
    const missing = isReplay ? needed.filter((field) => !(field in generated)) : []
    if (missing.length === 0) return result
    const row = Object(await get(idOf(generated)))
    return {
      ...result,
      generated: { ...generated, ...Object.fromEntries(missing.map((field) => [field, row[field]])) },
    }
  }
}
