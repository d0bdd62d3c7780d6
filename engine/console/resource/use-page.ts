import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { importDrafts } from '../bulk/drafts.ts'
import { navigateBelowDialogs } from '../history.ts'
import { putFirst } from '../requests/log.ts'
import { type Item, isSearchable, type Resource } from '../resource.ts'
import { textsOf } from '../texts/page.ts'
import { useNewItem } from './item/new-item.ts'
import { usePageTurns } from './list/page-turns.ts'
import { useSelection } from './list/selection.ts'
import { isIncluded, type PagedList, useItem, usePagedList, useQueries } from './queries.ts'
import { maxLimit, pageCalls } from './search.ts'
import {
  firstPage,
  hrefOfPlace,
  type Place,
  pageWith,
  readView,
  rememberFilter,
  show,
  useResourceView,
  type View,
} from './view.ts'

/**
 * What is above the list. An item and the form for a new one are a panel beside it, which the URL contains. The others are
 * dialogs above both.
 */
export type Overlay =
  | { kind: 'item'; id: bigint }
  | { kind: 'add' }
  | { kind: 'import'; file?: File }
  | { kind: 'export' }
  | { kind: 'help' }

type Sheet = Exclude<Overlay, { kind: 'item' | 'add' }>

/** The state of the page of a resource, and what its parts can do. */
export function usePageState(resource: Resource, icon: ReactNode) {
  const texts = useMemo(() => textsOf(resource), [resource])
  const queries = useQueries(resource)
  const view = useResourceView(resource)
  const list = usePagedList(queries, view)
  const selection = useSelection(list.items)
  const item = useItem(queries, view.item)
  const counts = useQuery(queries.counts).data
  // The draft of a session whose key was rejected continues.
  const [sheet, setSheet] = useState<Sheet | undefined>(() =>
    importDrafts.get(resource.many)?.isOpen ? { kind: 'import' } : undefined,
  )
  const [added, setAdded] = useState<Item[]>([])
  const newItem = useNewItem(resource, (each) => setAdded((others) => [each, ...others]))
  const heading = useRef<HTMLHeadingElement>(null)
  const panelElement = useRef<HTMLElement>(null)
  const firstField = useRef<HTMLInputElement>(null)
  const rows = useRef(new Map<bigint, HTMLElement>())
  const { forgetFailure } = newItem

  /**
   * Opens an overlay. A panel replaces the one that is open, also in the history. With a place, the list shows another
   * part of it, and going back leads to the former one. The function stays the same, so that the rows are not rendered again.
   */
  const open = useCallback(
    (overlay: Overlay, place?: Partial<Place>) => {
      if (overlay.kind !== 'item' && overlay.kind !== 'add') return setSheet(overlay)
      navigateBelowDialogs(() => {
        const current = readView(resource)
        const isAdding = overlay.kind === 'add'
        if (isAdding) firstField.current?.focus()
        else if (current.isAdding) forgetFailure()
        const shown = overlay.kind === 'item' ? overlay.id : current.item
        if (isAdding === current.isAdding && shown === current.item && !place) return
        const hasPanel = panelOf(current) !== undefined
        const isOverList = !place && (current.isOverList || !hasPanel)
        show(
          resource,
          { ...current, ...place, item: shown, isAdding, isOverList },
          { replace: (hasPanel || current.isOverList) && !place },
        )
      })
    },
    [resource, forgetFailure],
  )

  function closePanel() {
    navigateBelowDialogs(() => {
      const current = readView(resource)
      if (current.isAdding) forgetFailure()
      if (current.isAdding && current.item !== undefined) closeForm()
      else if (current.isOverList) history.back()
      else show(resource, { ...current, item: undefined, isAdding: false }, { replace: true })
    })
  }

  /** Shows what is below the form, if it is still open. It does not go back, because the user may do that meanwhile. */
  function closeForm() {
    navigateBelowDialogs(() => {
      const current = readView(resource)
      if (current.isAdding) show(resource, { ...current, isAdding: false }, { replace: true })
    })
  }

  /** Shows another part of the list, by default the start of this one. The panel stays open. */
  function turnTo(place: Partial<Place>, { replace = false } = {}) {
    navigateBelowDialogs(() => {
      const next = { ...readView(resource), ...firstPage, ...place, isOverList: false }
      if ('filter' in place || 'order' in place) rememberFilter(resource, next)
      show(resource, next, { replace })
    })
  }

  /** Called when another page is loaded. It is updated before that. */
  const latestGoTo = useRef(goTo)
  useEffect(() => {
    latestGoTo.current = goTo
  })
  const turns = usePageTurns({ resource, queries, view, list }, turnTo)

  /** The id of the item whose row has the focus. */
  function focusedId(): bigint | undefined {
    return [...rows.current].find(([, link]) => link === document.activeElement)?.[0]
  }

  /** Moves to another item, also on the next page: in the panel if it is open, otherwise with the focus. */
  function move(step: 1 | -1) {
    const items = list.items ?? []
    const focused = focusedId()
    const id = view.item ?? focused
    const next = neighborOf(items, view, id, step)
    const isFocused = view.item === undefined || focused !== undefined
    if (next !== undefined) return goTo(next, isFocused)
    const turn = step === 1 ? turns.showNext : turns.showPrevious
    // The panel may show an item of a page that is far away.
    if (items.some((each) => each.id === id))
      turn?.((others) => latestGoTo.current(others.at(step === 1 ? 0 : -1)?.id, isFocused))
  }

  function goTo(id: bigint | undefined, isFocused: boolean) {
    if (id === undefined) return
    if (view.item !== undefined) open({ kind: 'item', id })
    const row = rows.current.get(id)
    if (isFocused) row?.focus()
    row?.scrollIntoView({ block: 'nearest' })
  }

  /** Moves the focus to the next row, and selects the rows between. Going back deselects them. */
  function extend(step: 1 | -1) {
    const items = list.items ?? []
    const index = items.findIndex(({ id }) => id === focusedId())
    const [from, to] = [items[index], items[index + step]]
    if (!from || !to) return
    selection.extend(from, to)
    rows.current.get(to.id)?.focus()
  }

  const place = hrefOfPlace(resource, view)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view also changes with the panel.
  useEffect(() => {
    const calls = pageCalls(resource, view, Math.min(view.size + 1, maxLimit))
    for (const { operation, input } of calls.reverse()) putFirst(`${resource.many}.${operation}`, input)
  }, [resource, place])
  useEffect(() => {
    if (view.item !== undefined) putFirst(`${resource.many}.get`, { [resource.idName]: view.item })
  }, [resource, view.item])

  useShownItem(view, list, item.data, (id) => {
    if (list.items?.some((each) => each.id === id)) rows.current.get(id)?.scrollIntoView({ block: 'nearest' })
    // The rows of a search may have any order.
    else if (view.search === undefined) turnTo(pageWith(id, view), { replace: true })
  })

  return {
    resource,
    icon,
    texts,
    queries,
    view,
    list,
    selection,
    item,
    counts,
    added,
    newItem,
    /** The elements that get the focus. The rows are the links in them, by the ids of their items. */
    refs: { heading, panel: panelElement, firstField, rows },
    panel: panelOf(view),
    sheet,
    open,
    closePanel,
    closeForm,
    turns,
    extend,
    focusedId,
    closeSheet: () => setSheet(undefined),
    turnTo,
    move,
    showNewest: isSearchable(resource) ? () => turnTo({ filter: {}, search: undefined, order: 'newest' }) : undefined,
    dismissAdded() {
      setAdded([])
      heading.current?.focus()
    },
  }
}

function panelOf({ isAdding, item }: View): Overlay | undefined {
  if (isAdding) return { kind: 'add' }
  return item === undefined ? undefined : { kind: 'item', id: item }
}

/** The id of the item after or before another one, which may be on another page. */
function neighborOf(items: Item[], { search, order }: View, id: bigint | undefined, step: 1 | -1): bigint | undefined {
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

export type Page = ReturnType<typeof usePageState>

const PageContext = createContext<Page | undefined>(undefined)

export const PageProvider = PageContext.Provider

/** The page that the component is a part of. */
export function usePage(): Page {
  const page = useContext(PageContext)
  if (!page) throw new Error('usePage needs a PageProvider.')
  return page
}
