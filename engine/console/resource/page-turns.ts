import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type Item, isSearchable, type Resource } from '../resource.ts'
import type { PagedList } from './paged-list.ts'
import type { Queries } from './queries.ts'
import { hrefOfPlace, type Place, readView, type View } from './view.ts'

/** Called with the items of the page that is shown now. */
type OnTurned = (items: Item[]) => void

/** Turns the pages of a list. The functions are undefined if there is no such page. */
export function usePageTurns(
  { resource, queries, view, list }: { resource: Resource; queries: Queries; view: View; list: PagedList },
  turnTo: (place: Partial<Place>, options?: { replace: boolean }) => void,
) {
  const { cursor, size, earlierCursors, before } = view
  const { next, items } = list
  const search = useMutation({ mutationFn: () => queries.previousCursor(view) })
  const turning = useRef<{ cursor: bigint; onTurned: OnTurned }>(undefined)
  useEffect(() => {
    if (!items || turning.current?.cursor !== cursor) return
    const { onTurned } = turning.current
    turning.current = undefined
    onTurned(items)
  }, [items, cursor])

  function turn(to: Partial<Place> & { cursor: bigint }, onTurned: OnTurned | undefined) {
    turning.current = onTurned && { cursor: to.cursor, onTurned }
    // Going back does not lead to a page that is empty.
    turnTo(to, { replace: items?.length === 0 })
  }

  function showPrevious(onTurned?: OnTurned) {
    const previous = earlierCursors.at(-1)
    const beforeThere = before === undefined ? undefined : Math.max(before - size, 0)
    if (previous !== undefined) {
      return turn({ cursor: previous, earlierCursors: earlierCursors.slice(0, -1), before: beforeThere }, onTurned)
    }
    search.mutate(undefined, {
      onSuccess(found) {
        // Unless another page was shown meanwhile.
        if (hrefOfPlace(resource, readView(resource)) === hrefOfPlace(resource, view))
          turn({ cursor: found, before: isSearchable(resource) ? beforeThere : undefined }, onTurned)
      },
    })
  }

  function showNext(onTurned?: OnTurned) {
    if (next === undefined) return
    const beforeThere = before === undefined ? undefined : before + size
    turn({ cursor: next, earlierCursors: [...earlierCursors, cursor], before: beforeThere }, onTurned)
  }

  return {
    showPrevious: cursor > 0n ? showPrevious : undefined,
    showNext: next === undefined ? undefined : showNext,
    isPending: search.isPending,
    error: search.error,
  }
}
