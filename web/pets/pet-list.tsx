import { useRef } from 'react'
import { NotLoaded } from '../components/not-loaded.tsx'
import { problemOf } from '../problem.ts'
import { NoPets } from './no-pets.tsx'
import { Pager } from './pager.tsx'
import { PetTable } from './pet-table.tsx'
import { type PageQuery, pageSize, usePage } from './queries.ts'
import type { View } from './view.ts'

interface PetListProps {
  view: View
  onOpen: (petId: bigint) => void
  onAdd: () => void
}

/** One page of the list, with pagers. */
export function PetList({ view, onOpen, onAdd }: PetListProps) {
  const page = usePage(view)
  const head = useRef<HTMLParagraphElement>(null)
  return (
    <>
      <div className="list-head">
        <p ref={head} tabIndex={-1} role="status" className={page.failureReason ? 'out-of-date' : undefined}>
          {statusOf(page, view)}
        </p>
        <Pager label="Pages" view={view} page={page.isPlaceholderData ? undefined : page.data} />
      </div>
      <Page page={page} view={view} onOpen={onOpen} onAdd={onAdd} onTurn={() => head.current?.focus()} />
    </>
  )
}

interface PageProps extends PetListProps {
  page: PageQuery
  onTurn: () => void
}

function Page({ page, view, onOpen, onAdd, onTurn }: PageProps) {
  const { data, failureReason, isPlaceholderData, retryNow } = page
  const hasData = data && !isPlaceholderData
  const isOneOfMany = view.cursor > 0n || (data && data.length > pageSize)
  if (failureReason && !hasData) {
    return (
      <NotLoaded
        title="The pets could not be loaded"
        problem={problemOf(failureReason)}
        onRetry={() => {
          retryNow()
          onTurn()
        }}
      />
    )
  }
  if (hasData && data.length === 0) return <NoPets view={view} onAdd={onAdd} onTurn={onTurn} />
  return (
    <>
      <PetTable pets={data?.length ? data.slice(0, pageSize) : undefined} isBusy={!hasData} onOpen={onOpen} />
      {hasData && isOneOfMany && (
        // A new element for each page. A reused one would count as a layout shift if the table changes its height.
        <div className="list-foot" key={`${view.status} ${view.cursor}`}>
          <Pager label="Pages, after the table" view={view} page={data} onTurn={onTurn} />
        </div>
      )}
    </>
  )
}

/** The text of the status line: the part of the list that is shown, or why it may be out of date. */
function statusOf(page: PageQuery, view: View): string {
  const { data, failureReason, dataUpdatedAt, isPlaceholderData } = page
  if (!data || isPlaceholderData) return failureReason ? '' : 'Loading…'
  if (failureReason) {
    return `${problemOf(failureReason).message} Last loaded at ${timeOf(dataUpdatedAt)}. Trying again…`
  }
  if (data.length === 0) return 'No pets'
  if (view.cursor > 0n && view.earlierCursors.length === 0) return `Pets after the id ${view.cursor}`
  const first = view.earlierCursors.length * pageSize + 1
  return data.length === 1 ? `Pet ${first}` : `Pets ${first} to ${first + Math.min(data.length, pageSize) - 1}`
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toLocaleTimeString('en')
}
