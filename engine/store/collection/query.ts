import type { Table } from 'drizzle-orm'
import { type Entity, maxId } from './row.ts'

export type Names = readonly string[]

/** The direction of a page: by ascending or by descending ids. */
export type PageOrder = 'oldest' | 'newest'

/**
 * A page of at most `limit` rows that have the values of all given filters. With the oldest rows first, their ids are greater
 * than `cursor`; with the newest first, they are at most `cursor`. Without `cursor`, it is the first page.
 */
export type PageQuery<T extends Table, Filter extends keyof T['$inferSelect'] = never> = {
  limit: number
  cursor?: bigint | undefined
} & { [Name in Filter]?: T['$inferSelect'][Name] | undefined }

export const firstCursor: Record<PageOrder, bigint> = { oldest: 0n, newest: maxId }

/** Refuses a query with another field of the table, by which nothing would filter. */
export type Only<T extends Table, Allowed> = {
  [Name in Exclude<keyof T['$inferSelect'], Allowed>]?:
    | 'Add the field to filters or search of the collection.'
    | undefined
}

/** The fields of a search besides the filters. A `text` must contain the searched words, a `value` must be the same. */
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
