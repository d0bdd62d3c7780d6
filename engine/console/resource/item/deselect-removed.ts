import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { textOf } from '#service/fields'
import { useClient } from '../../client.ts'
import { topDialog } from '../../components/focus.ts'
import { countOf } from '../../formats.ts'
import { problemOf } from '../../problem.ts'
import type { Item } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { useList, useResource } from '../page-context.ts'
import { removedText } from './edit-text.tsx'
import { historyOf } from './history.ts'

/**
 * Deselects the items that somebody else has removed, and says so: those of the page, and those that the history names.
 *
 * @param changed the id of the item that the notice says is changed: if it was removed, the notice says that instead
 */
export function useDeselectRemoved(say: (text: string) => void, changed: bigint | undefined): void {
  const { resource, queries } = useResource()
  const { list, selection, place } = useList()
  const client = useClient()
  const queryClient = useQueryClient()
  const { isReadOnly, hasHistory } = useAccess()
  const former = useRef<{ place: string; items: Item[] }>(undefined)

  /** An item that is no longer on the page may only have other values. */
  const isGone = ({ id }: Item) =>
    queryClient.fetchQuery({ ...queries.item(id, queryClient), retry: false, staleTime: 0 }).then(
      () => false,
      (error) => problemOf(error).kind === 'missing',
    )

  async function removerOf({ id }: Item): Promise<string | undefined> {
    if (isReadOnly || !hasHistory) return undefined
    const query = { ...historyOf(resource, client, id), staleTime: 0 }
    const history = await queryClient.fetchInfiniteQuery(query).catch(() => undefined)
    return history?.pages[0]?.find(({ kind }) => kind === 'remove')?.keyName
  }

  function deselect(gone: Item[], keyName: string | undefined): void {
    const [only, ...others] = gone
    if (!only) return
    selection.remove(gone)
    const name = textOf(only[resource.title]).trim()
    say(others.length > 0 ? `${countOf(resource, gone.length)} were removed.` : removedText(name, keyName))
  }

  async function check(missing: Item[]): Promise<void> {
    const areGone = await Promise.all(missing.map(isGone))
    const gone = missing.filter((_, index) => areGone[index])
    const [only] = gone
    deselect(gone, gone.length === 1 && only ? await removerOf(only) : undefined)
  }

  // The history knows the removals of what this page of the list does not show.
  const onPage = list.items?.filter(({ id }) => selection.has(id)).length ?? 0
  const enabled = selection.count > onPage && hasHistory && !isReadOnly
  const { data } = useInfiniteQuery({ ...historyOf(resource, client), enabled })
  useEffect(() => {
    if (!enabled || topDialog()) return
    const changes = data?.pages.flat() ?? []
    const removals = new Map(changes.filter(({ kind }) => kind === 'remove').map((change) => [change.itemId, change]))
    const gone = selection.items().filter(({ id }) => removals.has(id))
    deselect(gone, removals.get(gone[0]?.id ?? 0n)?.keyName)
  })

  // After any render: a dialog, which may itself remove the selected items, closes with the page.
  useEffect(() => {
    if (!list.items || topDialog()) return
    const known = former.current?.place === place ? former.current.items : []
    const { items } = list
    former.current = { place, items }
    if (known === items) return
    const shown = new Set(items.map(({ id }) => id))
    // The row of a changed item stays.
    const loaded = new Set(list.data?.items.map(({ id }) => id))
    const missing = known.filter(({ id }) => (id === changed ? !loaded.has(id) : selection.has(id) && !shown.has(id)))
    if (missing.length > 0) void check(missing)
  })
}
