import { textOf } from '#service/fields'
import { countOfRows, is, joined, number, time } from '../../formats.ts'
import './lines.css'
import { type ComponentProps, useReducer, useState } from 'react'
import { Button, CloseButton } from '../../components/buttons.tsx'
import { keepFocus } from '../../components/focus.ts'
import { IconAlertTriangle } from '../../components/icons.tsx'
import { problemOf } from '../../problem.ts'
import { Countdown, Reason } from '../../requests/failure.tsx'
import { ShowRequest } from '../../requests/open-requests.tsx'
import { importDrafts } from '../drafts.ts'
import { type NewItem, useRetry } from '../item/new-item.ts'
import { useList, useResource } from '../page-context.ts'

interface LinesProps {
  newItem: NewItem
  /** Whether the import is open, which shows its rows itself. */
  isImporting: boolean
  /** Closes the message if this part could not be loaded. */
  onClose?: () => void
}

/** The lines above the list: what is not added yet. */
export function Lines({ newItem, isImporting }: LinesProps) {
  return (
    <>
      <NotAdded {...newItem} />
      {!isImporting && <LeftImport />}
    </>
  )
}

interface LineProps extends ComponentProps<'div'> {
  text: string
  /** How screen readers announce the text. */
  live: 'alert' | 'status'
  onDismiss: () => void
}

/** A line above the list. */
function Line({ text, live, onDismiss, children, ...props }: LineProps) {
  return (
    <div ref={keepFocus} className="not-added" {...props}>
      <span className="not-added-text" role={live}>
        {text}
      </span>
      {children}
      <CloseButton label="Dismiss" size="xs" onClick={onDismiss} />
    </div>
  )
}

/** A save that failed after its form was closed, or what was entered before that. Dismissing it keeps the entries. */
function NotAdded(newItem: NewItem) {
  const { error, variables, entered, isPending, isUncertain, forgetFailure, mutate } = newItem
  const { resource, open } = useResource()
  const { view } = useList()
  const [dismissed, setDismissed] = useState('')
  useRetry(newItem, () => variables && mutate(variables), view.isAdding)
  // Without a title, these may be the values that the form has kept for the next item.
  const title = entered[resource.title]?.trim()
  if (view.isAdding || isPending || (!error && (!title || title === dismissed))) return null
  function dismiss() {
    setDismissed(title ?? '')
    forgetFailure()
  }
  const failure = isUncertain ? 'may not have been added' : 'was not added'
  return (
    <Line
      text={`The ${resource.one} ${error ? failure : 'is not added yet'}`}
      onDismiss={dismiss}
      live={error ? 'alert' : 'status'}
      data-failed={error ? true : undefined}
      data-waiting={error ? undefined : true}
    >
      <bdi>{error ? textOf(variables?.[resource.title]) : title}</bdi>
      <Button variant="subtle" size="compact-sm" onClick={() => open({ kind: 'add' })}>
        Show the form
      </Button>
    </Line>
  )
}

/** An import that was left before all of its rows were added. */
function LeftImport() {
  const { resource, open } = useResource()
  const [, update] = useReducer((updates: number) => updates + 1, 0)
  const { added = 0, waiting = 0 } = importDrafts.get(resource.many)?.progress ?? {}
  if (waiting === 0) return null
  const left = `${countOfRows(waiting)} ${is(waiting)} not added yet`
  function dismiss() {
    importDrafts.delete(resource.many)
    update()
  }
  return (
    <Line
      text={joined(', ', [added > 0 && `${number(added)} added`, left])}
      onDismiss={dismiss}
      live="status"
      data-waiting
    >
      <Button variant="subtle" size="compact-sm" onClick={() => open({ kind: 'import' })}>
        Show the rows
      </Button>
    </Line>
  )
}

/** Why the list may be out of date: it could not be loaded again. */
export function OutOfDate() {
  const { items, dataUpdatedAt, failureReason, failureCount } = useList().list
  if (!items || !failureReason) return null
  const problem = problemOf(failureReason)
  const { retryAfter, requestId } = problem
  return (
    <div className="list-out-of-date">
      <IconAlertTriangle />
      <span role="status">
        <span>{`Out of date, loaded at ${time(new Date(dataUpdatedAt))}.`}</span>{' '}
        <Reason {...problem}>
          <Countdown key={retryAfter && failureCount} seconds={retryAfter} />
        </Reason>
      </span>
      <ShowRequest requestId={requestId} />
    </div>
  )
}
