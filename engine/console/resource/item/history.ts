import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import type { ServiceClient } from '#client'
import { useClient } from '../../client.ts'
import { type Change, type Edit, type Item, isSame, type Resource, type Values } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { editOf } from '../edits.ts'
import { useResource } from '../page-context.ts'
import { pageAge } from '../queries.ts'
import type { ChangesShown } from '../view.ts'

/** A change with the id of its item. */
export type ItemChange = Change & { itemId: bigint }

/** Milliseconds from a load of the history to the next one. */
const maxAge = 4_000
/** The number of changes in a page: so many that those of an edit of many items are together. */
const size = 100

/** The changes of an item, or of all items, in pages. */
export function historyOf(resource: Resource, client: ServiceClient, id?: bigint) {
  const { history } = resource.procedures(client)
  const idName = `${resource.one}Id`
  return infiniteQueryOptions({
    queryKey: [resource.many, 'history', id],
    async queryFn({ pageParam, signal }) {
      const input = { ...(id !== undefined && { [idName]: id }), ...(pageParam && { cursor: pageParam }) }
      const changes = (await history?.query({ ...input, limit: size }, { signal })) ?? []
      // Safe: the service names the id of the item for the resource.
      return changes.map((change) => ({ ...change, itemId: Reflect.get(change, idName) as bigint }))
    },
    initialPageParam: 0n,
    getNextPageParam: (last) => (last.length < size ? undefined : last.at(-1)?.id),
    staleTime: pageAge,
    // Each of its pages is a request.
    refetchInterval: ({ state }) => maxAge * (state.data?.pages.length ?? 1),
  })
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
  return { removal, isLoading: !removal && isFetching && failureCount === 0 }
}

/** Milliseconds between two changes that are shown as one. */
const maxGap = 2_000

/** Changes of several items at about the same time that do the same with the same key, as an edit of many items does. */
export function togetherOf(changes: ItemChange[]): ItemChange[][] {
  const together: { group: ItemChange[]; ids: Set<bigint> }[] = []
  for (const change of changes) {
    const known = together.find(({ group, ids }) => isAlike(group.at(-1) ?? change, change) && !ids.has(change.itemId))
    const entry = known ?? { group: [], ids: new Set() }
    if (!known) together.push(entry)
    entry.group.push(change)
    entry.ids.add(change.itemId)
  }
  return together.map(({ group }) => group)
}

/** Whether a change is among those that the user wants to see. */
export function isListed({ kind, keyName, at }: Change, { changes, by, until }: ChangesShown): boolean {
  const isOther = changes === (kind === 'remove' ? 'update' : 'remove')
  // The end of the day.
  return !isOther && (!by || by === keyName) && (!until || at < new Date(`${until}T24:00`))
}

/** Whether changes that are alike are shown as one. */
export function isGroup({ length }: Change[]): boolean {
  return length > 2
}

/** Whether the changes after those that are loaded may belong to a group, too. */
export function mayGoOn(group: Change[], loaded: Change[]): boolean {
  return Number(group.at(-1)?.at) - Number(loaded.at(-1)?.at) < maxGap
}

/** Whether later changes have given all items of others their former values. */
export function undoes(later: ItemChange[], changes: ItemChange[]): boolean {
  const [last, first] = [later[0], changes[0]]
  if (!last?.after || !first?.after || !areSame(last.before, first.after) || !areSame(last.after, first.before))
    return false
  const ids = new Set(later.map(({ itemId }) => itemId))
  return changes.every(({ itemId }) => ids.has(itemId))
}

function isAlike(one: Change, other: Change): boolean {
  return (
    one.kind === other.kind &&
    one.keyName === other.keyName &&
    Number(one.at) - Number(other.at) < maxGap &&
    (one.kind === 'remove' || (areSame(one.before, other.before) && areSame(one.after, other.after)))
  )
}

function areSame(some: Values = {}, others: Values = {}): boolean {
  return Object.keys({ ...some, ...others }).every((name) => isSame(some[name], others[name]))
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

/** The idempotency keys of the items that this tab has added again. */
export const addedAgain = new Set<string>()

export function isAddedAgain({ idempotencyKey }: Edit): boolean {
  return addedAgain.has(idempotencyKey)
}

/** The edit that gives an item the values before a change, unless somebody has changed one of them since then. */
export function formerOf({ entered }: Resource, { itemId, before, after = {} }: ItemChange, item?: Item): Edit {
  const names = entered.map(({ name }) => name).filter((name) => name in before || name in after)
  const [former, set] = [before, after].map((values) => Object.fromEntries(names.map((name) => [name, values[name]])))
  return editOf({ ...item, ...set, id: itemId }, former)
}
