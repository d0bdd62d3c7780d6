import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useReducer } from 'react'
import { type Count, entriesOf, type Item, isSame, type Resource, type Values } from '../resource.ts'
import { type EditState, withEdits } from './edits.ts'
import type { Queries } from './queries.ts'
import { isScan } from './search.ts'
import type { Place } from './view.ts'

/**
 * One page of the list. While another page is loaded, `rows` are those of the former one, and `items` is undefined.
 *
 * @param edits what the user does to items, which the rows show at once
 * @param href of the place
 */
export function usePagedList(
  { resource, queries }: { resource: Resource; queries: Queries },
  place: Place,
  edits: EditState[],
  href: string,
) {
  const queryClient = useQueryClient()
  const query = useQuery(queries.page(place))
  const { filter, search, order, size } = place
  const isScanned = isScan(resource, place)
  const { data } = query
  const loaded = useMemo(() => data?.items.slice(0, size), [data, size])
  const [releases, release] = useReducer((count: number) => count + 1, 0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the time from which the user sees this place.
  const shownAt = useMemo(() => Date.now(), [href, releases])
  const held = useMemo(
    () => edits.filter(({ edit, submittedAt }) => (!edit.set || edit.place === href) && submittedAt >= shownAt),
    [edits, href, shownAt],
  )
  const rows = useMemo(
    () => loaded && withHeld(loaded, held).flatMap((item) => withEdits(item, edits) ?? []),
    [loaded, held, edits],
  )
  const items = query.isPlaceholderData ? undefined : rows
  /** The cursor of the next page. Undefined if there is none, or while the page is being loaded. */
  const next = items && data && data.items.length > size ? loaded?.at(-1)?.id : undefined
  useEffect(() => {
    // A scan may have to compare all items.
    if (next === undefined || isScanned) return
    void queryClient.prefetchQuery(queries.page({ filter, search, order, cursor: next, size }))
  }, [queryClient, queries, filter, search, order, size, next, isScanned])
  const isSearching = items !== undefined && data?.isSearching === true
  const isCounted = next !== undefined && !isSearching
  const found = useQuery(queries.found(place, isScanned && isCounted)).data

  const newest = useQuery(queries.newest(place, items && data)).data
  const last = items?.reduce((id, item) => (item.id > id ? item.id : id), 0n) ?? 0n
  useEffect(() => {
    if (newest !== undefined && last > newest) queryClient.setQueryData(queries.newest(place, undefined).queryKey, last)
  }, [queryClient, queries, place, newest, last])
  const arrived = data?.arrived?.filter((item) => newest !== undefined && item.id > newest && isIncluded(filter, item))
  return {
    ...query,
    isScanned,
    rows,
    items,
    next,
    isSearching,
    found,
    newest,
    arrived: (items && arrived) ?? [],
    /** The number of the items of the place, without those that have left it or are being removed. */
    count: items && loaded?.filter((item) => withEdits(item, edits)).length,
    /** Lets the rows go that have left the place, as if the user had moved on. */
    release,
    /** Whether an item has left the place by an edit. Its row stays until the user moves on. */
    hasLeft: (item: Item) => !isIncluded(filter, item) || loaded?.every(({ id }) => id !== item.id) === true,
  }
}

export type PagedList = ReturnType<typeof usePagedList>

/** The items of a page, with those that have left it by an edit. */
function withHeld(loaded: Item[], edits: EditState[]): Item[] {
  const held = new Map<bigint, Item>()
  for (const { edit, status } of edits) {
    const { seen, set } = edit
    if (!set && status !== 'error') held.delete(seen.id)
    else if (set && status !== 'error') held.set(seen.id, { ...seen, ...set })
  }
  for (const { id } of loaded) held.delete(id)
  if (held.size === 0) return loaded
  const [first, last] = [loaded[0]?.id ?? 0n, loaded.at(-1)?.id ?? 0n]
  const direction = first > last ? -1 : 1
  return [...loaded, ...held.values()].sort((a, b) => (a.id < b.id ? -direction : direction))
}

/** Whether a filter lets an item through. */
export function isIncluded(filter: Values, item: Item): boolean {
  return entriesOf(filter).every(([name, value]) => isSame(item[name], value))
}

/** Whether the page has all items of the place. */
export function isWhole({ items, next, isSearching }: PagedList, { cursor }: Place): boolean {
  return items !== undefined && !isSearching && next === undefined && cursor === 0n
}

/** The number of the items that a scan finds. Undefined until they are counted. */
export function foundOf(list: PagedList, place: Place): Count | undefined {
  const { count, found } = list
  return count !== undefined && isWhole(list, place) ? { count, isExact: true } : found
}
