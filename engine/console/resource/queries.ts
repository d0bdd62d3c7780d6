import { keepPreviousData, type QueryClient, queryOptions, skipToken } from '@tanstack/react-query'
import type { ServiceClient } from '#client'
import { loadWords } from '../components/value.tsx'
import { capitalized } from '../formats.ts'
import { MissingItem } from '../problem.ts'
import {
  type Count,
  type Edit,
  entriesOf,
  type Field,
  type Item,
  isSearchable,
  type Resource,
  type Values,
} from '../resource.ts'
import { areEqual } from './changes.ts'
import { idsIn, isScan, loadPart, maxLimit, meaningsOf, type Start } from './search.ts'
import type { Place } from './view.ts'

/**
 * Milliseconds from a load of the list to the next one, which shows the items that other clients add. The browser asks with
 * `If-None-Match`, so a list that did not change costs a response without a body.
 */
export const pageAge = 2_000
/** The number of items that a search compares with one request. One that compares more of them is repeated less often. */
const comparedAtOnce = 7_500
/** Milliseconds between two counts of a list that does not change. */
const countAge = 60_000
/** Up to this number, the items that a search finds are counted, with at most so many requests. */
const maxFound = { items: 200, requests: 20 }

type PageInput = Pick<Place, 'filter' | 'search' | 'order' | 'cursor' | 'size'>

interface PageData {
  /** One more than the page has, if there is a next page. */
  items: Item[]
  /** The number of items that a search has compared. */
  searched: number
  /** Whether these are not all items of the page yet. */
  isSearching: boolean
  /** What was searched for in each field. */
  found?: Values | undefined
  /** The first items after the newest one that is known, if they are not on the page. */
  arrived?: Item[]
}

/** The options of the queries of a resource. The keys of all of them start with its name. */
export function queriesOf(resource: Resource, client: ServiceClient) {
  const { many, counted } = resource
  const procedures = resource.procedures(client)
  const { list, search, counts } = procedures
  const countsKey = [many, 'counts']
  // Not below the name of the resource: only what the user adds or sees changes which item is the newest known one.
  const newestKey = ['newest', many]

  /** Loads a page. While a search goes on, `onPart` gets what it has found. */
  async function load(
    place: Start & { size: number },
    signal: AbortSignal,
    onPart = (_: PageData) => {},
    maxRequests = Number.POSITIVE_INFINITY,
  ): Promise<PageData> {
    const { filter, search } = place
    const isPartial = isScan(resource, place)
    const loadingWords = search === undefined ? undefined : loadWords()
    const found = search && Object.assign({}, ...meaningsOf(resource, search, filter), { id: idsIn(search) })
    let page: PageData = { items: [], searched: 0, isSearching: true, found }
    let cursor = place.cursor
    for (let request = 1; ; request++) {
      const limit = Math.min(place.size + 1 - page.items.length, maxLimit)
      const { items, searched, next } = await loadPart(resource, procedures, { ...place, cursor }, limit, { signal })
      await loadingWords
      page = { ...page, items: [...page.items, ...items], searched: page.searched + searched }
      if (next === undefined || page.items.length > place.size) return { ...page, isSearching: false }
      if (request === maxRequests) return page
      if (isPartial) onPart(page)
      if (document.hidden) await shown(signal)
      cursor = next
    }
  }

  /** Whether new items are added to another page than this one. */
  function isElsewhere(place: PageInput, page: PageData | undefined): boolean {
    const { order, cursor, size } = place
    if (!page || isScan(resource, place)) return false
    return order === 'newest' ? cursor > 0n : page.items.length > size
  }

  return {
    /** One page and one more item, which shows whether there is a next page. */
    page: ({ filter, search: text, order, cursor, size }: PageInput) =>
      queryOptions({
        queryKey: [many, 'list', filter, text, order, cursor, size],
        async queryFn({ signal, client, queryKey }): Promise<PageData> {
          const known = client.getQueryData<PageData>(queryKey)
          const place = { filter, search: text, order, cursor, size }
          const newest = isElsewhere(place, known) ? client.getQueryData<bigint>(newestKey) : undefined
          // Both in one request.
          const [page, arrived] = await Promise.all([
            load(place, signal, (part) => {
              if (!signal.aborted && (!known || known.isSearching)) client.setQueryData(queryKey, part)
            }),
            newest === undefined ? [] : list.query({ cursor: newest, limit: maxLimit }, { signal }),
          ])
          if (!known) return { ...page, arrived }
          const isSame = areEqual(known.items, page.items)
          const areSame = arrived.length < maxLimit && areEqual(known.arrived ?? [], arrived)
          if (!isSame || !areSame) {
            for (const queryKey of [countsKey, [many, 'found']]) void client.invalidateQueries({ queryKey })
          }
          // The rows of items that did not change are not rendered again.
          return { ...page, items: isSame ? known.items : page.items, arrived }
        },
        placeholderData: keepPreviousData,
        staleTime: maxAgeOf,
        refetchInterval: maxAgeOf,
      }),

    /** Loads the cursor of the page that ends with the cursor of another one. */
    async previousCursor(place: PageInput): Promise<bigint> {
      // Without a search, nothing finds the items before an id. At most this many have the ids before it.
      if (!isSearchable(resource)) return place.cursor > place.size ? place.cursor - BigInt(place.size) : 0n
      const signal = new AbortController().signal
      const before = await load({ ...place, order: place.order === 'newest' ? 'oldest' : 'newest' }, signal)
      return before.items[place.size - 1]?.id ?? 0n
    },

    /** Sends no request while the id is undefined. Until the item is loaded, it is the row of a loaded page. */
    item: (id: bigint | undefined, queryClient: QueryClient) => {
      const row = () => findRow(queryClient, [many, 'list'], id)
      return queryOptions({
        queryKey: [many, 'item', id],
        queryFn:
          id === undefined
            ? skipToken
            : async ({ signal }): Promise<Item> => {
                const [found] = await list.query(itemCallOf(resource, id).input, { signal })
                if (found?.id !== id) throw new MissingItem()
                return found
              },
        initialData: () => row()?.item,
        initialDataUpdatedAt: () => row()?.loadedAt,
        staleTime: pageAge,
        refetchInterval: pageAge,
      })
    },

    /** The newest id that the user knows of, which is at first that of the newest item. */
    newest: (place: PageInput, page: PageData | undefined) =>
      queryOptions({
        queryKey: newestKey,
        queryFn:
          search && isElsewhere(place, page)
            ? async ({ signal }) => (await search.query({ limit: 1 }, { signal })).items[0]?.id ?? 0n
            : skipToken,
        staleTime: Number.POSITIVE_INFINITY,
      }),

    /** The number of items that a scan finds, and those items. It is not exact if there are more than are counted. */
    found: ({ filter, search: text }: Pick<Place, 'filter' | 'search'>, isWanted: boolean) =>
      queryOptions({
        queryKey: [many, 'found', filter, text],
        queryFn: !isWanted
          ? skipToken
          : async ({ signal }): Promise<Count & { items: Item[] }> => {
              const all = { filter, search: text, cursor: 0n, size: maxFound.items }
              const { items, isSearching } = await load(all, signal, undefined, maxFound.requests)
              const isExact = items.length <= maxFound.items && !isSearching
              return { count: Math.min(items.length, maxFound.items), isExact, items: items.slice(0, maxFound.items) }
            },
        staleTime: Number.POSITIVE_INFINITY,
      }),

    /** The number of items with each value of the counted field. */
    counts: queryOptions({
      queryKey: countsKey,
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

/** Loads again what the user has changed, also the newest id, which the user knows from then on. */
export function invalidate(queryClient: QueryClient, { many }: Resource): void {
  for (const queryKey of [[many], ['newest', many]]) void queryClient.invalidateQueries({ queryKey })
}

/** A list of one item: reading by the id may be deprecated, and a service need not have it. */
export function itemCallOf({ many }: Resource, id: bigint) {
  const input = { ...(id > 1n && { cursor: id - 1n }), limit: 1 }
  return { procedure: `${many}.list`, input, idempotencyKey: undefined }
}

/** Milliseconds until a page is loaded again. */
function maxAgeOf({ state: { data } }: { state: { data: PageData | undefined } }): number {
  return pageAge * Math.max(1, Math.ceil((data?.searched ?? 0) / comparedAtOnce))
}

/** Resolves when the window is shown, or the signal is aborted. */
function shown(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  document.addEventListener('visibilitychange', () => resolve(), { once: true, signal })
  // Without the signal as an option, which would remove the listener before the event.
  signal.addEventListener('abort', () => resolve(), { once: true })
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

export type Counts = Readonly<Record<string, Count>>

/** The number of items with each value of the counted field. It is not exact if these are not all items. */
export function countsOf(
  { counted = '', fields }: Resource,
  { items, isExact }: { items: Item[]; isExact: boolean },
): Counts {
  const choices = Object.keys(fields.find(({ name }) => name === counted)?.choices ?? {})
  const count = (choice: string) => items.filter((item) => String(item[counted]) === choice).length
  return Object.fromEntries(choices.map((choice) => [choice, { count: count(choice), isExact }]))
}

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

/** The names of the filtered values for the user, such as `Sold`. Undefined without a filter. */
export function partOf({ fields }: Resource, filter: Values): string | undefined {
  const names = fields.filter(({ name }) => name in filter).map((field) => nameOf(field, filter[field.name]))
  return names.join(', ') || undefined
}

/** The title of the list, such as `Large toys`, or `Toys` without a filter. */
export function listTitleOf(resource: Resource, filter: Values): string {
  const part = partOf(resource, filter)
  return part ? `${part} ${resource.many}` : capitalized(resource.many)
}

/** The name of a filtered value for the user, such as `Large` or `Size 7`. */
export function nameOf({ label, choices }: Field, value: unknown): string {
  return choices?.[String(value)] ?? `${label} ${value}`
}

/** The counts after edits that they do not know of yet. */
export function countsWith({ counted = '' }: Resource, counts: Counts, edits: Edit[]): Counts {
  const changed = { ...counts }
  function add(change: number, item: Values = {}) {
    const value = String(item[counted])
    const former = changed[value]
    if (former) changed[value] = { ...former, count: former.count + change }
  }
  for (const { seen, set } of edits) {
    add(-1, seen)
    add(1, set && { ...seen, ...set })
  }
  return changed
}
