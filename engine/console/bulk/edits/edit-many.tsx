import '../bulk.css'
import { useWindowEvent } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, type MouseEvent, type Ref, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Button } from '../../components/buttons.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { Notice } from '../../form/notice.tsx'
import { capitalized, number, plural } from '../../formats.ts'
import { type Problem, problemOf } from '../../problem.ts'
import { doubleTime } from '../../resource/edits.ts'
import { conflictText, headingOf, Named, removedText, useItemLink } from '../../resource/item/edit-text.tsx'
import { useAuthor, useRemoval } from '../../resource/item/history.ts'
import { useResource } from '../../resource/page-context.ts'
import type { Edit, Item } from '../../resource.ts'
import { Progress } from '../use-job.tsx'
import { useEditMany } from './use-edit-many.ts'
import { type EditManyProps, useResult } from './use-result.ts'

/** The most names that a question shows. */
const maxNames = 5

/** Asks whether many items are changed, and does that. */
export function EditMany(props: EditManyProps) {
  const { edits, startsAtOnce = false } = props
  const { resource } = useResource()
  const job = useEditMany(props)
  const result = useResult(props, job)
  const { start, stop, left, failed, done, twin, hasStarted, isRunning } = job
  const { texts, close, isOfOtherKey } = result
  const hasEnded = hasStarted && !isRunning
  const isTwin = twin !== undefined && hasEnded && left.length > 0

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
        {hasStarted && !isTwin && (
          <Progress
            label={`${capitalized(resource.many)} that are changed`}
            done={edits.length - left.length}
            total={edits.length}
            pause={job.pause}
          />
        )}
        {!hasStarted && <Plan edits={edits} text={texts.plan} />}
        <p role="status">{isTwin ? <Twin item={twin} onShow={close} /> : hasEnded && result.text}</p>
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
            <Choices closeButton={closeButton} isTwin={isTwin} job={job} result={result} />
          )}
        </div>
      </div>
    </Sheet>
  )
}

/** What will be done, with the names of the items to remove. The page shows those that get other values. */
function Plan({ edits, text }: { edits: Edit[]; text: string }) {
  const { resource } = useResource()
  return (
    <>
      {!edits[0]?.set && (
        <ul className="bulk-names">
          {edits.slice(0, maxNames).map(({ idempotencyKey, seen }) => (
            <li key={idempotencyKey}>
              <bdi>{headingOf(resource, seen.id, seen)}</bdi>
            </li>
          ))}
          {edits.length > maxNames && <li>{`and ${number(edits.length - maxNames)} more`}</li>}
        </ul>
      )}
      <p>{text}</p>
    </>
  )
}

/** Names the later item with the same values as the one to add again. */
function Twin({ item, onShow }: { item: Item; onShow: () => void }) {
  const { resource } = useResource()
  const { href, onClick } = useItemLink()(item.id)
  const name = headingOf(resource, item.id, item)
  function show(event: MouseEvent<HTMLAnchorElement>) {
    onClick?.(event)
    // The item is shown as soon as the dialog is closed.
    if (event.defaultPrevented) onShow()
  }
  return (
    <Named
      text={`${name} has the same values. “Add anyway” adds one more, with a new id.`}
      names={[name]}
      link={{ href, onClick: show }}
    />
  )
}

interface ChoicesProps {
  closeButton: Ref<HTMLButtonElement>
  isTwin: boolean
  job: ReturnType<typeof useEditMany>
  result: ReturnType<typeof useResult>
}

/** The buttons before the edits are sent, and after their end. */
function Choices({ closeButton, isTwin, job, result }: ChoicesProps) {
  const { left, conflicts, hasStarted, start } = job
  const { texts, close, undo, addAgain, insist, isRemoval, isOfOtherKey } = result
  const { length } = conflicts
  const leaveText = insist && `Leave ${number(length)} as ${plural({ one: 'it is', many: 'they are' }, length)}`
  const continueText = isTwin ? 'Add anyway' : `Continue with ${number(left.length)}`
  return (
    <>
      <Button ref={closeButton} variant="default" data-autofocus={isRemoval || undefined} onClick={close}>
        {hasStarted ? (leaveText ?? 'Close') : 'Cancel'}
      </Button>
      {hasStarted && undo && (
        <Button variant="default" onClick={() => undo()}>
          Undo
        </Button>
      )}
      {hasStarted && addAgain && (
        <Button
          variant="default"
          onClick={() => {
            close()
            addAgain.run()
          }}
        >
          {addAgain.text}
        </Button>
      )}
      {insist && (
        <Button variant={isRemoval ? 'danger' : 'default'} onClick={() => void insist()}>
          {texts.insist(length)}
        </Button>
      )}
      {left.length > 0 && !isOfOtherKey && (
        <Button
          data-autofocus={!isRemoval || undefined}
          variant={isRemoval ? 'danger' : 'filled'}
          onClick={() => start()}
        >
          {hasStarted ? continueText : texts.start}
        </Button>
      )}
    </>
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
