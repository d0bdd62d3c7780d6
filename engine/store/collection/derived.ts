import type { Table } from 'drizzle-orm'
import type { Searcher } from './base-store.ts'
import { type Change, changeMethodOf, type Expectation } from './change.ts'
import type { Count } from './counts.ts'
import { type HistoryEntry, type HistoryQuery, historyWith } from './history.ts'
import { addingMethodOf, type Caller, type RunMutation } from './mutation.ts'
import type { Found, Names, Only, PageOrder, PageQuery, SearchFields, SearchQuery } from './query.ts'
import type { Entity, NewEntity } from './row.ts'
import { type Reads, searchWith } from './search.ts'

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

/** What both databases derive for a collection. Each function makes a method. */
export interface Derived<T extends Table = Table, F extends Names = Names, S extends SearchFields = SearchFields>
  extends MethodsMade<ReadMethods<T, F, S> & MutationMethods<T>> {
  /** That reads a row by another unique field. */
  getBy<Name extends keyof T['$inferSelect'] & string>(
    field: Name,
  ): (value: NonNullable<T['$inferSelect'][Name]>) => Promise<Entity<T> | undefined>
  /** That counts the rows with each value of a filter, up to a limit. */
  count(field: string, limit: number): () => Promise<Record<string, Count>>
  history(): (query: HistoryQuery) => Promise<HistoryEntry<T>[]>
  /** The methods of its own changes and mutations, by their names. */
  own: Record<string, (input: never, caller?: Caller) => Promise<unknown>>
  /** Like {@link BaseStore.revision}, for a collection. On PostgreSQL, a change of another instance shows within a second. */
  revision(): number | undefined
}

type MethodsMade<Methods> = { [Name in keyof Methods]: () => Methods[Name] }

/** The mutations that a database derives for a collection. */
export interface DerivedMutations<Create, Change> {
  create: Create
  /** These take the values of `changeMethodOf`. */
  update: Change
  remove: Change
  /** Those of its own, by their names. */
  changes: Record<string, Change>
}

/** A mutation that adds what it generates to its input, which has these fields. */
export type AddingMutation<Mutation> = Mutation & { fields: readonly string[] }

/** Mutations whose methods are these. */
export type MutationsWith<Mutation, Methods> = {
  [Name in keyof Methods]: AddingMutation<Mutation> & { method?: Methods[Name] }
}

/** What a collection has of its own on a database: each mutation and each read becomes a method of its name. */
export interface OwnOn<Mutations, Access, Reads> {
  mutations?: Mutations
  reads?(access: Access): Reads
}

/** A collection on a database. */
export interface CollectionOn<T extends Table, Create, Mutation, Access, S> {
  table: T
  filters: Names
  search?: SearchFields | undefined
  mutations: DerivedMutations<Create, Mutation>
  /** Those with statements of its own, by their names. */
  own: Record<string, AddingMutation<Mutation>>
  /** Every mutation of the store's methods, by its name. */
  writes: Record<string, Mutation>
  open(access: Access & Derived): S
}

/** How a database reads the rows of a collection, and runs its mutations. */
interface Means<Mutation> extends Pick<Derived, 'getBy' | 'count' | 'revision'>, Pick<Reads, 'step' | 'inTurn'> {
  pages(order: PageOrder): ReturnType<Derived['list']>
  /** Makes the function that reads pages of the whole history, the newest first. */
  entries(): Parameters<typeof historyWith>[1]
  run(operation: string, mutation: Mutation): RunMutation
}

export function derive<Mutation>(
  collection: string,
  {
    table,
    filters,
    search,
    mutations,
    own,
  }: Omit<CollectionOn<Table, AddingMutation<Mutation>, Mutation, never, never>, 'open'>,
  { pages, entries, step, inTurn, run, ...means }: Means<Mutation>,
): Derived {
  type Input = Record<string, unknown>
  const runOf = (name: string, mutation: Mutation) => run(`${collection}.${name}`, mutation)
  const { create, update, remove, changes } = mutations
  const changing = Object.entries(changes).map(([name, change]) => [name, changeMethodOf(name, runOf(name, change))])
  const adding = Object.entries(own).map(([name, each]) => [
    name,
    addingMethodOf<Input, object>(each.fields, runOf(name, each)),
  ])
  return {
    ...means,
    list: () => pages('oldest'),
    get: () => means.getBy('id'),
    search() {
      const reads = { get: means.getBy('id'), newest: pages('newest'), oldest: pages('oldest'), step, inTurn }
      return searchWith(filters, search, reads)
    },
    create: () => addingMethodOf<Input, Entity<Table>>(create.fields, runOf('create', create)),
    update: () => changeMethodOf('update', runOf('update', update)),
    remove: () => changeMethodOf('remove', runOf('remove', remove)),
    own: Object.fromEntries([...changing, ...adding]),
    history: () => historyWith(table, entries()),
  }
}
