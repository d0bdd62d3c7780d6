import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { type Count, entriesOf, type Item, type Resource, type Values } from '../../resource.ts'
import type { Queries } from '../queries.ts'
import { isScan } from '../search.ts'
import type { Place } from '../view.ts'

/** One page of the list. While another page is loaded, `rows` are those of the former one, and `items` is undefined. */
export function usePagedList(resource: Resource, queries: Queries, place: Place) {
  const queryClient = useQueryClient()
  const query = useQuery(queries.page(place))
  const { filter, search, order, size } = place
  const isScanned = isScan(resource, place)
  const { data } = query
  const rows = useMemo(() => data?.items.slice(0, size), [data, size])
  const items = query.isPlaceholderData ? undefined : rows
  /** The cursor of the next page. Undefined if there is none, or while the page is being loaded. */
  const next = items && data && data.items.length > size ? items.at(-1)?.id : undefined
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
  return { ...query, isScanned, rows, items, next, isSearching, found, newest, arrived: (items && arrived) ?? [] }
}

export type PagedList = ReturnType<typeof usePagedList>

/** Whether a filter lets an item through. */
export function isIncluded(filter: Values, item: Item): boolean {
  return entriesOf(filter).every(([name, value]) => item[name] === value)
}

/** The number of the items that a scan finds. Undefined until they are counted. */
export function foundOf({ items, next, isSearching, found }: PagedList, { cursor }: Place): Count | undefined {
  const isWhole = items && !isSearching && next === undefined && cursor === 0n
  return isWhole ? { count: items.length, isExact: true } : found
}
