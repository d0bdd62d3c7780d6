import { type InfiniteData, infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import type { ServiceClient } from '#client'
import { useClient } from '../../client.ts'
import type { Edit, HistoryEntry, Item, Resource } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { addedAgain } from '../drafts.ts'
import { editOf } from '../edits.ts'
import { useResource } from '../page-context.ts'
import { pageAge } from '../queries.ts'
import type { ChangesShown } from '../view.ts'
import { changedFields, type ItemChange, itemChangeOf } from './undone.ts'

/** The number of changes in a page: so many that those of an edit of many items are together. */
const size = 100

/** The changes of an item, or of all items, in pages. What is earlier than a known change is not loaded again. */
export function historyOf(resource: Resource, client: ServiceClient, id?: bigint) {
  const { history } = resource.procedures(client)
  const idName = `${resource.one}Id`
  return infiniteQueryOptions({
    queryKey: [resource.many, 'history', id],
    async queryFn({ pageParam, signal, client: queryClient, queryKey }) {
      const loaded = queryClient.getQueryData<InfiniteData<ItemChange[], bigint>>(queryKey)
      const known = loaded?.pages[loaded.pageParams.indexOf(pageParam)]
      if (known && pageParam) return known
      const input = { ...(id !== undefined && { [idName]: id }), ...(pageParam && { cursor: pageParam }) }
      const changes = (await history?.query({ ...input, limit: size }, { signal })) ?? []
      // Safe: the service names the id of the item for the resource.
      const newest = changes.map((change) => itemChangeOf(change, Reflect.get(change, idName) as bigint))
      return known && known.length >= size ? withKnown(newest, known) : newest
    },
    initialPageParam: 0n,
    getNextPageParam: (last) => (last.length < size ? undefined : last.at(-1)?.id),
    staleTime: pageAge,
    refetchInterval: pageAge,
  })
}

/** The newest changes with those of the former first page, so that the next page begins where it did. */
function withKnown(newest: ItemChange[], known: ItemChange[]): ItemChange[] {
  const last = newest.at(-1)?.id ?? 0n
  // There may be others between them.
  if (newest.every(({ id }) => id !== known[0]?.id)) return newest
  return [...newest, ...known.filter(({ id }) => id < last)]
}

/** The name of the API key that has changed an edited field last, if the service keeps a history. */
export function useAuthor({ seen, set }: Pick<Edit, 'seen' | 'set'>, isWanted: boolean) {
  const enabled = useAccess().hasHistory && isWanted
  const { data, isFetchedAfterMount, failureCount } = useInfiniteQuery({
    ...historyOf(useResource().resource, useClient(), seen.id),
    enabled,
    refetchOnMount: 'always',
  })
  const changes = data?.pages.flat() ?? []
  const change = changes.find(({ after }) => after && (!set || Object.keys(set).some((name) => name in after)))
  return { keyName: change?.keyName, isLoading: enabled && !isFetchedAfterMount && failureCount === 0 }
}

/** Who has removed an item and when, and its last values, if the API key may read the history. */
export function useRemoval(id: bigint, isWanted: boolean) {
  const { isReadOnly, hasHistory } = useAccess()
  const enabled = isWanted && hasHistory && !isReadOnly
  const query = historyOf(useResource().resource, useClient(), id)
  const { data, isFetching, failureCount } = useInfiniteQuery({
    ...query,
    enabled,
    // What is cached may be older.
    staleTime: 0,
    refetchInterval: false,
  })
  const removal = data?.pages[0]?.find(({ kind }) => kind === 'remove')
  // Another component may load the same history.
  return { removal, isLoading: enabled && !removal && isFetching && failureCount === 0 }
}

/** The changes of one action, of several items. An action is shown as one entry. */
export function togetherOf(changes: ItemChange[]): ItemChange[][] {
  const groups = Map.groupBy(changes, (change) =>
    JSON.stringify([change.keyName, change.kind, change.action, changedFields(change)]),
  )
  return [...groups.values()]
}

/** Whether a change is among those that the user wants to see. */
export function isListed({ kind, keyName, at, undo }: ItemChange, { changes, by, until }: ChangesShown): boolean {
  const isOther = changes === (kind === 'remove' ? 'update' : 'remove')
  // The end of the day.
  return !isOther && (!by || by === keyName || by === undo?.keyName) && (!until || at < new Date(`${until}T24:00`))
}

/** Whether changes that are alike are shown as one. */
export function isGroup({ length }: HistoryEntry[]): boolean {
  return length > 2
}

/** Milliseconds between two changes of one action, unless the service was away. */
const maxGap = 5_000

/** Whether changes after those that are loaded may belong to a group, too. */
export function mayGoOn(group: HistoryEntry[], loaded: HistoryEntry[]): boolean {
  const last = group.at(-1)
  const isNear = Number(last?.at) - Number(loaded.at(-1)?.at) < maxGap
  return isNear && last === loaded.findLast(({ keyName }) => keyName === last?.keyName)
}

/**
 * The dialog that adds items again which were removed, as new ones, in the order of their former ids. The idempotency key
 * follows from that id. So each item is added once, also if the user asks for it in several places.
 */
export function additionOf({ many }: Resource, items: Item[]) {
  const edits = items
    .map((seen): Edit => ({ seen, idempotencyKey: `add-again:${many}:${seen.id}`, isAddition: true }))
    .sort((a, b) => (a.seen.id < b.seen.id ? -1 : 1))
  return { kind: 'editMany' as const, edits, same: 0, startsAtOnce: true }
}

export function isAddedAgain({ idempotencyKey }: Edit): boolean {
  return addedAgain.has(idempotencyKey)
}

/** The edit that gives an item the values before a change, unless somebody has changed one of them since then. */
export function formerOf({ entered }: Resource, { itemId, before, after = {}, action }: ItemChange, item?: Item): Edit {
  const names = entered.map(({ name }) => name).filter((name) => name in before || name in after)
  const [former, set] = [before, after].map((values) => Object.fromEntries(names.map((name) => [name, values[name]])))
  return editOf({ ...item, ...set, id: itemId }, former, undefined, action)
}
