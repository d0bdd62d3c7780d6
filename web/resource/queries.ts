import {
  keepPreviousData,
  type QueryClient,
  queryOptions,
  skipToken,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import type { PetstoreClient } from '../../client/index.ts'
import { usePetstore } from '../petstore.ts'
import {
  type Count,
  entriesOf,
  type Item,
  isSearchable,
  type Procedures,
  type Resource,
  type Values,
} from '../resource.ts'
import { maxLimit, type PageCall, type PageInput, pageCalls } from './search.ts'
import type { Place } from './view.ts'

/** Milliseconds between two loads of the list, which show the items that other clients add. */
const pageAge = 15_000
/** Milliseconds between two counts. */
const countAge = 60_000

/** The options of the queries of a resource. The keys of all of them start with its name. */
function queriesOf(resource: Resource, petstore: PetstoreClient) {
  const { many, idName, counted } = resource
  // Without a search, no place needs it.
  const { list, search = list, get, counts }: Procedures = resource.procedures(petstore)
  const operations = { list, search }

  async function load(place: PageInput, signal: AbortSignal): Promise<Item[]> {
    const limit = Math.min(place.size + 1, maxLimit)
    const send = ({ operation, input }: PageCall) => operations[operation].query(input, { signal })
    const [page = [], ...others] = await Promise.all(pageCalls(resource, place, limit).map(send))
    // A text can find the same item in several ways.
    const items = [...new Map([...others.flat(), ...page].map((item) => [item.id, item])).values()]
    const last = page.at(-1)
    if (!last || page.length < limit || items.length > place.size) return items
    const [more] = pageCalls(resource, { ...place, cursor: last.id }, 1)
    return more ? [...items, ...(await send(more))] : items
  }

  return {
    all: { queryKey: [many] },

    /** One page and one more item, which shows whether there is a next page. */
    page: ({ filter, search: text, order, cursor, size }: PageInput) =>
      queryOptions({
        queryKey: [many, 'list', filter, text, order, cursor, size],
        queryFn: ({ signal }) => load({ filter, search: text, order, cursor, size }, signal),
        staleTime: pageAge,
      }),

    /** Loads the cursor of the page that ends with the cursor of another one. */
    async previousCursor(place: PageInput): Promise<bigint> {
      const [call] = pageCalls(resource, place, place.size)
      if (!call) return 0n
      // Without a search, nothing finds the items before an id. At most this many have the ids before it.
      if (!isSearchable(resource)) return place.cursor > place.size ? place.cursor - BigInt(place.size) : 0n
      const opposite = call.operation === 'list' ? 'newest' : 'oldest'
      const before = await search.query({ ...call.input, order: opposite })
      return before[place.size - 1]?.id ?? 0n
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

export type Queries = ReturnType<typeof queriesOf>

function findRow(queryClient: QueryClient, queryKey: string[], id: bigint | undefined) {
  for (const page of queryClient.getQueryCache().findAll({ queryKey })) {
    const item = queryClient.getQueryData<Item[]>(page.queryKey)?.find((each) => each.id === id)
    if (item) return { item, loadedAt: page.state.dataUpdatedAt }
  }
  return undefined
}

export function useQueries(resource: Resource): Queries {
  const petstore = usePetstore()
  return useMemo(() => queriesOf(resource, petstore), [resource, petstore])
}

/** One page of the list. While another page is loaded, `rows` are those of the former one, and `items` is undefined. */
export function usePagedList(queries: Queries, place: Place) {
  const queryClient = useQueryClient()
  const query = useQuery({ ...queries.page(place), placeholderData: keepPreviousData, refetchInterval: pageAge })
  const { filter, search, order, size } = place
  const { data } = query
  const rows = useMemo(() => data?.slice(0, size), [data, size])
  const items = query.isPlaceholderData ? undefined : rows
  /** The cursor of the next page. Undefined if there is none, or while the page is being loaded. */
  const next = items && query.data && query.data.length > size ? items.at(-1)?.id : undefined
  useEffect(() => {
    if (next === undefined) return
    void queryClient.prefetchQuery(queries.page({ filter, search, order, cursor: next, size }))
  }, [queryClient, queries, filter, search, order, size, next])
  return { ...query, rows, items, next }
}

export type PagedList = ReturnType<typeof usePagedList>

export function useItem(queries: Queries, id: bigint | undefined) {
  return useQuery(queries.item(id, useQueryClient()))
}

export type ItemQuery = ReturnType<typeof useItem>

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
export function foundOf({ items, next }: PagedList, { cursor }: Place): Count | undefined {
  return items && next === undefined && cursor === 0n ? { count: items.length, isExact: true } : undefined
}

/** The names of the filtered values for the user, such as `Sold`. Undefined without a filter. */
export function partOf({ fields }: Resource, filter: Values): string | undefined {
  const names = fields.map(({ name, choices = {} }) => choices[String(filter[name])])
  return names.filter((name) => name !== undefined).join(', ') || undefined
}
