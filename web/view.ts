import { navigate, useHistoryState, useSearch } from 'wouter/use-browser-location'
import type { PetStatus } from '../client/index.ts'
import { isPetStatus } from './pet-status.ts'

/** What is looked at. It is in the page's address, so that reloading, going back and a link to a colleague all show it. */
export interface View {
  /** Only pets of this status. */
  status: PetStatus | undefined
  /** The page starts behind this id. */
  cursor: bigint
  /** Where the pages before this one start, in their order. Unknown to somebody who came by a link. */
  earlierCursors: bigint[]
  /** The pet that is shown by itself, by its id. */
  pet: bigint | undefined
  /** Whether the way back from the pet leads to the list as it is, since the pet was opened there. */
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

/** With `replace`, the way back does not lead to what was shown until now. */
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

/** Whatever another page, or another version of this one, has left there. */
function readState(state: unknown): { earlierCursors?: unknown; isOverList?: unknown } {
  return typeof state === 'object' && state !== null ? state : {}
}

function areCursors(earlierCursors: unknown): earlierCursors is bigint[] {
  return Array.isArray(earlierCursors) && earlierCursors.every((each) => typeof each === 'bigint')
}

/** Pages begin behind ever greater ids, and the first one behind none. */
function leadsTo(cursor: bigint, earlierCursors: bigint[]): boolean {
  const starts = [...earlierCursors, cursor]
  return starts[0] === 0n && starts.every((start, index) => index === 0 || start > (starts[index - 1] ?? start))
}

function searchOf(parameters: Record<string, string | bigint | undefined>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]))
  return given.length > 0 ? `?${new URLSearchParams(given)}` : ''
}
