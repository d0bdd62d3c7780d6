import {
  type Field,
  type Found,
  isCompared,
  type Procedures,
  parseInt64,
  type Resource,
  type Values,
} from '../resource.ts'
import { type Place, parseId } from './view.ts'

/** The largest `limit` of a list and of a search. */
export const maxLimit = 100

/** Where a page begins, and what it has. */
export type Start = Pick<Place, 'filter' | 'search' | 'cursor'> & { order?: 'newest' | 'oldest' | undefined }

interface PageCall {
  operation: 'list' | 'search'
  input: Values & { cursor?: bigint; limit: number }
}

/** Whether the service compares items with what is wanted, a bounded number for each request, because no index has them. */
export function isScan({ fields }: Resource, { filter, search }: Pick<Place, 'filter' | 'search'>): boolean {
  return search !== undefined || fields.some((field) => isCompared(field) && field.name in filter)
}

/** The calls that load items after the cursor: one for each thing that the text of a search may be. */
export function pageCalls(resource: Resource, start: Start, limit: number): PageCall[] {
  const { filter, search, order = 'oldest', cursor } = start
  const page = { ...filter, ...(cursor > 0n && { cursor }), limit }
  if (!isScan(resource, start) && order === 'oldest') return [{ operation: 'list', input: page }]
  const meanings = search === undefined ? [{}] : meaningsOf(resource, search, filter)
  return meanings
    .filter(({ id }) => id === undefined || cursor === 0n)
    .map((meaning) => ({ operation: 'search', input: { ...page, order, ...meaning } }))
}

/**
 * Loads the items after the cursor as far as one request looks. The items whose ids the user searches for come first, the
 * others have the order of their ids.
 */
export async function loadPart(
  resource: Resource,
  { list, search }: Pick<Procedures, 'list' | 'search'>,
  start: Start,
  limit: number,
  options: { signal: AbortSignal },
): Promise<Found> {
  const load = async ({ operation, input }: PageCall): Promise<Found> => {
    if (search && operation === 'search') return search.query(input, options)
    const items = await list.query(input, options)
    return { items, searched: 0, next: items[limit - 1]?.id }
  }
  const calls = pageCalls(resource, start, limit)
  const found = await Promise.all(calls.map(load))
  const byId = found.filter((_, call) => calls[call]?.input.id !== undefined).flatMap(({ items }) => items)
  const others = found.filter((_, call) => calls[call]?.input.id === undefined)
  const joined = join(others, (one, other) => (start.order === 'newest' ? one > other : one < other))
  const ids = idsIn(start.search ?? '')
  return { ...joined, items: [...byId, ...joined.items.filter(({ id }) => !ids.includes(id))] }
}

/** Joins what several calls have found, as far as all of them have looked. */
function join(found: Found[], isBefore: (one: bigint, other: bigint) => boolean): Found {
  const ends = found.filter(({ next }) => next !== undefined)
  const end = ends.find(({ next = 0n }) => !ends.some((other) => isBefore(other.next ?? 0n, next)))
  const { next, searched } = end ?? { next: undefined, searched: Math.max(0, ...found.map((each) => each.searched)) }
  const items = [...new Map(found.flatMap((each) => each.items).map((item) => [item.id, item])).values()]
    .filter(({ id }) => next === undefined || !isBefore(next, id))
    .sort((one, other) => (isBefore(one.id, other.id) ? -1 : 1))
  return { items, searched, next }
}

/** The id that a text may be. The console shows ids with a number sign, so they can be entered with it. */
export function idIn(text: string): bigint | undefined {
  return parseId(text.trim().replace(/^#/, ''))
}

/** The ids that a text lists, as many as the smallest page has items. None if it has other words. */
export function idsIn(text: string): bigint[] {
  const ids = text
    .trim()
    .split(/[\s,;]+/)
    .map(idIn)
  return ids.length <= 20 && ids.every((id) => id !== undefined) ? [...new Set(ids)] : []
}

/** What a text that was searched for may be, as inputs of the search. */
export function meaningsOf({ fields }: Resource, typed: string, filter: Values = {}): Values[] {
  const text = typed.trim()
  const integer = parseInt64(text)
  return fields.flatMap((field): Values[] => {
    const { name, kind, isSearched } = field
    // Another value would replace the filter.
    if (name in filter) return []
    if (kind === 'id') return idsIn(text).map((id) => ({ [name]: id }))
    if (!isSearched) return []
    if (kind === 'text') return isPossible(field, typed) ? [{ [name]: typed }] : []
    return integer === undefined ? [] : [{ [name]: integer }]
  })
}

/** Whether a text of the field can contain this text. The service refuses others. */
function isPossible({ maxLength = 0 }: Field, text: string): boolean {
  return text.trim() !== '' && [...text].length <= maxLength && !/\p{Cc}|\p{Cs}/u.test(text)
}
