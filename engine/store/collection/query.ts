import type { Table } from 'drizzle-orm'
import { type Entity, maxId } from './row.ts'

export type Names = readonly string[]

/** The direction of a page: by ascending or by descending ids. */
export type PageOrder = 'oldest' | 'newest'

/**
 * A page of at most `limit` rows. Oldest first, their ids are greater than `cursor`; newest first, they are at most `cursor`.
 * Without a cursor, it is the first page. A filter compares for equality.
 */
export type PageQuery<T extends Table, Filter extends keyof T['$inferSelect'] = never> = {
  limit: number
  cursor?: bigint | undefined
} & { [Name in Filter]?: T['$inferSelect'][Name] | undefined }

export const firstCursor: Record<PageOrder, bigint> = { oldest: 0n, newest: maxId }

/** A query with other fields of the table does not compile, because it would not filter by them. */
export type Only<T extends Table, Allowed> = {
  [Name in Exclude<keyof T['$inferSelect'], Allowed>]?:
    | 'Add the field to filters or search of the collection.'
    | undefined
}

/** A read of pages in one order, by any filters. */
export type PagesOf<T extends Table> = (query: { limit: number; cursor: bigint }) => Promise<Entity<T>[]>

/** The fields of a search besides the filters: by a text anywhere in them in any case, or by a value. */
export type SearchFields = Readonly<Record<string, 'text' | 'value'>>

/** The newest or the oldest rows that match all given fields. */
export type SearchQuery<T extends Table, F extends Names, S extends SearchFields> = {
  limit: number
  order: PageOrder
  /** The id after which the page begins: `next` of the call before. */
  cursor?: bigint | undefined
  id?: bigint | undefined
} & {
  [Name in Extract<F[number] | keyof S, keyof T['$inferSelect']>]?: T['$inferSelect'][Name] | undefined
}

/** What a search has found in the part of the rows that it has read. */
export interface Found<T extends Table> {
  items: Entity<T>[]
  /** The number of rows that were read. */
  searched: number
  /** The `cursor` of the next call, which may find no row. Undefined if none is left. */
  next?: bigint | undefined
}
