import { textOf } from '#service/fields'
import './edit-notice.css'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { Button, IconButton } from '../components/buttons.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Countdown, Reason } from '../components/failure.tsx'
import { keepFocus, rowOf } from '../components/focus.ts'
import { hint } from '../components/hint.ts'
import { IconX } from '../components/icons.tsx'
import { areCharactersOn, useShortcuts } from '../keyboard.ts'
import { isTransient, problemOf, retryDelayAfter } from '../problem.ts'
import type { Edit, Item, Resource } from '../resource.ts'
import { editTextsOf } from '../texts/edits.ts'
import { messages } from '../texts/messages.ts'
import { useAccess } from './access.ts'
import { changedBy, Named, namesIn, savedText, titlesOf } from './edit-text.tsx'
import { type EditState, editOf, hold, isWaiting, undoTime } from './edits.ts'
import { useDeselectRemoved } from './item/deselect-removed.ts'
import { additionOf, isAddedAgain, useAuthor } from './item/history.ts'
import { useLastFailure } from './item/last-failure.ts'
import { isNewClick } from './item/new-click.ts'
import { useList, useResource } from './page-context.ts'
import { everything, hrefOf, openHere } from './view.ts'

/** What became of an edit of many items, of an undo, or of a new item. */
export interface Done {
  /** Undefined if the page says it elsewhere. */
  text?: string
  at: number
  /** An item that the text names, and its name in the text. */
  link?: { id: bigint; name: string }
  /** The id of the first of several new items, from which on a button shows the list. */
  firstId?: bigint | undefined
  edits?: Edit[]
  onUndo?: (() => void) | undefined
  /** What the button for that says, if it is no plain undo. */
  undoLabel?: string | undefined
  /** Finds the item whose row gets the focus, as soon as the list has it. */
  focus?: (items: Item[]) => bigint | undefined
  /** Whether an open panel shows that item, too. */
  isShown?: true
  /** Whether it says what somebody else has done, so that the undo is that of what was said before. */
  isNews?: true
}

interface EditNoticeProps {
  done: Done | undefined
  onDone: (done: Done) => void
  /** When the user closed the former notice, or else when the page was shown. Older edits have none. */
  closedAt: number
  onClose: () => void
}

/** Says what became of the last edit, and offers to undo it. A failure stays until the user has decided. */
export function EditNotice({ done, onDone, closedAt, onClose }: EditNoticeProps) {
  const page = useResource()
  const { resource, edits, open } = page
  const { states, list, view } = useList()
  const { edit: texts } = editTextsOf(resource)
  const { isReadOnly, hasHistory } = useAccess()
  const failed = states.findLast(
    ({ status, failureReason }) => status === 'error' && failureReason && problemOf(failureReason).kind !== 'refused',
  )
  const repeated = new Set(states.filter(isRepeated).map(({ edit }) => edit.seen.id))
  // With the later edits of the same items.
  const waiting = states.filter(({ status, edit }) => status === 'pending' && repeated.has(edit.seen.id))
  const cause = waiting.find(isRepeated)
  const last = states.at(-1)
  const isDone = done !== undefined && done.at >= (last?.submittedAt ?? 0)
  const isRecent = (isDone ? done.at : (last?.submittedAt ?? 0)) >= closedAt
  const canUndo = isDone
    ? done.onUndo !== undefined && !done.isNews
    : last !== undefined && lastUndoable(states) === last
  const removed = states.filter(({ edit, status }) => status === 'pending' && !edit.set).map(({ edit }) => edit)
  const text = isDone ? done.text : last ? savedText(resource, last, removed) : ''
  // A removal waits until it can no longer be undone.
  const isStored = last?.status === 'success' || (last?.status === 'pending' && !last.edit.set && !isRepeated(last))
  const isSaved = isRecent && (isDone ? text !== undefined : isStored)
  const undoLabel = (isDone && done.undoLabel) || texts.undo

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
  /** Undoes one edit after the other, also without a notice. */
  function undo() {
    const undoable = lastUndoable(states)
    const { at = 0, onUndo } = done ?? {}
    if (onUndo && at > (undoable?.submittedAt ?? 0)) return onUndo()
    const removed = lastRemoved(resource, states)
    if (removed && removed.submittedAt > (undoable?.submittedAt ?? 0))
      return open(additionOf(resource, [removed.edit.seen]))
    if (!undoable) return say(texts.nothingToUndo(hasHistory))
    edits.undo(undoable.edit)
    const { set, seen } = undoable.edit
    if (set) return
    const title = textOf(seen[resource.title])
    // A request that had no response may have removed it.
    const text = isRepeated(undoable) ? texts.notRepeated(title) : texts.undone(texts.stays(title))
    say(text, { focus: () => seen.id, isShown: true })
  }
  useDeselectRemoved((text) => say(text, { onUndo: isDone ? done.onUndo : undefined, isNews: true }))
  const refuse = () => say(page.texts.edit.readOnly(hasHistory))
  useShortcuts(isReadOnly ? { add: refuse, choose: refuse, edit: refuse, remove: refuse, undo: refuse } : { undo })

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
        {isSaved && `${text} ${canUndo && areCharactersOn() ? texts.withKey(undoLabel) : ''}`}
      </span>
      <div className="edit-notices">
        {failed ? (
          <Failed key={failed.edit.idempotencyKey} {...failed} onClose={() => edits.forget(failed.edit)} />
        ) : (
          cause && <Waiting key={cause.edit.idempotencyKey} {...cause} all={waiting} />
        )}
        {isSaved && (
          <Saved
            key={isDone ? done.at : last?.edit.idempotencyKey}
            text={text ?? ''}
            edit={isDone ? undefined : last?.edit}
            removed={removed}
            link={isDone ? done.link : undefined}
            firstId={isDone ? done.firstId : undefined}
            onUndo={canUndo ? undo : undefined}
            undoLabel={undoLabel}
            onClose={onClose}
          />
        )}
      </div>
    </>
  )
  return sheet ? createPortal(notice, sheet) : notice
}

/** Whether an edit is sent again, because the service did not respond. */
function isRepeated({ status, failureCount }: EditState): boolean {
  return status === 'pending' && failureCount > 0
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

interface SavedProps {
  text: string
  edit: Edit | undefined
  /** All items that are being removed. */
  removed: Edit[]
  link: Done['link']
  firstId: Done['firstId']
  onUndo: (() => void) | undefined
  undoLabel: string
  onClose: () => void
}

/** Disappears by itself, but not while the pointer or the focus is in it. Then a removal is not sent either. */
function Saved({ text, edit, removed, link, firstId, onUndo, undoLabel, onClose }: SavedProps) {
  const { resource, open, turnTo } = useResource()
  const texts = editTextsOf(resource).edit
  const [isHeld, setIsHeld] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another render is no reason to wait longer.
  useEffect(() => {
    if (edit) hold(edit, isHeld)
    // Also if the notice is closed by then.
    if (isHeld) return () => edit && hold(edit, false)
    const timer = setTimeout(onClose, undoTime)
    return () => clearTimeout(timer)
  }, [isHeld])
  return (
    <section
      ref={keepFocus}
      className="edit-notice"
      aria-label={texts.last}
      onPointerEnter={() => setIsHeld(true)}
      onPointerLeave={() => setIsHeld(false)}
      onFocus={() => setIsHeld(true)}
      onBlur={() => setIsHeld(false)}
    >
      <p dir="auto">
        <Named
          text={text}
          names={
            link ? [link.name] : edit?.set ? namesIn(resource, edit, edit.set) : titlesOf(resource, edit ? removed : [])
          }
          link={
            link && {
              href: hrefOf(resource, { item: link.id }),
              onClick: (event) => openHere(event, () => open({ kind: 'item', id: link.id })),
            }
          }
        />
      </p>
      {firstId && (
        <Button variant="subtle" size="xs" onClick={() => turnTo({ ...everything, cursor: firstId - 1n })}>
          {texts.showThem}
        </Button>
      )}
      {onUndo && (
        <Button
          variant="subtle"
          size="xs"
          {...hint(undoLabel, 'undo')}
          onClick={() => {
            onClose()
            onUndo()
          }}
        >
          {undoLabel}
        </Button>
      )}
      <IconButton label={texts.dismiss} size="xs" onClick={onClose}>
        <IconX />
      </IconButton>
    </section>
  )
}

/** Edits that are sent again and again, because the service is away. */
function Waiting({ edit, failureReason, failureCount, all }: EditState & { all: EditState[] }) {
  const { resource, edits } = useResource()
  const texts = editTextsOf(resource).edit
  if (!failureReason) return null
  const problem = problemOf(failureReason)
  const seconds = retryDelayAfter(failureCount - 1, problem) / 1_000
  function discard() {
    for (const { edit } of all) edits.discard(edit)
  }
  return (
    <section ref={keepFocus} className="edit-notice" aria-label={texts.notSaved} data-failed>
      <p dir="auto">
        <span role="status">
          <Named text={texts.waiting(textOf(edit.seen[resource.title]), all.length)} names={namesIn(resource, edit)} />{' '}
          <Reason {...problem}>
            <Countdown key={failureCount} seconds={seconds} />
          </Reason>
        </span>
      </p>
      <Button variant="subtle" size="xs" onClick={discard}>
        {texts.discard(all.length)}
      </Button>
    </section>
  )
}

/** An edit that failed: somebody else has changed or removed the item, the values are not valid, or the service failed. */
function Failed({ edit, failureReason, onClose }: EditState & { onClose: () => void }) {
  const { resource, queries, edits } = useResource()
  const texts = editTextsOf(resource).edit
  const title = textOf(edit.seen[resource.title])
  const { label, shown } = changedBy(resource, edit)
  const current = useQuery({ ...queries.item(edit.seen.id, useQueryClient()), refetchOnMount: 'always' })
  const { data } = current
  const failure = useLastFailure(current)
  const problem = failureReason && problemOf(failureReason)
  const author = useAuthor(edit, problem?.kind === 'conflict')
  if (!problem) return null
  const [by, mine] = [author.keyName, shown(edit.set ?? {})]
  const isGone = problem.kind === 'missing' || (failure && problemOf(failure).kind === 'missing')
  if (problem.kind === 'conflict' && !isGone && (!current.isFetchedAfterMount || author.isLoading)) return null
  function close() {
    rowOf(edit.seen.id)?.focus()
    onClose()
  }
  /** Saves the edit over what somebody else has saved. */
  function insist() {
    close()
    if (data) edits.save(editOf(data, edit.set, edit.place))
  }
  const isConflict = problem.kind === 'conflict' && !isGone
  const conflict = edit.set
    ? texts.conflict(by, label, title, shown(data ?? {}), mine)
    : texts.conflictOfRemoval(by, title)
  const gone = edit.set ? texts.wasRemoved(title, mine) : texts.removed(title)
  return (
    <section ref={keepFocus} className="edit-notice" aria-label={texts.notSaved} data-failed>
      <p role="alert" dir="auto">
        <Named
          text={isConflict ? conflict : isGone ? gone : `${texts.failed(title)} ${problem.message}`}
          names={[
            ...(isConflict && by ? [by] : []),
            ...namesIn(resource, edit, ...(isConflict ? [data] : []), edit.set),
          ]}
        />
      </p>
      {isConflict ? (
        <span className="edit-notice-choice">
          <Button variant="default" size="xs" onClick={close}>
            {edit.set ? texts.keepTheirs : texts.keep}
          </Button>
          <Button size="xs" onClick={(event) => isNewClick(event) && insist()}>
            {edit.set ? texts.useMine : texts.removeAnyway}
          </Button>
        </span>
      ) : (
        <>
          {isTransient(problem) && (
            <Button size="xs" onClick={() => edits.repeat(edit)}>
              {messages.problem.retryNow}
            </Button>
          )}
          {edit.set && <CopyButton withText label={texts.copyMine} value={mine} />}
          <IconButton label={texts.dismiss} size="xs" onClick={close}>
            <IconX />
          </IconButton>
        </>
      )}
    </section>
  )
}
