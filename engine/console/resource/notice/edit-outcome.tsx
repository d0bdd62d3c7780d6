import { textOf } from '#service/fields'
import './edit-notice.css'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Button, CloseButton } from '../../components/buttons.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { keepFocus, rowOf } from '../../components/focus.ts'
import { hint } from '../../components/hint.ts'
import { areCharactersOn, keyName, keysOf } from '../../components/keyboard.ts'
import { joined, number } from '../../formats.ts'
import { isTransient, problemOf, retryDelayAfter } from '../../problem.ts'
import { Countdown, Reason, useLastFailure } from '../../requests/failure.tsx'
import type { Edit, Item } from '../../resource.ts'
import { actionOf } from '../edit-key.ts'
import { type EditState, editOf, hold, undoTime } from '../edits.ts'
import {
  changedBy,
  conflictText,
  headingOf,
  Named,
  namesIn,
  quoted,
  removedText,
  titlesOf,
  useItemLink,
  valueText,
} from '../item/edit-text.tsx'
import { useAuthor, useRemoval } from '../item/history.ts'
import { isNewClick } from '../item/new-click.ts'
import { useResource } from '../page-context.ts'
import { everything } from '../view.ts'

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
  /** `asks` whether the user wants that, if the edits are many. */
  onUndo?: ((asks?: boolean) => void) | undefined
  /** What the button for that says, if it is no plain undo. */
  undoLabel?: string | undefined
  /** Finds the item whose row gets the focus, as soon as the list has it. */
  focus?: (items: Item[]) => bigint | undefined
  /** Whether an open panel shows that item, too. */
  isShown?: true
  /** Whether it reports a change of somebody else. It has no button then, and `onUndo` belongs to the notice before it. */
  isNews?: true
  /** Whether it is no longer true once the last edit has a result. */
  isPassing?: true
}

interface SavedProps extends Omit<Done, 'focus'> {
  edit?: Edit
  /** All items that are being removed. */
  removed: Edit[]
  onClose: () => void
}

/**
 * Disappears by itself, but not while the pointer or the focus is in it. Then a removal is not sent either. What undoes a change
 * of many items stays: they may have left the list.
 */
export function Saved({ text = '', edit, edits, removed, link, firstId, onUndo, undoLabel, onClose }: SavedProps) {
  const { resource, turnTo } = useResource()
  const linkTo = useItemLink()
  const label = undoLabel ?? 'Undo'
  const [isHeld, setIsHeld] = useState(false)
  const stays = onUndo !== undefined && edits !== undefined && edits.length > 1
  // biome-ignore lint/correctness/useExhaustiveDependencies: another render is no reason to wait longer.
  useEffect(() => {
    if (edit) hold(edit, isHeld)
    // Also if the notice is closed by then.
    if (isHeld) return () => edit && hold(edit, false)
    if (stays) return
    const timer = setTimeout(onClose, undoTime)
    return () => clearTimeout(timer)
  }, [isHeld, stays])
  return (
    <section
      ref={keepFocus}
      className="edit-notice"
      aria-label="Last change"
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
          link={link && linkTo(link.id)}
        />
      </p>
      {firstId && (
        <Button variant="subtle" size="xs" onClick={() => turnTo({ ...everything, cursor: firstId - 1n })}>
          Show them
        </Button>
      )}
      {onUndo && (
        <Button
          variant="subtle"
          size="xs"
          endIcon={
            areCharactersOn() && (
              <kbd aria-hidden translate="no">
                {keyName(keysOf('undo')[0] ?? '')}
              </kbd>
            )
          }
          {...hint(label, 'undo')}
          onClick={() => {
            onClose()
            onUndo()
          }}
        >
          {label}
        </Button>
      )}
      <CloseButton label="Dismiss" size="xs" onClick={onClose} />
    </section>
  )
}

/** Edits that are sent again and again, because the service is away. */
export function Waiting({ edit, failureReason, failureCount, all }: EditState & { all: EditState[] }) {
  const { resource, edits } = useResource()
  if (!failureReason) return null
  const problem = problemOf(failureReason)
  const title = textOf(edit.seen[resource.title])
  const isMany = all.length > 1
  const seconds = retryDelayAfter(failureCount - 1, problem) / 1_000
  function discard() {
    for (const { edit } of all) edits.discard(edit)
  }
  return (
    <section ref={keepFocus} className="edit-notice" aria-label="Not saved" data-failed>
      <p dir="auto">
        <span role="status">
          <Named
            text={`${isMany ? `${number(all.length)} changes are` : `${title} is`} not saved yet.`}
            names={namesIn(resource, edit)}
          />{' '}
          <Reason {...problem}>
            <Countdown key={failureCount} seconds={seconds} />
          </Reason>
        </span>
      </p>
      <Button variant="subtle" size="xs" onClick={discard}>
        {isMany ? 'Discard them' : 'Discard'}
      </Button>
    </section>
  )
}

/** An edit that failed: somebody else has changed or removed the item, the values are not valid, or the service failed. */
export function Failed({ edit, failureReason, onClose }: EditState & { onClose: () => void }) {
  const { resource, queries, edits } = useResource()
  const { shown, isOne } = changedBy(resource, edit)
  const { undoes } = actionOf(edit.idempotencyKey)
  /** Its values are former ones, which need not be those of the user. */
  const isReversal = undoes !== undefined
  const current = useQuery({ ...queries.item(edit.seen.id, useQueryClient()), refetchOnMount: 'always' })
  const { data } = current
  const failure = useLastFailure(current)
  const problem = failureReason && problemOf(failureReason)
  const author = useAuthor(edit, problem?.kind === 'conflict')
  const isGone = problem?.kind === 'missing' || (failure !== null && problemOf(failure).kind === 'missing')
  const { removal, isLoading } = useRemoval(edit.seen.id, isGone)
  if (!problem || isLoading) return null
  const [by, mine] = [author.keyName, shown(edit.set ?? {})]
  const value = valueText(mine, isReversal)
  const title = textOf(edit.seen[resource.title])
  const former = headingOf(resource, edit.seen.id, removal?.before ?? data ?? edit.seen)
  if (problem.kind === 'conflict' && !isGone && (!current.isFetchedAfterMount || author.isLoading)) return null
  function close() {
    rowOf(edit.seen.id)?.focus()
    onClose()
  }
  /** Saves the edit over what somebody else has saved. */
  function insist() {
    close()
    if (data) edits.save(editOf(data, edit.set, edit.place, undoes))
  }
  const isConflict = problem.kind === 'conflict' && !isGone
  const wanted = isReversal ? `Undoing would set ${isOne ? 'it' : 'them'} to ${quoted(mine)}.` : value
  const conflict = joined(' ', [conflictText(resource, edit, title, by, data), edit.set !== undefined && wanted])
  const gone = edit.set ? `${former} was removed meanwhile. ${value}` : removedText(former)
  return (
    <section ref={keepFocus} className="edit-notice" aria-label="Not saved" data-failed>
      <p role="alert" dir="auto">
        <Named
          text={isConflict ? conflict : isGone ? gone : `${`${title} was not changed.`} ${problem.message}`}
          names={[
            ...(isConflict && by ? [by] : []),
            ...(isGone ? [former] : []),
            ...namesIn(resource, edit, ...(isConflict ? [data] : []), edit.set).slice(isGone ? 1 : 0),
          ]}
        />
      </p>
      {isConflict ? (
        <span className="edit-notice-choice">
          <Button variant="default" size="xs" onClick={close}>
            {edit.set ? 'Keep theirs' : 'Keep'}
          </Button>
          <Button variant={edit.set ? 'filled' : 'danger'} size="xs" onClick={(event) => isNewClick(event) && insist()}>
            {!edit.set ? 'Remove anyway' : isReversal ? 'Change back' : 'Use mine'}
          </Button>
        </span>
      ) : (
        <>
          {isTransient(problem) && (
            <Button size="xs" onClick={() => edits.repeat(edit)}>
              Try again now
            </Button>
          )}
          {edit.set && (
            <CopyButton withText label={isReversal ? 'Copy the former value' : 'Copy your value'} value={mine} />
          )}
          <CloseButton label="Dismiss" size="xs" onClick={close} />
        </>
      )}
    </section>
  )
}

/** Whether an edit is sent again, because the service did not respond. */
export function isRepeated({ status, failureCount }: EditState): boolean {
  return status === 'pending' && failureCount > 0
}
