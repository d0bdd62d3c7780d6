import { z } from 'zod'
import { type Fields, historyOutput, removeInput, updateInput } from './change.ts'
import { ApiError } from './errors.ts'
import { Int64, isInt64 } from './int64.ts'
import { AnyId, countsOutput, type Filters, listInput, searchInput, searchOutput } from './page.ts'
import type { ItemStore, ItemType, Transfer } from './transfer.ts'
import { mustBe } from './validation.ts'

/** What the procedures of a resource, such as notes, say of its items. */
interface Items<One extends string, Item, F, L, S> {
  /** One item, such as `note`. An input calls its id `noteId`. */
  one: One
  many: string
  /** The schema of an item. */
  item: Item
  /** The fields that callers can set. */
  fields: F
  /** The filters of a list and of a search. */
  filters?: L
  /** The other fields of a search. */
  search?: S
}

type IdOf<One extends string, Value> = { [Name in `${One}Id`]: Value }

/** Makes the schemas of what goes in and out of the procedures of a resource. */
export function resource<
  One extends string,
  Item extends z.ZodObject<{ id: z.ZodType<bigint> }>,
  F extends Fields,
  L extends Filters = Record<never, never>,
  S extends Filters = Record<never, never>,
>({
  one,
  many,
  item,
  fields,
  // Safe: these types have no fields if they are not inferred from a value.
  filters = {} as L,
  search = {} as S,
}: Items<One, Item, F, L, S>) {
  // Safe: this is the name of the type.
  const named = <Value>(value: Value) => ({ [`${one}Id`]: value }) as IdOf<One, Value>
  const anyId = (description: string) => named(AnyId.meta({ description, examples: [1] }))
  const id = anyId(`Identifier of the ${one}.`)
  const ofOne = Int64.optional().meta({ description: `Returns only changes of this ${one}, also if it was removed.` })
  return {
    /** The id of an item, for the input of another procedure. */
    id,
    listInput: listInput(one, many, filters),
    listOutput: z.array(item),
    getInput: z.object(anyId(`Identifier of the ${one} to retrieve.`), { error: mustBe('an object') }),
    searchInput: searchInput(one, many, { ...filters, ...search }),
    searchOutput: searchOutput(many, item),
    updateInput: updateInput(id, fields),
    removeInput: removeInput(id, fields),
    removeOutput: z.object({ id: item.shape.id }),
    historyInput: listInput('change', 'changes', named(ofOne)),
    historyOutput: historyOutput(named(item.shape.id), fields),
    countsOutput: <Value extends string>(values: readonly Value[], max: number) => countsOutput(many, values, max),
    /** Gives the changes that the store returns the name of the id. */
    historyOf: <Change extends { rowId: bigint }>(changes: Change[]) =>
      changes.map(({ rowId, ...change }) => ({ ...change, ...named(rowId) })),
    /**
     * The items as {@link Service.transfer} lists them.
     *
     * @param newItem an item without its id, with the rules and the messages of the API
     */
    transfer: <Store, New>(
      newItem: ItemType<New>['newItem'],
      collection: (store: Store) => ItemStore<New>,
    ): Transfer<Store, New> => ({ name: one, plural: many, item, newItem, collection }),
    /** Finds or changes the item with an id. `find` returns undefined if there is none. Throws the ApiError `not_found`. */
    async orNotFound<Found>(id: bigint, find: (id: bigint) => Promise<Found | undefined>): Promise<Found> {
      // The message does not repeat the id, which may be cut to 20 digits.
      if (!isInt64(id)) throw new ApiError('not_found', `No ${one} has this id, because it is not a 64-bit integer.`)
      const found = await find(id)
      if (found === undefined) throw new ApiError('not_found', `No ${one} has the id ${id}.`)
      return found
    },
  }
}
