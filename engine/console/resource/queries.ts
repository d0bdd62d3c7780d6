import {
  keepPreviousData,
  type QueryClient,
  queryOptions,
  skipToken,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import type { ServiceClient } from '#client'
import { useClient } from '../client.ts'
import {
  type Count,
  entriesOf,
  type Item,
  isSearchable,
  type Procedures,
  type Resource,
  type Values,
} from '../resource.ts'
import { loadPart, maxLimit, type Start } from './search.ts'
import type { Place } from './view.ts'

/** Milliseconds between two loads of the list, which show the items that other clients add. */
const pageAge = 15_000
/** The number of items that one request compares. */
const maxRepeated = 7_500
/** Milliseconds between two counts. */
const countAge = 60_000

type PageInput = Pick<Place, 'filter' | 'search' | 'order' | 'cursor' | 'size'>

interface PageData {
  /** One more than the page has, if there is a next page. */
  items: Item[]
  /** The number of items that a search has compared. */
  searched: number
  /** Whether these are not all items of the page yet. */
  isSearching: boolean
}

/** The options of the queries of a resource. The keys of all of them start with its name. */
function queriesOf(resource: Resource, client: ServiceClient) {
  const { many, idName, counted } = resource
  const procedures: Procedures = resource.procedures(client)
  const { get, counts } = procedures

  /** Loads a page. While a search goes on, `onPart` gets what it has found. */
  async function load(
    place: Start & { size: number },
    signal: AbortSignal,
    onPart = (_: PageData) => {},
  ): Promise<PageData> {
    let page: PageData = { items: [], searched: 0, isSearching: true }
    let cursor = place.cursor
    for (;;) {
      const limit = Math.min(place.size + 1 - page.items.length, maxLimit)
      const { items, searched, next } = await loadPart(resource, procedures, { ...place, cursor }, limit, { signal })
      page = { items: [...page.items, ...items], searched: page.searched + searched, isSearching: true }
      if (next === undefined || page.items.length > place.size) return { ...page, isSearching: false }
      if (place.search !== undefined) onPart(page)
      if (document.hidden) await shown(signal)
      cursor = next
    }
  }

  return {
    all: { queryKey: [many] },

    /** One page and one more item, which shows whether there is a next page. */
    page: ({ filter, search: text, order, cursor, size }: PageInput) =>
      queryOptions({
        queryKey: [many, 'list', filter, text, order, cursor, size],
        queryFn({ signal, client, queryKey }) {
          const known = client.getQueryData<PageData>(queryKey)
          return load({ filter, search: text, order, cursor, size }, signal, (page) => {
            if (!signal.aborted && (!known || known.isSearching)) client.setQueryData(queryKey, page)
          })
        },
        staleTime: ({ state: { data } }) => maxAgeOf(data),
      }),

    /** Loads the cursor of the page that ends with the cursor of another one. */
    async previousCursor(place: PageInput): Promise<bigint> {
      // Without a search, nothing finds the items before an id. At most this many have the ids before it.
      if (!isSearchable(resource)) return place.cursor > place.size ? place.cursor - BigInt(place.size) : 0n
      const isList = place.search === undefined && place.order === undefined
      const signal = new AbortController().signal
      const before = await load({ ...place, order: isList ? 'newest' : 'oldest' }, signal)
      return before.items[place.size - 1]?.id ?? 0n
    },

    /** Sends no request while the id is undefined. Until the item is loaded, it is the row of a loaded page. */
    item: (id: bigint | undefined, queryClient: QueryClient) => {
      const row = () => findRow(queryClient, [many, 'list'], id)
      return queryOptions({
        queryKey: [many, 'get', id],
        queryFn: id === undefined ? skipToken : ({ signal }) => get.query({ [idName]: id }, { signal }),
        initialData: () => row()?.item,
        initialDataUpdatedAt: () => row()?.loadedAt,
        staleTime: pageAge,
      })
    },

    /** The number of items with each value of the counted field. */
    counts: queryOptions({
      queryKey: [many, 'counts'],
      queryFn:
        counted === undefined || !counts
          ? skipToken
          : // Not in a batch, in which the list would wait for the counts.
            ({ signal }) => counts.query(undefined, { signal, context: { skipBatch: true } }),
      staleTime: countAge,
      refetchInterval: countAge,
    }),
  }
}

/** Milliseconds until a page is loaded again. A search that took several requests is repeated only by the user. */
function maxAgeOf(page: PageData | undefined): number {
  return page && page.searched > maxRepeated ? Number.POSITIVE_INFINITY : pageAge
}

/** Resolves when the window is shown, or the signal is aborted. */
function shown(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const options = { once: true, signal }
  document.addEventListener('visibilitychange', () => resolve(), options)
  signal.addEventListener('abort', () => resolve(), options)
  return promise
}

export type Queries = ReturnType<typeof queriesOf>

function findRow(queryClient: QueryClient, queryKey: string[], id: bigint | undefined) {
  for (const page of queryClient.getQueryCache().findAll({ queryKey })) {
    const item = queryClient.getQueryData<PageData>(page.queryKey)?.items.find((each) => each.id === id)
    if (item) return { item, loadedAt: page.state.dataUpdatedAt }
  }
  return undefined
}

export function useQueries(resource: Resource): Queries {
  const client = useClient()
  return useMemo(() => queriesOf(resource, client), [resource, client])
}

/** One page of the list. While another page is loaded, `rows` are those of the former one, and `items` is undefined. */
export function usePagedList(queries: Queries, place: Place) {
  const queryClient = useQueryClient()
  const query = useQuery({
    ...queries.page(place),
    placeholderData: keepPreviousData,
    refetchInterval({ state: { data } }) {
      const age = maxAgeOf(data)
      return Number.isFinite(age) && age
    },
  })
  const { filter, search, order, size } = place
  const { data } = query
  const rows = useMemo(() => data?.items.slice(0, size), [data, size])
  const items = query.isPlaceholderData ? undefined : rows
  /** The cursor of the next page. Undefined if there is none, or while the page is being loaded. */
  const next = items && data && data.items.length > size ? items.at(-1)?.id : undefined
  useEffect(() => {
    // A search may have to compare all items.
    if (next === undefined || search !== undefined) return
    void queryClient.prefetchQuery(queries.page({ filter, search, order, cursor: next, size }))
  }, [queryClient, queries, filter, search, order, size, next])
  const isSearching = items !== undefined && data?.isSearching === true
  return { ...query, rows, items, next, isSearching }
}

export type PagedList = ReturnType<typeof usePagedList>

export function useItem(queries: Queries, id: bigint | undefined) {
  return useQuery(queries.item(id, useQueryClient()))
}

/** Loads everything again that is shown. Without cancelling, a query would wait for its pending retry. */
export function useRefresh({ all }: Queries): () => void {
  const queryClient = useQueryClient()
  return () => void queryClient.cancelQueries(all).then(() => queryClient.invalidateQueries(all))
}

export type Counts = Readonly<Record<string, Count>>

/** The number of the items that a filter lets through. Undefined until they are counted, or if nothing counts them. */
export function totalOf({ counted }: Resource, counts: Counts | undefined, filter: Values): Count | undefined {
  const entries = entriesOf(filter)
  if (!counts || entries.some(([name]) => name !== counted)) return undefined
  const [wanted] = entries.map(([, value]) => String(value))
  return Object.entries(counts)
    .filter(([value]) => wanted === undefined || value === wanted)
    .map(([, each]) => each)
    .reduce((sum, { count, isExact }) => ({ count: sum.count + count, isExact: sum.isExact && isExact }), {
      count: 0,
      isExact: true,
    })
}

/** The number of the items that a search finds, if its first page shows all of them. */
export function foundOf({ items, next, isSearching }: PagedList, { cursor }: Place): Count | undefined {
  return items && !isSearching && next === undefined && cursor === 0n
    ? { count: items.length, isExact: true }
    : undefined
}

/** The names of the filtered values for the user, such as `Sold`. Undefined without a filter. */
export function partOf({ fields }: Resource, filter: Values): string | undefined {
  const names = fields.map(({ name, choices = {} }) => choices[String(filter[name])])
  return names.filter((name) => name !== undefined).join(', ') || undefined
}
