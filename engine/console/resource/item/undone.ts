import { type Change, isSame, type Values } from '../../resource.ts'

/** The names of the fields that an update has changed. */
export function changedFields({ before, after }: Change): string[] {
  return after ? Object.keys({ ...before, ...after }).sort() : []
}

/**
 * The changes that were undone: the next change of the same fields has restored exactly their former values. Such pairs are
 * found like those of brackets, from the newest change on. So what restores a value and was undone later is no undo.
 *
 * @param changes the newest first
 */
export function undoneOf<C extends Change & { itemId: bigint }>(changes: C[]): Set<C> {
  const undone = new Set<C>()
  /** The later changes of each field that have undone none of those before. The earliest one is the last. */
  const later = new Map<string, C[]>()
  for (const change of changes) {
    const ofFields = changedFields(change).map((name) => {
      const key = `${change.itemId} ${name}`
      return later.get(key) ?? later.set(key, []).get(key) ?? []
    })
    const next = ofFields[0]?.at(-1)
    const isUndone = next && areSame(next.before, change.after) && areSame(next.after, change.before)
    if (isUndone && ofFields.every((each) => each.at(-1) === next)) {
      undone.add(change)
      for (const each of ofFields) each.pop()
    } else for (const each of ofFields) each.push(change)
  }
  return undone
}

export function areSame(some: Values = {}, others: Values = {}): boolean {
  return Object.keys({ ...some, ...others }).every((name) => isSame(some[name], others[name]))
}
