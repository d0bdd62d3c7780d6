import { type KeyboardEvent, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { textOf } from '#service/fields'
import { focusAround, rowOf } from '../../components/focus.ts'
import { areCharactersOn, useShortcuts } from '../../components/keyboard.ts'
import { countOf, was } from '../../formats.ts'
import { problemOf } from '../../problem.ts'
import type { Item, Resource } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { type EditState, editOf, isWaiting } from '../edits.ts'
import { useDeselectRemoved } from '../item/deselect-removed.ts'
import { headingOf, savedText } from '../item/edit-text.tsx'
import { additionOf, isAddedAgain } from '../item/history.ts'
import type { NewItem } from '../item/new-item.ts'
import { useList, useResource } from '../page-context.ts'
import { hrefOf, readView } from '../view.ts'
import { type Done, Failed, isRepeated, Saved, Waiting } from './edit-outcome.tsx'

interface EditNoticeProps {
  newItem: NewItem
  done: Done | undefined
  onDone: (done: Done) => void
  /** When the user closed the former notice, or else when the page was shown. Older edits have none. */
  closedAt: number
  onClose: () => void
}

/** Says what became of the last edit, and offers to undo it. A failure stays until the user has decided. */
export function EditNotice({ newItem, done, onDone, closedAt, onClose }: EditNoticeProps) {
  const { resource, edits, open } = useResource()
  const { states, list, view } = useList()
  const { isReadOnly, canRemove, hasHistory } = useAccess()
  const failed = states.findLast(
    ({ status, failureReason }) => status === 'error' && failureReason && problemOf(failureReason).kind !== 'refused',
  )
  const repeated = new Set(states.filter(isRepeated).map(({ edit }) => edit.seen.id))
  // With the later edits of the same items.
  const waiting = states.filter(({ status, edit }) => status === 'pending' && repeated.has(edit.seen.id))
  const cause = waiting.find(isRepeated)
  const last = states.at(-1)
  const isDone = done !== undefined && done.at >= (last?.submittedAt ?? 0)
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
        text: savedText(resource, last, removed),
        at: last.submittedAt,
        edit: last.edit,
        undoLabel: isRemoved ? 'Add again' : undefined,
      }
    : undefined
  const latest = isDone ? done : saved
  const undoLabel = latest?.undoLabel ?? 'Undo'
  const keyToUndo = canUndo && areCharactersOn() && hasKeys() ? `${undoLabel} with Z.` : ''
  const shown = latest && latest.text !== undefined && latest.at >= closedAt && latest

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
    for (const item of items) edits.save({ ...editOf(item), undoesAddition: true })
  }
  // The open form says it itself.
  useEffect(() => {
    if (added.length > 0 && !view.isAdding) reportAdded()
  }, [added, view.isAdding])
  /** Undoes one edit after the other, also without a notice. */
  function undo() {
    // While the form is open, which says itself what was added.
    if (added.length > 0 && canRemove) return removeAdded(added.map(({ seen }) => seen))
    const undoable = lastUndoable(states)
    const { at = 0, onUndo } = done ?? {}
    const removed = lastRemoved(resource, states)
    if (onUndo && at > Math.max(undoable?.submittedAt ?? 0, removed?.submittedAt ?? 0)) return onUndo()
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
  useDeselectRemoved((text) => say(text, { onUndo: isDone ? done.onUndo : undefined, isNews: true }))
  const refuse = () => say(`Your API key can only show ${resource.many}. It cannot change them.`)
  useShownAddress(refuse, () => say('A part of the link is not valid, and is left out.'))
  useShortcuts({ notice: () => document.querySelector<HTMLElement>('.edit-notice button')?.focus() })
  useShortcuts(isReadOnly ? { add: refuse, choose: refuse, edit: refuse, remove: refuse, undo: refuse } : { undo })

  /** What had the focus before a notice. */
  const former = useRef<Element>(null)
  function leave(event: KeyboardEvent) {
    if (event.key !== 'Escape' || event.nativeEvent.isComposing) return
    // The key closes the panel, too.
    event.preventDefault()
    const { current } = former
    if (current instanceof HTMLElement && current.isConnected) current.focus()
    else focusAround(event.currentTarget)
  }

  /** The panel of an item, if it is above the page: that keeps the focus, and is all that a screen reader reads. */
  const [sheet, setSheet] = useState<Element | null>(null)
  // After any render: the panel opens and closes with the page. Another width of the window shows with the next one.
  useLayoutEffect(() => {
    const sheets = [...document.querySelectorAll('.sheet:has([data-arrow-keys], .changes)')]
    setSheet(sheets.find((each) => each.checkVisibility()) ?? null)
  })
  const notice = (
    <>
      {/* There before it has a text, or screen readers would not announce the first one. */}
      <span className="visually-hidden" role="status">
        {shown ? `${shown.text} ${keyToUndo}` : isRemoved && saved?.text}
      </span>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its buttons get the focus. */}
      <div
        className="edit-notices"
        onFocus={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.contains(relatedTarget)) former.current = relatedTarget
        }}
        onKeyDown={leave}
      >
        {failed ? (
          <Failed key={failed.edit.idempotencyKey} {...failed} onClose={() => edits.forget(failed.edit)} />
        ) : (
          cause && <Waiting key={cause.edit.idempotencyKey} {...cause} all={waiting} />
        )}
        {shown && (
          <Saved key={shown.at} {...shown} removed={removed} onUndo={canUndo ? undo : undefined} onClose={onClose} />
        )}
      </div>
    </>
  )
  return sheet ? createPortal(notice, sheet) : notice
}

/** Whether the device probably has a keyboard, which a phone does not. */
function hasKeys(): boolean {
  return matchMedia('(pointer: fine)').matches
}

/**
 * The last edit that can be undone: not one that was refused or undone, nor one of an item that was removed since then. A
 * removal can be undone while it waits, and while the service is away.
 */
function lastUndoable(states: EditState[]): EditState | undefined {
  const undone = new Set(states.map(({ edit }) => edit.undoes))
  const removals = states.filter(({ edit, status }) => !edit.set && status !== 'error')
  const sent = removals.filter((state) => !isWaiting(state.edit) && !isRepeated(state))
  const removed = new Set(sent.map(({ edit }) => edit.seen.id))
  return states.findLast(
    ({ edit: { seen, undoes, idempotencyKey }, status }) =>
      status !== 'error' && !undoes && !undone.has(idempotencyKey) && !removed.has(seen.id),
  )
}

/** The last removal that can no longer be undone, unless the item was added again. */
function lastRemoved(resource: Resource, states: EditState[]): EditState | undefined {
  return states.findLast(
    ({ edit: { set, seen }, status }) =>
      !set && status === 'success' && !additionOf(resource, [seen]).edits.some(isAddedAgain),
  )
}

/**
 * Lets the address say what the page shows, without the parts of it that mean nothing: `onInvalid` says so. A key that may
 * only read opens no form: `onRefused` says why.
 */
function useShownAddress(onRefused: () => void, onInvalid: () => void): void {
  const { resource, closeForm } = useResource()
  const { view } = useList()
  const { isReadOnly } = useAccess()
  const isRefused = view.isAdding && isReadOnly
  const refuse = useEffectEvent(() => {
    closeForm()
    onRefused()
  })
  useEffect(() => {
    if (isRefused) refuse()
  }, [isRefused])
  const sayInvalid = useEffectEvent(onInvalid)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view follows the address, which is read again.
  useEffect(() => {
    const href = hrefOf(resource, readView(resource))
    const [named, shown] = [new URLSearchParams(location.search), new URLSearchParams(href.slice('./'.length))]
    if (partsOf(named) === partsOf(shown)) return
    const names = [resource.one, ...resource.fields.map(({ name }) => name)]
    const isLost = names.some((name) => named.get(name) && !shown.has(name))
    if (isLost || named.get('changes') !== shown.get('changes')) sayInvalid()
    history.replaceState(history.state, '', href)
  }, [resource, view])
}

/** The parameters in an order of their own: a filter that is added later comes last. */
function partsOf(search: URLSearchParams): string {
  return JSON.stringify([...search].sort())
}
