import './just-added.css'
import './list.css'
import { Suspense, useEffect, useReducer, useRef } from 'react'
import { importDrafts } from '../../bulk/drafts.ts'
import { Button, IconButton } from '../../components/buttons.tsx'
import { Failure } from '../../components/failure.tsx'
import { keepFocus } from '../../components/focus.ts'
import { IconX } from '../../components/icons.tsx'
import { loadLater } from '../../components/load-later.tsx'
import { problemOf } from '../../problem.ts'
import { textOf } from '../../resource.ts'
import { messages } from '../../texts/messages.ts'
import { useRefresh } from '../queries.ts'
import { usePage } from '../use-page.ts'
import { hrefOf, hrefOfPlace, openHere } from '../view.ts'
import { useChanges } from './changes.ts'
import { CursorFooter } from './cursor-footer.tsx'
import { EmptyList } from './empty-list.tsx'
import { ResourceTable } from './table.tsx'

export const SelectionBar = loadLater(async () => (await import('./selection-bar.tsx')).SelectionBar)

/** One page of the list. */
export function List() {
  const { resource, texts, view, selection } = usePage()
  const surface = useRef<HTMLDivElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const place = hrefOfPlace(resource, view)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another part of the list is shown from its start.
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 })
    const top = surface.current?.getBoundingClientRect().top ?? 0
    if (top < 0) surface.current?.scrollIntoView()
  }, [place])

  return (
    <div className="list">
      <div className="surface" ref={surface}>
        <JustAdded />
        <NotAdded />
        <LeftImport />
        <div className="item-list" ref={scroller}>
          <div className="selection">
            {/* There before it has a text, or screen readers would not announce the first one. */}
            <span className="visually-hidden" role="status">
              {selection.count > 0 && texts.list.selected(selection.count)}
            </span>
            <Suspense>{selection.count > 0 && <SelectionBar onClose={selection.clear} />}</Suspense>
          </div>
          <Content place={place} />
        </div>
        <CursorFooter />
      </div>
    </div>
  )
}

function Content({ place }: { place: string }) {
  const { texts, queries, view, list, added, refs } = usePage()
  const { items, rows, failureReason, failureCount } = list
  const loaded = items && !list.isSearching ? list.data?.items : undefined
  const changes = useChanges(place, loaded, view.size, (id) => added.some((each) => each.id === id))
  const refresh = useRefresh(queries)
  if (failureReason && !items) {
    const problem = problemOf(failureReason)
    return <Failure title={texts.list.notLoaded} problem={problem} failures={failureCount} onRetry={refresh} />
  }
  if (items?.length === 0 && !list.isSearching) return <EmptyList />
  return (
    <>
      <span className="visually-hidden" role="status">
        {changes.size > 0 && texts.list.changed(changes.size)}
      </span>
      <ResourceTable
        items={rows?.length ? rows : undefined}
        isBusy={!items}
        added={added}
        changes={changes}
        rows={refs.rows}
      />
    </>
  )
}

/** A save that failed after its form was closed. */
function NotAdded() {
  const { resource, texts, newItem, panel, open } = usePage()
  const { error, variables, forgetFailure } = newItem
  if (!error || panel?.kind === 'add') return null
  return (
    <div ref={keepFocus} className="just-added" data-failed role="alert">
      <span className="just-added-count">{newItem.isUncertain ? texts.add.uncertain : texts.add.notAdded}</span>
      <bdi>{textOf(variables?.[resource.title])}</bdi>
      <Button variant="subtle" size="compact-sm" onClick={() => open({ kind: 'add' })}>
        {texts.add.showForm}
      </Button>
      <IconButton label={texts.list.dismiss} size="xs" onClick={forgetFailure}>
        <IconX />
      </IconButton>
    </div>
  )
}

/** An import that was left before all of its rows were added. */
function LeftImport() {
  const { resource, texts, sheet, open } = usePage()
  const [, update] = useReducer((updates: number) => updates + 1, 0)
  const { added = 0, waiting = 0 } = importDrafts.get(resource.many)?.progress ?? {}
  if (waiting === 0 || sheet?.kind === 'import') return null
  function dismiss() {
    importDrafts.delete(resource.many)
    update()
  }
  return (
    <div ref={keepFocus} className="just-added" role="status">
      <span className="just-added-count">{messages.bulk.left(added, waiting)}</span>
      <Button variant="subtle" size="compact-sm" onClick={() => open({ kind: 'import' })}>
        {messages.bulk.show}
      </Button>
      <IconButton label={texts.list.dismiss} size="xs" onClick={dismiss}>
        <IconX />
      </IconButton>
    </div>
  )
}

/** What the user has just added. The list may be at another page, or show other items. */
function JustAdded() {
  const { resource, texts, added, open, showNewest, dismissAdded } = usePage()
  const [latest] = added
  if (!latest) return null
  const { id } = latest
  return (
    <section className="just-added" aria-label={texts.list.justAdded}>
      <span className="just-added-count">{texts.list.added(added.length)}</span>
      <a href={hrefOf(resource, { item: id })} onClick={(event) => openHere(event, () => open({ kind: 'item', id }))}>
        <bdi>{textOf(latest[resource.title])}</bdi> <span className="number">#{String(id)}</span>
      </a>
      {showNewest && (
        <Button variant="subtle" size="compact-sm" onClick={showNewest}>
          {texts.list.showNewest}
        </Button>
      )}
      <IconButton label={texts.list.dismiss} size="xs" onClick={dismissAdded}>
        <IconX />
      </IconButton>
    </section>
  )
}
