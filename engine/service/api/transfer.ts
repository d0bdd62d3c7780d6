import type { z } from 'zod'
import type { Caller } from '#store'

/** What an export and an import need to know of the items of a collection. */

type Shape = Readonly<Record<string, z.ZodType>>

export interface ItemType<New> {
  /** One item, for messages. */
  name: string
  /** The name of the items, and of the router of their procedures. */
  plural: string
  /** An item. Its fields are the columns of a file, in their order. */
  item: { shape: Shape }
  /** An item without its id, with the rules and the messages of the API. */
  newItem: z.ZodType<New> & { shape: Shape }
}

/** A stored item. An optional field may be absent. */
export type Item = { id: bigint } & Record<string, unknown>

export interface ItemStore<New> {
  list(query: { limit: number; cursor: bigint }): Promise<Item[]>
  create(item: New, caller?: Caller): Promise<unknown>
}

/** Items with commands. An export has the filters of the list. */
export interface Transfer<Store, New> extends ItemType<New> {
  collection(store: Store): ItemStore<New>
}
