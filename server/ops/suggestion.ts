import { closest, distance } from 'fastest-levenshtein'

/** Edits: a swapped pair of letters counts as two. */
const maxDistance = 2

/** The name that was probably meant by a misspelled one. Undefined if none is similar. */
export function closestName(given: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined
  const name = closest(given, names)
  return distance(given, name) <= maxDistance ? name : undefined
}
