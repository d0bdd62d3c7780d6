import { type HistoryEntry, isSame, type Resource, type Values } from '../../resource.ts'
import { actionOf, theAddition } from '../edit-key.ts'

/** A change with the id of its item. */
export interface ItemChange extends HistoryEntry {
  itemId: bigint
  /** The action that it is a part of. A change by another program is an action of its own. */
  action: string
  /** The action that it has undone. */
  undoes?: string | undefined
  /** The later change that has changed one of its fields again, or removed the item. */
  next?: ItemChange | undefined
  /** Whether a later change has undone it. */
  isUndone?: boolean | undefined
  /** The change that has undone it, on the same day. Both are one entry. */
  undo?: ItemChange | undefined
  /** The newest title of the item in the history. */
  title?: unknown
}

export function itemChangeOf(change: HistoryEntry, itemId: bigint): ItemChange {
  return { ...change, itemId, action: `${change.id}`, ...actionOf(change.idempotencyKey) }
}

/** The names of the fields that an update has changed. */
export function changedFields({ before, after }: HistoryEntry): string[] {
  return after ? Object.keys({ ...before, ...after }).sort() : []
}

/**
 * Changes, the newest first, each with the one that has superseded it, and with the newest title. A change is undone if the
 * next one of the same fields undoes its action, and has restored exactly their former values. Such pairs are found like those
 * of brackets, from the newest change on. So an undo that was undone later is none, and a pair supersedes nothing.
 */
export function withNext({ title }: Pick<Resource, 'title'>, changes: ItemChange[]): ItemChange[] {
  const titles = new Map<bigint, unknown>()
  for (const { itemId, before, after = before } of changes)
    if (!titles.has(itemId) && title in after) titles.set(itemId, after[title])
  const removals = new Map<bigint, ItemChange>()
  /** The later changes of each field that have undone none of those before. The earliest one is the last. */
  const later = new Map<string, ItemChange[]>()
  return changes.map((change) => {
    const { itemId, at, before, after, action } = change
    const ofFields = changedFields(change).map((name) => {
      const key = `${itemId} ${name}`
      return later.get(key) ?? later.set(key, []).get(key) ?? []
    })
    const nexts = ofFields.map((each) => each.at(-1))
    const [next] = nexts
    const isPair = next?.undoes === action && areSame(next.before, after) && areSame(next.after, before)
    const isUndone = isPair && nexts.every((each) => each === next)
    const known = {
      ...change,
      title: titles.get(itemId),
      next: removals.get(itemId) ?? nexts.find(Boolean),
      isUndone,
      undo: isUndone && next.at.toDateString() === at.toDateString() ? next : undefined,
    }
    if (!after) removals.set(itemId, known)
    for (const each of ofFields) {
      if (isUndone) each.pop()
      else each.push(known)
    }
    return known
  })
}

/** Whether an undo of the earliest loaded day has undone a change that is not loaded. */
export function lacksUndone(changes: ItemChange[]): boolean {
  const day = changes.at(-1)?.at.toDateString()
  const actions = new Set(changes.map(({ action }) => action))
  return changes.some(
    ({ at, undoes }) => undoes && undoes !== theAddition && !actions.has(undoes) && at.toDateString() === day,
  )
}

function areSame(some: Values = {}, others: Values = {}): boolean {
  return Object.keys({ ...some, ...others }).every((name) => isSame(some[name], others[name]))
}
