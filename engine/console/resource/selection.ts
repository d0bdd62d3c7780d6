import { useCallback, useRef, useState } from 'react'
import type { Item } from '../resource.ts'

/** The items that the user has selected. They stay selected while other pages of the list are shown. */
export function useSelection(items: Item[] | undefined) {
  const [selected, setSelected] = useState<ReadonlyMap<bigint, Item>>(new Map())
  /** Where a range starts that is selected with Shift. */
  const anchor = useRef<bigint>(undefined)

  /** Selects or deselects an item. With `isRange`, also those between it and the one that was toggled before. */
  const toggle = useCallback(
    (item: Item, isRange = false) => {
      const shown = items ?? []
      const [start, end] = [anchor.current, item.id].map((id) => shown.findIndex((each) => each.id === id))
      const isPossible = isRange && start !== undefined && end !== undefined && start >= 0 && end >= 0
      const range = isPossible ? shown.slice(Math.min(start, end), Math.max(start, end) + 1) : [item]
      anchor.current = item.id
      setSelected((former) => withItems(former, range, !former.has(item.id)))
    },
    [items],
  )

  return {
    has: (id: bigint) => selected.has(id),
    count: selected.size,

    /** In ascending order of their ids, as they were when they were loaded last. */
    items(): Item[] {
      const shown = new Map(items?.map((item) => [item.id, item]))
      return [...selected.values()].map((item) => shown.get(item.id) ?? item).sort((a, b) => (a.id < b.id ? -1 : 1))
    },

    toggle,

    /** Selects two items next to each other, or deselects the first if both are selected. */
    extend(from: Item, to: Item) {
      anchor.current = to.id
      const areBoth = selected.has(from.id) && selected.has(to.id)
      setSelected((former) => withItems(former, areBoth ? [from] : [from, to], !areBoth))
    },

    add: (more: Item[]) => setSelected((former) => withItems(former, more, true)),
    remove: (gone: Item[]) => setSelected((former) => withItems(former, gone, false)),
    setAll: (isSelected: boolean) => setSelected((former) => withItems(former, items ?? [], isSelected)),
    clear: () => setSelected(new Map()),
  }
}

function withItems(selected: ReadonlyMap<bigint, Item>, changed: Item[], isSelected: boolean): Map<bigint, Item> {
  const next = new Map(selected)
  for (const item of changed) {
    if (isSelected) next.set(item.id, item)
    else next.delete(item.id)
  }
  return next
}

export type Selection = ReturnType<typeof useSelection>
