import { textOf } from '#service/fields'
import './just-added.css'
import './list.css'
import { type ComponentProps, useEffect, useReducer, useRef, useState } from 'react'
import { Button, IconButton } from '../../components/buttons.tsx'
import { Failure } from '../../components/failure.tsx'
import { keepFocus } from '../../components/focus.ts'
import { IconX } from '../../components/icons.tsx'
import { loadLater } from '../../components/load-later.tsx'
import { type Edit, type Item, isSearchable } from '../../resource.ts'
import { messages } from '../../texts/messages.ts'
import { importDrafts } from '../drafts.ts'
import { isResultOf } from '../edits.ts'
import { type NewItem, useRetry } from '../item/new-item.ts'
import { useList, useResource } from '../page-context.ts'
import { everything, hrefOf, hrefOfPlace, openHere } from '../view.ts'
import { useChanges } from './changes.ts'
import { CursorFooter } from './cursor-footer.tsx'
import { ResourceTable } from './table.tsx'

const EmptyList = loadLater(async () => (await import('./empty-list.tsx')).EmptyList)
export const SelectionBar = loadLater(async () => (await import('./selection-bar.tsx')).SelectionBar)

interface ListProps {
  newItem: NewItem
  /** The edits of many items, whose results are not announced as changes of others. */
  ownEdits: Edit[]
  /** Whether the import is open, which shows its rows itself. */
  isImporting: boolean
}

/** One page of the list. */
export function List({ newItem, ownEdits, isImporting }: ListProps) {
  const { resource, texts } = useResource()
  const { view, selection } = useList()
  const surface = useRef<HTMLDivElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const place = hrefOfPlace(resource, view)
  const [wasSelected, setWasSelected] = useState(false)
  if (selection.count > 0 && !wasSelected) setWasSelected(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another part of the list is shown from its start.
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 })
    const top = surface.current?.getBoundingClientRect().top ?? 0
    if (top < 0) surface.current?.scrollIntoView()
  }, [place])

  return (
    <div className="list">
      <div className="surface" ref={surface}>
        <JustAdded {...newItem} />
        <NotAdded {...newItem} />
        {!isImporting && <LeftImport />}
        <div className="item-list" ref={scroller}>
          <div className="selection">
            {/* There before it has a text, or screen readers would not announce the first one. */}
            <span className="visually-hidden" role="status">
              {(selection.count > 0 || wasSelected) && texts.list.selected(selection.count)}
            </span>
            {selection.count > 0 && <SelectionBar onClose={selection.clear} />}
          </div>
          <Content place={place} added={newItem.added} ownEdits={ownEdits} />
        </div>
        <CursorFooter />
      </div>
    </div>
  )
}

function Content({ place, added, ownEdits }: { place: string; added: Item[]; ownEdits: Edit[] }) {
  const { texts } = useResource()
  const { view, list, states } = useList()
  const { items, failureReason, failureCount } = list
  const loaded = items && !list.isSearching ? list.data?.items : undefined
  const own = [...states.map(({ edit }) => edit), ...ownEdits]
  const changes = useChanges(
    place,
    loaded,
    view.size,
    (item) => added.some(({ id }) => id === item.id) || own.some((edit) => isResultOf(edit, item)),
  )
  if (failureReason && !items) {
    return <Failure title={texts.list.notLoaded} error={failureReason} failures={failureCount} />
  }
  if (items?.length === 0 && !list.isSearching) return <EmptyList />
  return (
    <>
      <span className="visually-hidden" role="status">
        {changes.size > 0 && texts.list.changed(changes.size)}
      </span>
      <ResourceTable added={added} changes={changes} />
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
