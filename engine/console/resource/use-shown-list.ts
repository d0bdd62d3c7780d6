import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { focusedRow, rowOf } from '../components/focus.ts'
import { problemOf } from '../problem.ts'
import { putFirst } from '../requests/log.ts'
import { type Edit, type Field, type Item, isSame, type Resource, type Values } from '../resource.ts'
import { together } from './edit-key.ts'
import { type Edits, editOf, useEdits, withEdits } from './edits.ts'
import type { Navigation } from './navigation.ts'
import { usePageTurns } from './page-turns.ts'
import { isIncluded, type PagedList, usePagedList } from './paged-list.ts'
import { itemCallOf, type Queries } from './queries.ts'
import { maxLimit, pageCalls } from './search.ts'
import { useSelection } from './selection.ts'
import { hrefOfPlace, pageWith, readView, useResourceView, type View } from './view.ts'

/** The part of the list that the URL says, what is selected, and what moves to other items of it. */
export function useShownList(
  resource: Resource,
  { queries, edits, open, closePanel, turnTo }: Navigation & { queries: Queries; edits: Edits },
) {
  const view = useResourceView(resource)
  const place = hrefOfPlace(resource, view)
  const states = useEdits(resource)
  const list = usePagedList({ resource, queries }, view, states, place)
  const selection = useSelection(list.items)
  // The only observer of the item: one that is mounted after a failure would repeat the request.
  const loaded = useQuery(queries.item(view.item, useQueryClient()))
  const item = { ...loaded, data: loaded.data && withEdits(loaded.data, states) }
  /** The field of an item, or of all selected ones, for whose value a menu is open. */
  const [menu, openMenu] = useState<{ id: bigint | 'selection'; field: Field }>()
  const turns = usePageTurns({ resource, queries, view, list }, turnTo)

  /** The item that the panel opens in editing. */
  const [toEdit, setToEdit] = useState<bigint>()
  const inPanel = view.isAdding ? undefined : view.item
  // When it is opened again, it is only shown.
  useEffect(() => setToEdit((id) => (id === inPanel ? id : undefined)), [inPanel])

  function openToEdit(id: bigint) {
    setToEdit(id)
    open({ kind: 'item', id })
  }

  /** Moves to another item, also on the next page: in the panel if it is open, otherwise with the focus. */
  function move(step: 1 | -1) {
    const items = list.items ?? []
    const focused = focusedRow(list.rows)
    const id = focused?.id ?? view.item
    const next = neighborOf(items, view, id, step)
    const isFocused = view.item === undefined || focused !== undefined
    if (next !== undefined) return goTo(next, isFocused)
    const turn = step === 1 ? turns.showNext : turns.showPrevious
    // The panel may show an item of a page that is far away.
    if (items.some((each) => each.id === id)) turn?.((others) => goTo(others.at(step === 1 ? 0 : -1)?.id, isFocused))
  }

  /** Also called when another page is loaded, after which the view is another one. */
  function goTo(id: bigint | undefined, isFocused: boolean) {
    if (id === undefined) return
    if (readView(resource).item !== undefined) open({ kind: 'item', id })
    const row = rowOf(id)
    if (isFocused) row?.focus()
    row?.scrollIntoView({ block: 'nearest' })
  }

  /** Moves the focus to the next row, and selects the rows between. Going back deselects them. */
  function extend(step: 1 | -1) {
    const items = list.items ?? []
    const from = focusedRow(items)
    const to = from && items[items.indexOf(from) + step]
    if (!to) return
    selection.extend(from, to)
    rowOf(to.id)?.focus()
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: the view also changes with the panel.
  useEffect(() => {
    const calls = pageCalls(resource, view, Math.min(view.size + 1, maxLimit))
    // One item more shows whether there is a next page.
    for (const { operation, input } of calls.reverse())
      putFirst(`${resource.many}.${operation}`, input, { ...input, limit: view.size })
  }, [resource, place])
  useEffect(() => {
    if (view.item === undefined) return
    const { procedure, input } = itemCallOf(resource, view.item)
    putFirst(procedure, input)
  }, [resource, view.item])

  useShownItem(view, list, item.data, (id) => {
    if (list.items?.some((each) => each.id === id)) rowOf(id)?.scrollIntoView({ block: 'nearest' })
    // The rows of a search may have any order.
    else if (view.search === undefined) turnTo(pageWith(id, view), { replace: true })
  })

  /** Saves other values of an item. `former` is the edit that gives it former ones. */
  function edit(seen: Item, set: Values, former?: Edit) {
    if (Object.entries(set).every(([name, value]) => isSame(seen[name], value))) return
    const isListed = list.items?.some(({ id }) => id === seen.id)
    edits.save({ ...editOf(seen, set), ...former, place: isListed ? place : undefined })
  }

  /** Removes an item, and moves on to the next one. */
  function remove(seen: Item) {
    const items = list.items ?? []
    const index = items.findIndex(({ id }) => id === seen.id)
    const neighbor = index === -1 ? undefined : (items[index + 1] ?? items[index - 1])
    const isFocused = focusedRow(items) !== undefined
    // The panel keeps another item.
    if (inPanel !== undefined && inPanel !== seen.id) isFocused && neighbor && rowOf(neighbor.id)?.focus()
    else if (neighbor) goTo(neighbor.id, isFocused)
    else if (inPanel === seen.id) closePanel()
    selection.remove([seen])
    edits.save(editOf(seen))
  }

  /** Removes all selected items, after a question if they are more than one. */
  function removeSelected() {
    const [item, ...others] = selection.items()
    if (item && others.length === 0) return remove(item)
    const edits = together(selection.items().map((item) => editOf(item, undefined, place)))
    open({ kind: 'editMany', edits, same: 0 })
  }

  /** The item of the row that has the focus, or else of the panel. */
  function current(): Item | undefined {
    const isMissing = item.failureReason && problemOf(item.failureReason).kind === 'missing'
    return focusedRow(list.items) ?? (inPanel === undefined || isMissing ? undefined : item.data)
  }

  /** What keys change: the selected items if there are several and the focus is not in the panel, or else the current one. */
  function target(): Item | 'selection' | undefined {
    const isInPanel = inPanel !== undefined && !document.activeElement?.closest('.list')
    return selection.count > 1 && !isInPanel ? 'selection' : current()
  }

  return {
    view,
    place,
    list,
    item,
    states,
    selection,
    turns,
    move,
    extend,
    edit,
    remove,
    removeSelected,
    current,
    target,
    toEdit,
    openToEdit,
    menu,
    openMenu,
  }
}

export type ShownList = ReturnType<typeof useShownList>

/** The id of the item after or before another one, which may be on another page. */
export function neighborOf(
  items: Item[],
  { search, order }: View,
  id: bigint | undefined,
  step: 1 | -1,
): bigint | undefined {
  const index = items.findIndex((each) => each.id === id)
  if (index !== -1) return items[index + step]?.id
  if (id === undefined || search !== undefined) return items[0]?.id
  const isAfter = (each: Item) => (order === 'newest' ? each.id < id : each.id > id)
  return step === 1 ? items.find(isAfter)?.id : items.findLast((each) => !isAfter(each))?.id
}

/** Calls a function once for each item that is opened, as soon as it and the list are loaded, if the filter has it. */
function useShownItem(view: View, { items }: PagedList, item: Item | undefined, onShown: (id: bigint) => void): void {
  const shown = useRef<bigint>(undefined)
  const isLoaded = items !== undefined && item !== undefined && item.id === view.item
  const isListed = isLoaded && isIncluded(view.filter, item)
  useEffect(() => {
    if (view.item !== undefined && !isLoaded) return
    const isNew = shown.current !== view.item
    shown.current = view.item
    if (isNew && isListed && view.item !== undefined) onShown(view.item)
  }, [view.item, isLoaded, isListed, onShown])
}
