import '../bulk.css'
import { useWindowEvent } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, type MouseEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Button } from '../../components/buttons.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { Notice } from '../../form/notice.tsx'
import { capitalized, countOf, number } from '../../formats.ts'
import { type Problem, problemOf } from '../../problem.ts'
import { editManyDrafts } from '../../resource/drafts.ts'
import { doubleTime } from '../../resource/edits.ts'
import { conflictText, headingOf, Named, removedText, useItemLink } from '../../resource/item/edit-text.tsx'
import { additionOf, useAuthor, useRemoval } from '../../resource/item/history.ts'
import type { EditManyDialog } from '../../resource/navigation.ts'
import type { Done } from '../../resource/notice/edit-outcome.tsx'
import { useList, useResource } from '../../resource/page-context.ts'
import { isIncluded } from '../../resource/paged-list.ts'
import { neighborOf } from '../../resource/use-shown-list.ts'
import type { Edit, Item } from '../../resource.ts'
import { Progress } from '../use-job.tsx'
import { textsOfMany } from './many-text.ts'
import { useEditMany } from './use-edit-many.ts'

interface EditManyProps extends EditManyDialog {
  onClose: () => void
  /** Called with the edits that are saved. */
  onDone: (result: Omit<Done, 'at'>) => void
}

/** The most names that a question shows. */
const maxNames = 5

/** Asks whether many items are changed, and does that. */
export function EditMany({ onClose, onDone, ...dialog }: EditManyProps) {
  const { edits, same, isUndo = false, startsAtOnce = false, unchanged, onRemoved } = dialog
  const { resource, open } = useResource()
  const { selection, view } = useList()
  const { left, unconfirmed, failed, done, added, twin, hasStarted, ...job } = useEditMany(dialog)
  const { start, stop, status } = job
  const { set, isAddition = false, undoes } = edits[0] ?? {}
  const { isOfOtherKey = false } = dialog.progress ?? {}
  const canUndo = set !== undefined && undoes === undefined && !isOfOtherKey
  const texts = textsOfMany(resource, dialog)
  const isRemoval = !set && !isAddition
  const isRunning = status === 'pending'
  const hasEnded = hasStarted && !isRunning
  const isTwin = twin !== undefined && hasEnded && left.length > 0
  const twinName = twin ? headingOf(resource, twin.id, twin) : ''
  const twinLink = useItemLink()(twin?.id ?? 0n)
  const saved = [...done, ...unconfirmed]
  const startText = `${set ? 'Change' : 'Remove'} ${countOf(resource, left.length)}`
  const continueText = isTwin ? 'Add anyway' : `Continue with ${number(left.length)}`
  const addAgainText = `Add all ${number(done.length)} again`
  const results = texts.results(done.length, failed.length, unconfirmed.length, left.length - unconfirmed.length)

  /** Only the items that were not changed stay selected. The changes of the others can be undone. */
  function close() {
    editManyDrafts.delete(resource.many)
    if (edits.length === 0)
      return onDone({
        text: unchanged ?? `${countOf(resource, same)} already ${same === 1 ? 'has' : 'have'} this value.`,
        edits,
      })
    // An item that is gone cannot be changed later either.
    const [gone, kept] = [true, false].map((isGone) =>
      failed.filter(({ problem }) => (problem.kind === 'missing') === isGone).map(({ edit }) => edit.seen),
    )
    selection.remove(gone ?? [])
    if (saved.length === 0) return onClose()
    if (isRemoval) onRemoved?.(done)
    if (!isAddition) selection.clear()
    if (!isUndo && !isAddition) selection.add([...left.map(({ seen }) => seen), ...(kept ?? [])])
    const [only, ...others] = added.items.map(({ id, ...item }) => ({ id, name: headingOf(resource, id, item) }))
    const link = others.length === 0 ? only : undefined
    onDone({
      text: unconfirmed.length > 0 ? `${results}.` : texts.done(done.length, link?.name, added.before.size),
      edits: saved,
      focus: itemAfter,
      ...(link && { link }),
      firstId: link ? undefined : only?.id,
      ...(canUndo && { onUndo: undo }),
      ...(!isUndo && isRemoval && done.length > 0 && { onUndo: addDoneAgain, undoLabel: addAgainText }),
    })
  }
  /** The first item that was changed or added, or the one after those that were removed or have left the filter. */
  function itemAfter(items: Item[]): bigint | undefined {
    if (isAddition) return items.find(({ id }) => added.items.some((item) => item.id === id))?.id
    const first = done[0]?.seen
    if (first && set && isIncluded(view.filter, { ...first, ...set })) return first.id
    const gone = new Set(done.map(({ seen }) => seen.id))
    const left = items.filter(({ id }) => !gone.has(id))
    return neighborOf(left, { ...view, search: undefined }, first?.id, 1) ?? left.at(-1)?.id
  }
  const undo = () => open({ kind: 'editMany', edits: job.reversed(), same: 0, isUndo: true, startsAtOnce: true })
  function addDoneAgain() {
    const removed = done.map(({ seen }) => seen)
    open(additionOf(resource, removed))
  }
  /** Asks again, for the items that somebody else has changed. */
  async function insist() {
    const edits = await job.loadConflicts()
    close()
    if (edits.length > 0) open({ kind: 'editMany', edits, same: 0 })
  }

  function showTwin(event: MouseEvent<HTMLAnchorElement>) {
    twinLink.onClick?.(event)
    // The item is shown as soon as the dialog is closed.
    if (event.defaultPrevented) close()
  }

  const wasStarted = useRef(false)
  useEffect(() => {
    if (startsAtOnce && !wasStarted.current) start()
    wasStarted.current = true
  }, [startsAtOnce, start])
  const finish = useEffectEvent(close)
  const isAllDone = done.length === edits.length
  const closeButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (hasEnded && isAllDone) finish()
    else if (hasEnded) closeButton.current?.focus()
  }, [hasEnded, isAllDone])
  useWindowEvent('beforeunload', (event) => {
    if (isRunning) event.preventDefault()
  })

  const nameOf = ({ seen }: Edit) => headingOf(resource, seen.id, seen)
  return (
    <Sheet
      title={texts.title(hasStarted)}
      onClose={isRunning ? stop : close}
      size="sm"
      isModal
      isLate={startsAtOnce && !hasEnded}
      holdsEntries={hasStarted}
    >
      <div className="export">
        {job.error && (
          <Notice title={`The ${resource.many} were not changed`} problem={problemOf(job.error)}>
            {problemOf(job.error).message}
          </Notice>
        )}
        {isTwin ? null : hasStarted ? (
          <Progress
            label={`${capitalized(resource.many)} that are changed`}
            done={edits.length - left.length}
            total={edits.length}
            pause={job.pause}
          />
        ) : (
          <>
            {!set && (
              <ul className="bulk-names">
                {edits.slice(0, maxNames).map((edit) => (
                  <li key={edit.idempotencyKey}>
                    <bdi>{nameOf(edit)}</bdi>
                  </li>
                ))}
                {edits.length > maxNames && <li>{`and ${number(edits.length - maxNames)} more`}</li>}
              </ul>
            )}
            <p>{texts.plan}</p>
          </>
        )}
        <p role="status">
          {isTwin ? (
            <Named
              text={`${twinName} has the same values.`}
              names={[twinName]}
              link={{ ...twinLink, onClick: showTwin }}
            />
          ) : (
            hasEnded && results
          )}
        </p>
        {isOfOtherKey && <p>This was started with another API key, and cannot be continued with yours.</p>}
        {failed.length > 0 && (
          <ul className="bulk-names">
            {[...Map.groupBy(failed, ({ problem }) => problem.message)].map(([message, each]) => (
              <Failures key={message} failed={each} />
            ))}
          </ul>
        )}
        <div className="bulk-choice">
          {isRunning ? (
            <StopButton onStop={stop}>Stop</StopButton>
          ) : (
            <>
              <Button ref={closeButton} variant="default" data-autofocus={isRemoval || undefined} onClick={close}>
                {hasStarted ? 'Close' : 'Cancel'}
              </Button>
              {hasStarted && canUndo && saved.length > 0 && (
                <Button variant="default" onClick={undo}>
                  Undo
                </Button>
              )}
              {hasStarted && isRemoval && done.length > 0 && (
                <Button
                  variant="default"
                  onClick={() => {
                    close()
                    addDoneAgain()
                  }}
                >
                  {addAgainText}
                </Button>
              )}
              {job.conflicts.length > 0 && !isUndo && (
                <Button variant={set ? 'default' : 'danger'} onClick={() => void insist()}>
                  {set ? 'Use mine' : 'Remove anyway'}
                </Button>
              )}
              {left.length > 0 && !isOfOtherKey && (
                <Button
                  data-autofocus={!isRemoval || undefined}
                  variant={isRemoval ? 'danger' : 'filled'}
                  onClick={() => start()}
                >
                  {hasStarted ? continueText : startText}
                </Button>
              )}
            </>
          )}
        </div>
      </div>
    </Sheet>
  )
}

/** Names the first items for which one reason is given: what somebody else has done to each, or else what is wrong with all. */
function Failures({ failed }: { failed: { edit: Edit; problem: Problem }[] }) {
  const [first] = failed
  if (!first) return null
  const { kind, message } = first.problem
  const shown = failed.slice(0, maxNames).map(({ edit }) => edit)
  const others = failed.length > maxNames && `and ${number(failed.length - maxNames)} more`
  if (kind === 'missing' || kind === 'conflict')
    return (
      <>
        {shown.map((edit) => (
          <li key={edit.idempotencyKey}>
            <Name edit={edit} reason={kind} />
          </li>
        ))}
        {others && <li>{others}</li>}
      </>
    )
  return (
    <li>
      {shown.map((edit, index) => (
        <Fragment key={edit.idempotencyKey}>
          {index > 0 && ', '}
          <Name edit={edit} />
        </Fragment>
      ))}
      {others && ` ${others}`}: {message}
    </li>
  )
}

/** The name of an item, and who has removed or changed it. A change that is reversed may have none. */
function Name({ edit, reason }: { edit: Edit; reason?: 'missing' | 'conflict' }) {
  const { resource, queries } = useResource()
  const { id, ...seen } = edit.seen
  const isChanged = reason === 'conflict'
  const { removal } = useRemoval(id, reason === 'missing')
  const author = useAuthor(edit, isChanged)
  const isWanted = isChanged || (!reason && seen[resource.title] === undefined)
  const item = useQuery({
    ...queries.item(isWanted ? id : undefined, useQueryClient()),
    refetchInterval: false,
    refetchOnMount: isChanged ? 'always' : true,
  })
  const heading = headingOf(resource, id, item.data ?? removal?.before ?? seen)
  if (reason === 'missing') return <bdi>{removedText(heading, removal?.keyName)}</bdi>
  const isKnown = isChanged && !author.isLoading && item.isFetchedAfterMount && item.data !== undefined
  return <bdi>{isKnown ? conflictText(resource, edit, heading, author.keyName, item.data) : heading}</bdi>
}

/** Takes the focus of the button that it replaces, but not the second click or Enter of a double one. */
function StopButton({ onStop, children }: { onStop: () => void; children: string }) {
  const [shownAt] = useState(() => performance.now())
  const stop = ({ timeStamp }: MouseEvent) => timeStamp - shownAt > doubleTime && onStop()
  return (
    <Button variant="default" autoFocus data-autofocus onClick={stop}>
      {children}
    </Button>
  )
}
