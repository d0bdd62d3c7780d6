import type { Table } from 'drizzle-orm'
import type { Searcher } from './base-store.ts'
import { type Change, type ChangeMethod, changeMethodOf, type Expectation } from './change.ts'
import type { Count, Counted } from './counts.ts'
import { type HistoryEntry, type HistoryQuery, historyWith } from './history.ts'
import { addingMethodOf, type Caller, operationOf, type RunMutation } from './mutation.ts'
import type { Found, Names, Only, PageOrder, PageQuery, SearchFields, SearchQuery } from './query.ts'
import type { Entity, NewEntity } from './row.ts'
import { type Reads, searchWith } from './search.ts'

/** What both databases derive for a collection from its table, its filters and the fields of its search. */
export interface Derived<
  T extends Table = Table,
  F extends Names = Names,
  S extends SearchFields = SearchFields,
  H extends boolean = boolean,
> {
  /** Makes the method that reads pages of the collection in ascending order of id. */
  list(): (query: PageQuery<T, F[number] & keyof T['$inferSelect']> & Only<T, F[number]>) => Promise<Entity<T>[]>
  get(): (id: bigint) => Promise<Entity<T> | undefined>
  /** Makes the method that reads a row of the collection by another unique field. */
  getBy<Name extends keyof T['$inferSelect'] & string>(
    field: Name,
  ): (value: NonNullable<T['$inferSelect'][Name]>) => Promise<Entity<T> | undefined>
  search(): (
    query: SearchQuery<T, F, S> & Only<T, F[number] | keyof S | 'id'>,
    searcher?: Searcher,
  ) => Promise<Found<T>>
  /** Makes the method that counts the rows with each value of a filter, up to a limit. */
  count<Name extends Counted<T, F>>(
    field: Name,
    limit: number,
  ): () => Promise<Record<T['$inferSelect'][Name] & string, Count>>
  /** Makes the mutation that adds a row. It resolves when the row is on disk, where it survives a loss of power. */
  create(): (row: NewEntity<T>, caller?: Caller) => Promise<Entity<T>>
  /** Makes the mutation that changes a row. Resolves to the changed row, or to undefined if no row has the id. */
  update(): (change: Change<T>, caller?: Caller) => Promise<Entity<T> | undefined>
  /** Makes the mutation that deletes a row. Resolves to its id, or to undefined if no row has it. */
  remove(): (row: Expectation<T>, caller?: Caller) => Promise<{ id: bigint } | undefined>
  /** The methods of its own changes, by their names. */
  changes: Record<string, ChangeMethod<T, object>>
  history: H extends true ? () => (query: HistoryQuery) => Promise<HistoryEntry<T>[]> : unknown
  /** Like {@link BaseStore.revision}, for a collection. On PostgreSQL, a change of another instance shows within a second. */
  revision(): number | undefined
}

/** The mutations that a database derives for a collection. */
export interface DerivedMutations<Create, Change> {
  create: Create
  /** These take the values of `changeMethodOf`. */
  update: Change
  remove: Change
  /** Those of its own, by their names. */
  changes: Record<string, Change>
}

/** What a collection has of its own on a database. */
export interface OwnOn<Mutation, Access, S> {
  /** Every mutation of its own, by its name. */
  writes?: Record<string, Mutation>
  open(access: Access): S
}

/** A collection on a database. */
export interface CollectionOn<T extends Table, Create, Mutation, Access, S>
  extends Required<OwnOn<Mutation, Access & Derived, S>> {
  table: T
  filters: Names
  search?: SearchFields | undefined
  mutations: DerivedMutations<Create, Mutation>
}

/** How a database reads the rows of a collection, and runs its mutations. */
interface Means<Mutation> extends Pick<Derived, 'getBy' | 'count' | 'revision'>, Pick<Reads, 'step' | 'inTurn'> {
  pages(order: PageOrder): ReturnType<Derived['list']>
  /** Makes the function that reads pages of the whole history, the newest first. */
  entries(): Parameters<typeof historyWith>[1]
  run(operation: string, mutation: Mutation): RunMutation
}

/** What both databases derive for a collection, and `replayable` for its own mutations. */
export function derive<Mutation>(
  name: string,
  collection: Omit<CollectionOn<Table, Mutation & { fields: readonly string[] }, Mutation, never, never>, 'open'>,
  { pages, entries, step, inTurn, run, ...means }: Means<Mutation>,
) {
  const { table, filters, search, mutations, writes } = collection
  const runnerOf = (mutation: Mutation) => run(operationOf(name, writes, mutation), mutation)
  const { create, update, remove, changes } = mutations
  const derived: Derived = {
    ...means,
    list: () => pages('oldest'),
    get: () => means.getBy('id'),
    search() {
      const reads = { get: means.getBy('id'), newest: pages('newest'), oldest: pages('oldest'), step, inTurn }
      return searchWith(filters, search, reads)
    },
    create: () => addingMethodOf<Record<string, unknown>, Entity<Table>>(create.fields, runnerOf(create)),
    update: () => changeMethodOf('update', runnerOf(update)),
    remove: () => changeMethodOf('remove', runnerOf(remove)),
    changes: Object.fromEntries(
      Object.entries(changes).map(([name, change]) => [name, changeMethodOf(name, runnerOf(change))]),
    ),
    history: () => historyWith(table, entries()),
  }
  // What it resolves to has the type that the access of the database says.
  const replayable = <Input extends object>(mutation: Mutation & { fields: readonly (keyof Input)[] }) =>
    addingMethodOf<Input, never>(mutation.fields, runnerOf(mutation))
  return { ...derived, replayable }
}
