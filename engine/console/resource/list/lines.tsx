import { textOf } from '#service/fields'
import './lines.css'
import { type ComponentProps, useReducer } from 'react'
import { Button, IconButton } from '../../components/buttons.tsx'
import { keepFocus } from '../../components/focus.ts'
import { IconX } from '../../components/icons.tsx'
import { isSearchable } from '../../resource.ts'
import { messages } from '../../texts/messages.ts'
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
  const { texts } = useResource()
  return (
    <div ref={keepFocus} className="just-added" {...props}>
      <span className="just-added-count" role={live}>
        {text}
      </span>
      {children}
      <IconButton label={texts.list.dismiss} size="xs" onClick={onDismiss}>
        <IconX />
      </IconButton>
    </div>
  )
}

/** A save that failed after its form was closed. */
function NotAdded(newItem: NewItem) {
  const { error, variables, isUncertain, forgetFailure, mutate } = newItem
  const { resource, texts, open } = useResource()
  const { view } = useList()
  useRetry(newItem, () => variables && mutate(variables), view.isAdding)
  if (!error || view.isAdding) return null
  return (
    <Line
      text={isUncertain ? texts.add.uncertain : texts.add.notAdded}
      onDismiss={forgetFailure}
      live="alert"
      data-failed
    >
      <bdi>{textOf(variables?.[resource.title])}</bdi>
      <Button variant="subtle" size="compact-sm" onClick={() => open({ kind: 'add' })}>
        {texts.add.showForm}
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
  function dismiss() {
    importDrafts.delete(resource.many)
    update()
  }
  return (
    <Line text={messages.bulk.left(added, waiting)} onDismiss={dismiss} live="status">
      <Button variant="subtle" size="compact-sm" onClick={() => open({ kind: 'import' })}>
        {messages.bulk.show}
      </Button>
    </Line>
  )
}

/** What the user has just added. The list may be at another page, or show other items. */
function JustAdded({ added, dismissAdded }: NewItem) {
  const { resource, texts, open, turnTo } = useResource()
  const [latest] = added
  if (!latest) return null
  const { id } = latest
  return (
    <Line
      text={texts.list.added(added.length)}
      onDismiss={dismissAdded}
      role="region"
      aria-label={texts.list.justAdded}
    >
      <a href={hrefOf(resource, { item: id })} onClick={(event) => openHere(event, () => open({ kind: 'item', id }))}>
        <bdi>{textOf(latest[resource.title])}</bdi> <span className="number">{`#${id}`}</span>
      </a>
      {isSearchable(resource) && (
        <Button variant="subtle" size="compact-sm" onClick={() => turnTo({ ...everything, order: 'newest' })}>
          {texts.list.showNewest}
        </Button>
      )}
    </Line>
  )
}
