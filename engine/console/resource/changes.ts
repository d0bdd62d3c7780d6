import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { type Item, isSame } from '../resource.ts'

/** Milliseconds for which a change stays marked. */
const shownFor = 8_000

const none: ReadonlyMap<bigint, { isOwn: boolean }> = new Map()

/** The items that were added or changed since the page was loaded before, by their ids, and whether the user did that. */
export function useChanges(place: string, page: Item[] | undefined, size: number, isOwn: (item: Item) => boolean) {
  const [changes, setChanges] = useState(none)
  const former = useRef<{ place: string; page: Item[] }>(undefined)
  const isOwnNow = useEffectEvent(isOwn)

  useEffect(() => {
    if (!page) return
    const known = former.current?.place === place ? former.current.page : undefined
    former.current = { place, page }
    if (!known) return setChanges(none)
    const found = changesOf(known, page, size)
    if (found.length > 0) setChanges(new Map(found.map((item) => [item.id, { isOwn: isOwnNow(item) }])))
  }, [place, page, size])

  useEffect(() => {
    if (changes.size === 0) return
    const timer = setTimeout(() => setChanges(none), shownFor)
    return () => clearTimeout(timer)
  }, [changes])
  return changes
}

/** The items of a page that are new or different, compared with the same page before. */
export function changesOf(former: Item[], page: Item[], size: number): Item[] {
  const known = new Map(former.map((item) => [item.id, item]))
  const lastKnown = page.findLastIndex(({ id }) => known.has(id))
  // After a removal, items of the next page follow, which are not new. The removal may have taken the one more that is loaded.
  const wasFull = former.length >= size
  return page.filter((item, index) => {
    const same = known.get(item.id)
    return same ? !isEqual(same, item) : index < lastKnown || !wasFull
  })
}

/** Whether two lists have equal items in the same order. */
export function areEqual(some: Item[], others: Item[]): boolean {
  return some.length === others.length && some.every((item, index) => isEqual(item, others[index] ?? item))
}

function isEqual(one: Item, other: Item): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => isSame(one[name], other[name]))
}
