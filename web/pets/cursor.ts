import type { Pet } from '../../client/index.ts'
import { pageSize } from './queries.ts'

/** The largest id. */
export const maxId = 2n ** 63n - 1n

/** Requests of one search. A search for the newest of a million pets takes about 30 if `guess` is of no use. */
const maxRequests = 150

/**
 * Finds the cursor of the page that ends with the last pet whose id is at most `end`: the newest pets, or the page before
 * a page that was opened by a link. The API lists pets in ascending order of their ids only, so this searches for the
 * cursor: it doubles the distance until it is behind that page, and then bisects. If ids have no gaps, a guess that
 * subtracts the size of a page is right at once.
 *
 * @param list loads `pageSize + 1` pets after a cursor
 */
export async function findCursor(
  list: (cursor: bigint) => Promise<Pet[]>,
  { end, guess }: { end: bigint; guess: bigint },
): Promise<bigint> {
  // The cursor is between these two. At least a page of pets follows `low`, unless it is 0.
  let [low, high] = [0n, end]
  let isBounded = false
  let distance = BigInt(pageSize)
  let cursor = max(guess, 0n)
  for (let request = 0; request < maxRequests && low < high; request++) {
    const pets = (await list(cursor)).filter(({ id }) => id <= end)
    const [first] = pets
    if (pets.length === pageSize) return cursor
    if (first && pets.length > pageSize) low = first.id
    else {
      isBounded = true
      // This many pets are missing, and each of them has another id.
      high = max(cursor - BigInt(pageSize - pets.length), 0n)
    }
    cursor = isBounded ? (low + high) / 2n : min(low + distance, high)
    distance *= 2n
  }
  return low
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
