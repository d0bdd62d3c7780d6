import { navigate, useHistoryState, useSearch } from 'wouter/use-browser-location'
import type { PetStatus } from '../client/index.ts'
import { isPetStatus } from './pet-status.ts'

/** What is looked at. It is in the page's address, so that reloading, going back and a link to a colleague all show it. */
export interface View {
  /** Only pets of this status. */
  status: PetStatus | undefined
  /** The page starts behind this id. */
  after: bigint
  /** Where the pages before this one start, in their order. Unknown to somebody who came by a link. */
  trail: bigint[]
  /** The pet that is shown by itself, by its id. */
  pet: bigint | undefined
}

export function useView(): View {
  const parameters = new URLSearchParams(useSearch())
  const state: unknown = useHistoryState()
  const status = parameters.get('status')
  return {
    status: isPetStatus(status) ? status : undefined,
    after: parseId(parameters.get('after')) ?? 0n,
    trail: isTrail(state) ? state : [],
    pet: parseId(parameters.get('pet')),
  }
}

/** With `replace`, the way back does not lead to what was shown until now. */
export function show({ status, after, trail, pet }: View, { replace = false } = {}): void {
  navigate(`/${searchOf({ status, after: after || undefined, pet })}`, { state: trail, replace })
}

/** Any 64-bit integer that an id may be. */
export function parseId(text: string | null): bigint | undefined {
  const id = text !== null && /^\d{1,19}$/.test(text) ? BigInt(text) : undefined
  return id !== undefined && id < 2n ** 63n ? id : undefined
}

function isTrail(state: unknown): state is bigint[] {
  return Array.isArray(state) && state.every((each) => typeof each === 'bigint')
}

function searchOf(parameters: Record<string, string | bigint | undefined>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]))
  return given.length > 0 ? `?${new URLSearchParams(given)}` : ''
}
