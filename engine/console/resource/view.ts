import type { MouseEvent } from 'react'
import { useMemo } from 'react'
import { navigate, useHistoryState, useSearch } from 'wouter/use-browser-location'
import { navigateBelowDialogs } from '../browser-history.ts'
import { isSearchable, parseFilter, type Resource, searchOf, type Values } from '../resource.ts'
import { storage } from '../storage.ts'

/** A part of the list. */
export interface Place {
  /** The values by which the list is filtered, by the names of the fields. */
  filter: Values
  /** What the user searches for. */
  search?: string | undefined
  /** Undefined for the oldest items first. */
  order?: 'newest' | undefined
  /** The page starts after the item with this id, or at the start of the list if it is 0. */
  cursor: bigint
  /** The number of items of a page. */
  size: number
  /** The cursors of the pages of this size that were shown before this one, in order. */
  earlierCursors: readonly bigint[]
  /** The number of items before the page. Undefined if it is not known, because a link opened the page. */
  before?: number | undefined
}

/** Where a list begins. */
export const firstPage = { cursor: 0n, earlierCursors: [], before: undefined } satisfies Partial<Place>

/** All items, in the first order. */
export const everything = { ...firstPage, filter: {}, search: undefined, order: undefined } satisfies Partial<Place>

let fitting: number | undefined

/** The number of rows that fit the window in which the page was opened, but at least 20. */
export function fittingSize(): number {
  const rowHeight = matchMedia('(pointer: coarse)').matches ? 44 : 30
  // In a narrow window, the tools are below the filters.
  const toolsHeight = innerWidth < 1_040 ? 240 : 196
  fitting ??= Math.min(Math.max(20, Math.floor((innerHeight - toolsHeight) / rowHeight)), 100)
  return fitting
}

/** The sizes that the user can choose. */
export function pageSizes(): number[] {
  return [...new Set([20, 50, 100, fittingSize()])].sort((one, other) => one - other)
}

/** The name of an entry in the local storage, which exists if the user has chosen a size. */
const sizeKey = 'page-size'

/** The size of a page whose URL has none. Read once, so that a choice does not change the entries of the history. */
let defaultSize: number | undefined

function sizeOfPlainUrl(): number {
  defaultSize ??= parseSize(storage('localStorage').get(sizeKey)) ?? fittingSize()
  return defaultSize
}

/** Shows pages of this size at the next visit: the one that fits the window again, or the same one. */
export function rememberSize(size: number): void {
  storage('localStorage').set(sizeKey, size === fittingSize() ? 'fit' : String(size))
}

const filterKey = 'filter'

/** Shows the filter and the order of the last visit, in a new tab whose URL has none. */
export function restoreFilter(resource: Resource): void {
  const tab = storage('sessionStorage')
  const known = tab.get(filterKey) ? undefined : storage('localStorage').get(filterKey)
  tab.set(filterKey, 'restored')
  if (known && location.search === '') history.replaceState(history.state, '', location.pathname + known)
  // The user may go back to another filter.
  addEventListener('popstate', () => rememberFilter(resource))
}

/** Shows the current filter of the first page again at the next visit. */
export function rememberFilter(resource: Resource): void {
  if (resource.page !== undefined || new URLSearchParams(location.search).has('resource')) return
  const { filter, order } = readView(resource)
  storage('localStorage').set(filterKey, hrefOf(resource, { filter, order }).slice('./'.length))
}

function parseSize(text: string | null | undefined): number | undefined {
  return pageSizes().find((size) => String(size) === text)
}

/** The changes that are listed, with the names of the parameters of the URL. */
export interface ChangesShown {
  /** `update`, `remove` or `all`. */
  changes: string
  /** The name of an API key. */
  by?: string | undefined
  /** The last day, such as `2026-11-20`. */
  until?: string | undefined
}

/** What the page of a resource shows. It is part of the URL, so reloading, going back and sharing a link keep it. */
export interface View extends Place {
  /** The id of the item in the panel. */
  item?: bigint | undefined
  /** Whether the panel has the form for a new item, instead. Without it, the panel shows the item again. */
  isAdding: boolean
  /** Which changes are listed in the panel, below the item. */
  changes?: ChangesShown | undefined
  /** Whether the previous entry of the history is the same place without the panel, or with the changes below it. Going back then closes the panel. */
  isOverList: boolean
}

export function useResourceView(resource: Resource): View {
  const search = useSearch()
  const state = useHistoryState()
  return useMemo(() => readView(resource, search, state), [resource, search, state])
}

/** The view of the current URL. What a callback got when it was created may be out of date by then. */
export function readView(resource: Resource, search = location.search, state: unknown = history.state): View {
  const { one, fields } = resource
  const parameters = new URLSearchParams(search)
  // The state may come from another page or from another version of this one.
  const { earlierCursors, before, isOverList, size: sizeOfState }: Record<string, unknown> = Object(state)
  const cursor = parseId(parameters.get('cursor')) ?? 0n
  const size = parseSize(parameters.get('size')) ?? sizeOfPlainUrl()
  const isSearched = isSearchable(resource)
  const [changes, by, until] = ['changes', 'by', 'until'].map((name) => parameters.get(name) ?? undefined)
  const filters = fields.map((field) => [field.name, parseFilter(field, parameters.get(field.name))])
  return {
    filter: Object.fromEntries(filters.filter(([, value]) => value !== undefined)),
    search: (isSearched && parameters.get('search')) || undefined,
    order: isSearched && parameters.get('order') === 'newest' ? 'newest' : undefined,
    cursor,
    size,
    // The page may have been reloaded in a window that fits another number of rows.
    earlierCursors: sizeOfState === size && areCursors(earlierCursors) ? earlierCursors : [],
    before: cursor === 0n ? 0 : typeof before === 'number' && Number.isSafeInteger(before) ? before : undefined,
    item: parseId(parameters.get(one)),
    isAdding: parameters.get('open') === 'add',
    changes:
      changes === undefined
        ? undefined
        : {
            changes: /^(update|remove)$/.exec(changes)?.[0] ?? 'all',
            by,
            until: Number.isNaN(Date.parse(`${until}T24:00`)) ? undefined : until,
          },
    isOverList: isOverList === true,
  }
}

/**
 * Navigates to a view, from the entry of the page: see `navigateBelowDialogs`. With `replace`, it replaces the current
 * entry of the history.
 */
export function show(resource: Resource, view: View, { replace = false } = {}): void {
  const { earlierCursors, before, isOverList, size } = view
  navigate(hrefOf(resource, view), { state: { earlierCursors, before, isOverList, size }, replace })
}

/** Shows the start of the list of a resource, which may be another one. */
export function showList(resource: Resource): void {
  navigateBelowDialogs(() => navigate(hrefOf(resource, {})))
}

/** The URL of a view, relative to the address of the service. */
export function hrefOf({ one, page }: Resource, view: Partial<View>): string {
  const { filter, search, order, cursor, size, item, isAdding, changes } = view
  const place = { search, order, cursor: cursor || undefined, size: size === sizeOfPlainUrl() ? undefined : size }
  const open = isAdding ? 'add' : undefined
  return `./${searchOf({ ...filter, ...place, ...changes, [one]: item, open, resource: page })}`
}

/** The URL of the part of the list, which does not change with the panel. */
export function hrefOfPlace(resource: Resource, { filter, search, order, cursor, size }: View): string {
  return hrefOf(resource, { filter, search, order, cursor, size })
}

/** Opens a link in the console. A click with a modifier key follows the link, for example into another tab. */
export function openHere(event: MouseEvent, open: () => void): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  open()
}

/** An id is a positive 64-bit integer. */
export function parseId(text: string | null): bigint | undefined {
  const id = text !== null && /^\d{1,19}$/.test(text) ? BigInt(text) : undefined
  return id !== undefined && id > 0n && id < 2n ** 63n ? id : undefined
}

/** The page with an item: one that was shown before, or else one with the item in its middle. */
export function pageWith(id: bigint, { order, cursor, size, earlierCursors, before }: Place): Partial<Place> {
  const starts = [...earlierCursors, cursor]
  const isAfter = (start: bigint) => (order === 'newest' ? start === 0n || id < start : start < id)
  const index = starts.findIndex(
    (start, each) => isAfter(start) && each + 1 < starts.length && !isAfter(starts[each + 1] ?? 0n),
  )
  if (index !== -1) {
    const skipped = (earlierCursors.length - index) * size
    return {
      cursor: starts[index] ?? 0n,
      earlierCursors: starts.slice(0, index),
      before: before === undefined ? undefined : before - skipped,
    }
  }
  const half = BigInt(size) / 2n
  if (order === 'newest') return { cursor: id + half }
  // Ids are positive, so the first page has this id.
  return id <= size ? {} : { cursor: id - half }
}

function areCursors(earlierCursors: unknown): earlierCursors is bigint[] {
  return Array.isArray(earlierCursors) && earlierCursors.every((each) => typeof each === 'bigint')
}
