import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { textOf } from '#service/fields'
import { rowOf } from '../../components/focus.ts'
import { countOf, joined, number, was } from '../../formats.ts'
import { problemOf } from '../../problem.ts'
import type { Item, Resource } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { theAddition } from '../edit-key.ts'
import { type EditState, editOf, isWaiting } from '../edits.ts'
import { headingOf, savedText } from '../item/edit-text.tsx'
import { additionOf, isAddedAgain } from '../item/history.ts'
import type { NewItem } from '../item/new-item.ts'
import { useList, useResource } from '../page-context.ts'
import { type Done, isRepeated } from './edit-outcome.tsx'

/** The maximum number of items that the key undoes without a question: it may be pressed by accident. */
const maxByKey = 20

/** What became of the last edits, and what undoes the last one of them, also after its notice has disappeared. */
export function useLastEdit(newItem: NewItem, done: Done | undefined, onDone: (done: Done) => void) {
  const { resource, edits, open } = useResource()
  const { states, view } = useList()
  const { canRemove, hasHistory } = useAccess()
  const failed = states.findLast(
    ({ status, failureReason }) => status === 'error' && failureReason && problemOf(failureReason).kind !== 'refused',
  )
  const repeated = new Set(states.filter(isRepeated).map(({ edit }) => edit.seen.id))
  // With the later edits of the same items.
  const waiting = states.filter(({ status, edit }) => status === 'pending' && repeated.has(edit.seen.id))
  const cause = waiting.find(isRepeated)
  const last = states.at(-1)
  const together = useSavedTogether(states, waiting)
  const isOver = done?.isPassing && last?.status !== 'pending'
  const isDone = done !== undefined && !isOver && done.at >= (last?.submittedAt ?? 0)
  const canUndo = isDone
    ? done.onUndo !== undefined && !done.isNews
    : last !== undefined && (lastUndoable(states) === last || lastRemoved(resource, states) === last)
  const removed = states.filter(({ edit, status }) => status === 'pending' && !edit.set).map(({ edit }) => edit)
  /** The notice is gone by then, unless the page was loaded again meanwhile. */
  const isRemoved = !isDone && last?.status === 'success' && !last.edit.set
  // A removal waits until it can no longer be undone.
  const isStored = last?.status === 'success' || (last?.status === 'pending' && !last.edit.set && !isRepeated(last))
  const saved = isStored
    ? {
        text: joined(' ', [
          together > 1 && `${number(together)} changes are saved, the last one:`,
          savedText(resource, last, removed),
        ]),
        at: last.submittedAt,
        edit: last.edit,
        undoLabel: isRemoved ? 'Add again' : undefined,
      }
    : undefined
  const latest = isDone ? done : saved

  const say = (text: string, others?: Partial<Done>) => onDone({ ...others, text, at: Date.now() })
  const { added } = newItem
  const reportAdded = useEffectEvent(() => {
    const items = added.map(({ seen }) => seen)
    const [latest, ...others] = items
    if (!latest) return
    const { id } = latest
    const name = headingOf(resource, id, latest)
    say(`${others.length > 0 ? countOf(resource, items.length) : name} ${was(items.length)} added.`, {
      edits: added,
      focus: () => id,
      ...(others.length > 0 ? { firstId: items.at(-1)?.id } : { link: { id, name } }),
      ...(canRemove && { onUndo: () => removeAdded(items) }),
    })
    newItem.forgetAdded()
  })
  function removeAdded(items: Item[]) {
    newItem.forgetAdded()
    for (const item of items) edits.save(editOf(item, undefined, undefined, theAddition))
  }
  // The open form says it itself.
  useEffect(() => {
    if (added.length > 0 && !view.isAdding) reportAdded()
  }, [added, view.isAdding])
  /** Undoes one edit after the other, also without a notice. */
  function undo(isByKey = false) {
    // While the form is open, which says itself what was added.
    if (added.length > 0 && canRemove) return removeAdded(added.map(({ seen }) => seen))
    const undoable = lastUndoable(states)
    const { at = 0, onUndo, edits: together = [] } = done ?? {}
    const removed = lastRemoved(resource, states)
    // Another change before it must not be undone instead.
    if (last?.status === 'pending' && isSent(last) && !(onUndo && at > last.submittedAt))
      return say(`${textOf(last.edit.seen[resource.title])} is being removed. Undo it after that.`, { isPassing: true })
    if (onUndo && at > Math.max(undoable?.submittedAt ?? 0, removed?.submittedAt ?? 0))
      return onUndo(isByKey && together.length > maxByKey)
    if (removed && removed.submittedAt > (undoable?.submittedAt ?? 0))
      return open(additionOf(resource, [removed.edit.seen]))
    if (!undoable)
      return say(`There is nothing to undo.${hasHistory ? ' What was changed before is under Changes.' : ''}`)
    edits.undo(undoable.edit)
    const { set, seen } = undoable.edit
    if (set) return
    const title = textOf(seen[resource.title])
    // A request that had no response may have removed it.
    const text = isRepeated(undoable)
      ? `The console no longer tries to remove ${title}.`
      : `Change undone. ${title} stays.`
    say(text, { focus: () => seen.id, isShown: true })
  }

  useFocusOf(done)
  return { failed, cause, waiting, removed, latest, isDone, isRemoved, canUndo, say, undo }
}

/** How many edits are saved that waited for the service together with the last one. */
function useSavedTogether(states: EditState[], waiting: EditState[]): number {
  const [waited, setWaited] = useState<ReadonlySet<string>>(new Set())
  const hasWaited = ({ edit }: EditState) => waited.has(edit.idempotencyKey)
  if (!waiting.every(hasWaited)) {
    const isGoingOn = states.some((state) => state.status === 'pending' && hasWaited(state))
    setWaited(new Set([...(isGoingOn ? waited : []), ...waiting.map(({ edit }) => edit.idempotencyKey)]))
  }
  const last = states.at(-1)
  return last && hasWaited(last) ? states.filter((state) => state.status === 'success' && hasWaited(state)).length : 0
}

/** Moves the focus to the row that a result names. */
function useFocusOf(done: Done | undefined): void {
  const { open } = useResource()
  const { list, view } = useList()
  /** The time of the last result whose row has got the focus, or is not on this page. */
  const focusedAt = useRef(0)
  useEffect(() => {
    const { at, focus, isShown } = done ?? {}
    if (!at || !focus || at === focusedAt.current || !list.items) return
    const id = focus(list.items)
    const item = list.items.find((each) => each.id === id)
    // It may be in what is being loaded.
    if (!item && list.dataUpdatedAt < at) return
    focusedAt.current = at
    if (!item || document.activeElement?.closest('form, .changes')) return
    if (view.item === undefined) rowOf(item.id)?.focus()
    else if (isShown) open({ kind: 'item', id: item.id })
  }, [done, list.items, list.dataUpdatedAt, view.item, open])
}

/**
 * The last edit that can be undone: not one that was refused or undone, nor one of an item that was removed since then. A
 * removal can be undone while it waits, and while the service is away.
 */
function lastUndoable(states: EditState[]): EditState | undefined {
  const undone = new Set(states.map(({ edit }) => edit.undoes))
  const removals = states.filter(({ edit, status }) => !edit.set && status !== 'error')
  const removed = new Set(removals.filter(isSent).map(({ edit }) => edit.seen.id))
  return states.findLast(
    ({ edit: { seen, undoes, idempotencyKey }, status }) =>
      status !== 'error' && !undoes && !undone.has(idempotencyKey) && !removed.has(seen.id),
  )
}

/** Whether an edit is a removal that the service may have got. */
function isSent(state: EditState): boolean {
  return !state.edit.set && !isWaiting(state.edit) && !isRepeated(state)
}

/** The last removal that can no longer be undone, unless the item was added again. */
function lastRemoved(resource: Resource, states: EditState[]): EditState | undefined {
  return states.findLast(
    ({ edit: { set, seen }, status }) =>
      !set && status === 'success' && !additionOf(resource, [seen]).edits.some(isAddedAgain),
  )
}
