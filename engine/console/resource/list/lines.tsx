import { textOf } from '#service/fields'
import './lines.css'
import { type ComponentProps, useReducer } from 'react'
import { Button, CloseButton } from '../../components/buttons.tsx'
import { keepFocus } from '../../components/focus.ts'
import { IconAlertTriangle } from '../../components/icons.tsx'
import { problemOf } from '../../problem.ts'
import { Countdown, Reason } from '../../requests/failure.tsx'
import { ShowRequest } from '../../requests/open-requests.tsx'
import { isSearchable } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { importDrafts } from '../drafts.ts'
import { type NewItem, useRetry } from '../item/new-item.ts'
import { useList, useResource } from '../page-context.ts'
import { everything, hrefOf, openHere } from '../view.ts'

interface LinesProps {
  newItem: NewItem
  /** Whether the import is open, which shows its rows itself. */
  isImporting: boolean
  /** Closes the message if this part could not be loaded. */
  onClose?: () => void
}

/** The lines above the list: what the user has added, and what is not added yet. */
export function Lines({ newItem, isImporting }: LinesProps) {
  return (
    <>
      <JustAdded {...newItem} />
      <NotAdded {...newItem} />
      {!isImporting && <LeftImport />}
    </>
  )
}

interface LineProps extends ComponentProps<'div'> {
  text: string
  /** How screen readers announce the text. */
  live?: 'alert' | 'status'
  onDismiss: () => void
}

/** A line above the list. */
function Line({ text, live, onDismiss, children, ...props }: LineProps) {
  const { resource } = useResource()
  return (
    <div ref={keepFocus} className="just-added" {...props}>
      <span className="just-added-count" role={live}>
        {text}
      </span>
      {children}
      <CloseButton label={editTextsOf(resource).edit.dismiss} size="xs" onClick={onDismiss} />
    </div>
  )
}

/** A save that failed after its form was closed. */
function NotAdded(newItem: NewItem) {
  const { error, variables, isUncertain, forgetFailure, mutate } = newItem
  const { resource, open } = useResource()
  const { add: addTexts } = editTextsOf(resource)
  const { view } = useList()
  useRetry(newItem, () => variables && mutate(variables), view.isAdding)
  if (!error || view.isAdding) return null
  return (
    <Line
      text={isUncertain ? addTexts.uncertain : addTexts.notAdded}
      onDismiss={forgetFailure}
      live="alert"
      data-failed
    >
      <bdi>{textOf(variables?.[resource.title])}</bdi>
      <Button variant="subtle" size="compact-sm" onClick={() => open({ kind: 'add' })}>
        {addTexts.showForm}
      </Button>
    </Line>
  )
}

/** An import that was left before all of its rows were added. */
function LeftImport() {
  const { resource, open } = useResource()
  const { add: addTexts } = editTextsOf(resource)
  const [, update] = useReducer((updates: number) => updates + 1, 0)
  const { added = 0, waiting = 0 } = importDrafts.get(resource.many)?.progress ?? {}
  if (waiting === 0) return null
  function dismiss() {
    importDrafts.delete(resource.many)
    update()
  }
  return (
    <Line text={addTexts.left(added, waiting)} onDismiss={dismiss} live="status" data-waiting>
      <Button variant="subtle" size="compact-sm" onClick={() => open({ kind: 'import' })}>
        {addTexts.showRows}
      </Button>
    </Line>
  )
}

/** What the user has just added. The list may be at another page, or show other items. */
function JustAdded({ added, dismissAdded }: NewItem) {
  const { resource, open, turnTo } = useResource()
  const { add: addTexts } = editTextsOf(resource)
  const [latest] = added
  if (!latest) return null
  const { id } = latest
  return (
    <Line text={addTexts.count(added.length)} onDismiss={dismissAdded} role="region" aria-label={addTexts.justAdded}>
      <a href={hrefOf(resource, { item: id })} onClick={(event) => openHere(event, () => open({ kind: 'item', id }))}>
        <bdi>{textOf(latest[resource.title])}</bdi> <span className="number">{`#${id}`}</span>
      </a>
      {isSearchable(resource) && (
        <Button variant="subtle" size="compact-sm" onClick={() => turnTo({ ...everything, order: 'newest' })}>
          {addTexts.showNewest}
        </Button>
      )}
    </Line>
  )
}

/** Why the list may be out of date: it could not be loaded again. */
export function OutOfDate() {
  const texts = useResource().texts.list
  const { items, dataUpdatedAt, failureReason, failureCount } = useList().list
  if (!items || !failureReason) return null
  const problem = problemOf(failureReason)
  const { retryAfter, requestId } = problem
  return (
    <div className="list-out-of-date">
      <IconAlertTriangle />
      <span role="status">
        <span>{texts.outOfDate(new Date(dataUpdatedAt))}</span>{' '}
        <Reason {...problem}>
          <Countdown key={retryAfter && failureCount} seconds={retryAfter} />
        </Reason>
      </span>
      <ShowRequest requestId={requestId} />
    </div>
  )
}
