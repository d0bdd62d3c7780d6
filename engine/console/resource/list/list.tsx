import './list.css'
import { useEffect, useRef, useState } from 'react'
import { Announcement } from '../../components/announcement.tsx'
import { loadLater } from '../../components/load-later.tsx'
import { countOf, is, number } from '../../formats.ts'
import { Failure } from '../../requests/failure.tsx'
import type { Edit } from '../../resource.ts'
import { useChanges } from '../changes.ts'
import { importDrafts } from '../drafts.ts'
import { isResultOf } from '../edits.ts'
import type { NewItem } from '../item/new-item.ts'
import { useList, useResource } from '../page-context.ts'
import { hrefOfPlace } from '../view.ts'
import { CursorFooter } from './cursor-footer.tsx'
import { ResourceTable } from './table.tsx'

const EmptyList = loadLater(async () => (await import('./empty-list.tsx')).EmptyList)
const Lines = loadLater(async () => (await import('./lines.tsx')).Lines)
const SelectionBar = loadLater(async () => (await import('./selection-bar.tsx')).SelectionBar)

interface ListProps {
  newItem: NewItem
  /** The edits of many items and the additions, whose results are not announced as changes of others. */
  ownEdits: Edit[]
  /** Whether the import is open, which shows its rows itself. */
  isImporting: boolean
}

/** One page of the list. */
export function List({ newItem, ownEdits, isImporting }: ListProps) {
  const { resource } = useResource()
  const { view, selection } = useList()
  const hasLines = newItem.error || newItem.entered[resource.title] || importDrafts.has(resource.many)
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
        {hasLines && <Lines newItem={newItem} isImporting={isImporting} onClose={newItem.forgetFailure} />}
        <div className="item-list" ref={scroller}>
          <div className="selection">
            <Announcement text={(selection.count > 0 || wasSelected) && `${number(selection.count)} selected`} />
            {selection.count > 0 && <SelectionBar onClose={selection.clear} />}
          </div>
          <Content place={place} ownEdits={ownEdits} />
        </div>
        <CursorFooter />
      </div>
    </div>
  )
}

function Content({ place, ownEdits }: { place: string; ownEdits: Edit[] }) {
  const { resource } = useResource()
  const { view, list, states } = useList()
  const { items, failureReason, failureCount } = list
  const loaded = items && !list.isSearching ? list.data?.items : undefined
  const own = [...states.map(({ edit }) => edit), ...ownEdits]
  const changes = useChanges(place, loaded, view.size, (item) => own.some((edit) => isResultOf(resource, edit, item)))
  const ofOthers = [...changes.values()].filter(({ isOwn }) => !isOwn).length
  const failure = failureReason && !items && (
    <Failure title={`The ${resource.many} could not be loaded`} error={failureReason} failures={failureCount} />
  )
  if (failure && !list.rows?.length) return failure
  if (items?.length === 0 && !list.isSearching) return <EmptyList ownEdits={own} />
  return (
    <>
      {failure}
      <Announcement text={ofOthers > 0 && `${countOf(resource, ofOthers)} ${is(ofOthers)} new or changed.`} />
      <ResourceTable changes={changes} />
    </>
  )
}
