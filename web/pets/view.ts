import type { MouseEvent } from 'react'
import { navigate, useHistoryState, useSearch } from 'wouter/use-browser-location'
import type { PetStatus } from '../../client/index.ts'
import { searchOf } from '../resource.ts'
import { isPetStatus } from './pet.ts'

/** What the console shows. It is part of the URL, so reloading, going back and sharing a link keep it. */
export interface View {
  /** Only pets of this status. */
  status: PetStatus | undefined
  /** The page starts after this id. */
  cursor: bigint
  /** The cursors of the pages before this one, in order. Empty if the page was opened by a link. */
  earlierCursors: bigint[]
  /** The id of the pet in the panel. */
  pet: bigint | undefined
  /** Whether the previous entry of the history is the same view without the pet. Going back then closes the panel. */
  isOverList: boolean
}

/** A part of the list. */
export type Place = Partial<Pick<View, 'status' | 'cursor' | 'earlierCursors'>>

export function useView(): View {
  const parameters = new URLSearchParams(useSearch())
  const { earlierCursors, isOverList } = readState(useHistoryState())
  const status = parameters.get('status')
  const cursor = parseId(parameters.get('cursor')) ?? 0n
  return {
    status: isPetStatus(status) ? status : undefined,
    cursor,
    earlierCursors: areCursors(earlierCursors) && leadsTo(cursor, earlierCursors) ? earlierCursors : [],
    pet: parseId(parameters.get('pet')),
    isOverList: isOverList === true,
  }
}

/** Navigates to a view. With `replace`, it replaces the current entry of the history. */
export function show(view: View, { replace = false } = {}): void {
  const { earlierCursors, isOverList } = view
  navigate(hrefOf(view), { state: { earlierCursors, isOverList }, replace })
}

/** The URL of a view, relative to the address of the service. */
export function hrefOf({ status, cursor, pet }: Partial<View>): string {
  return `./${searchOf({ status, cursor: cursor || undefined, pet })}`
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

/** The state may come from another page or from another version of this one. */
function readState(state: unknown): { earlierCursors?: unknown; isOverList?: unknown } {
  return typeof state === 'object' && state !== null ? state : {}
}

function areCursors(earlierCursors: unknown): earlierCursors is bigint[] {
  return Array.isArray(earlierCursors) && earlierCursors.every((each) => typeof each === 'bigint')
}

/** Whether the cursors ascend from 0 to the current one. */
function leadsTo(cursor: bigint, earlierCursors: bigint[]): boolean {
  const starts = [...earlierCursors, cursor]
  return starts[0] === 0n && starts.every((start, index) => index === 0 || start > (starts[index - 1] ?? start))
}
