import { navigate, useHistoryState, useSearch } from 'wouter/use-browser-location'
import type { PetStatus } from '../../client/index.ts'
import { isPetStatus } from './pet-status.ts'

/** What the console shows. It is part of the URL, so reloading, going back and sharing a link keep it. */
export interface View {
  /** Only pets of this status. */
  status: PetStatus | undefined
  /** The page starts after this id. */
  cursor: bigint
  /** The cursors of the pages before this one, in order. Empty if the page was opened by a link. */
  earlierCursors: bigint[]
  /** The id of the pet in the dialog. */
  pet: bigint | undefined
  /** Whether the pet was opened from the list. Going back in the history then closes the dialog. */
  isOverList: boolean
}

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
export function show({ status, cursor, earlierCursors, pet, isOverList }: View, { replace = false } = {}): void {
  navigate(`/${searchOf({ status, cursor: cursor || undefined, pet })}`, {
    state: { earlierCursors, isOverList },
    replace,
  })
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

function searchOf(parameters: Record<string, string | bigint | undefined>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]))
  return given.length > 0 ? `?${new URLSearchParams(given)}` : ''
}
