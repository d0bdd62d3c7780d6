import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { Announcement } from '../../components/announcement.tsx'
import { focusAround } from '../../components/focus.ts'
import { areCharactersOn, useShortcuts } from '../../components/keyboard.ts'
import { listOf } from '../../formats.ts'
import { useAccess } from '../access.ts'
import { useDeselectRemoved } from '../item/deselect-removed.ts'
import { quoted } from '../item/edit-text.tsx'
import type { NewItem } from '../item/new-item.ts'
import { useResource } from '../page-context.ts'
import { useShownAddress } from '../use-shown-address.ts'
import { type Done, Failed, Saved, Waiting } from './edit-outcome.tsx'
import { useLastEdit } from './use-last-edit.ts'

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
  const { resource, edits } = useResource()
  const { isReadOnly } = useAccess()
  const { failed, cause, waiting, removed, latest, isDone, isRemoved, canUndo, say, undo } = useLastEdit(
    newItem,
    done,
    onDone,
  )
  const keyToUndo = canUndo && areCharactersOn() && hasKeys() ? `${latest?.undoLabel ?? 'Undo'} with Z.` : ''
  const shown = latest && latest.text !== undefined && latest.at >= closedAt && latest

  useDeselectRemoved(
    (text) => say(text, { onUndo: isDone ? done?.onUndo : undefined, isNews: true }),
    shown && 'edit' in shown && shown.edit.set ? shown.edit.seen.id : undefined,
  )
  const refuse = () => say(`Your API key can only show ${resource.many}. It cannot change them.`)
  useShownAddress(refuse, (names) => say(`Not valid in the link, and left out: ${listOf(names.map(quoted))}.`))
  useShortcuts({ notice: () => document.querySelector<HTMLElement>('.edit-notice button')?.focus() })
  useShortcuts(
    isReadOnly
      ? { add: refuse, choose: refuse, edit: refuse, remove: refuse, undo: refuse }
      : { undo: () => undo(true) },
  )

  return (
    <NoticeArea status={shown ? `${shown.text} ${keyToUndo}` : isRemoved && latest?.text}>
      {failed ? (
        <Failed key={failed.edit.idempotencyKey} {...failed} onClose={() => edits.forget(failed.edit)} />
      ) : (
        cause && <Waiting key={cause.edit.idempotencyKey} {...cause} all={waiting} />
      )}
      {shown && (
        <Saved key={shown.at} {...shown} removed={removed} onUndo={canUndo ? undo : undefined} onClose={onClose} />
      )}
    </NoticeArea>
  )
}

interface NoticeAreaProps {
  /** What screen readers announce. */
  status: string | false | undefined
  children: ReactNode
}

/** Where notices are. The Escape key moves the focus from them to what had it before. */
function NoticeArea({ status, children }: NoticeAreaProps) {
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
  const notices = (
    <>
      <Announcement text={status} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its buttons get the focus. */}
      <div
        className="edit-notices"
        onFocus={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.contains(relatedTarget)) former.current = relatedTarget
        }}
        onKeyDown={leave}
      >
        {children}
      </div>
    </>
  )
  return sheet ? createPortal(notices, sheet) : notices
}

/** Whether the device probably has a keyboard, which a phone does not. */
function hasKeys(): boolean {
  return matchMedia('(pointer: fine)').matches
}
