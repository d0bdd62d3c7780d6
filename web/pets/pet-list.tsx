import { useEffect, useRef } from 'react'
import type { Pet } from '../../client/index.ts'
import { Failure } from '../components/failure.tsx'
import { problemOf } from '../problem.ts'
import { ListFooter } from './list-footer.tsx'
import { messages } from './messages.ts'
import { NoPets } from './no-pets.tsx'
import { JustAdded, PetTable } from './pet-table.tsx'
import { type Counts, type PageQuery, pageSize, usePrefetchedPage, useRefresh } from './queries.ts'
import { StatusBar } from './status-filter.tsx'
import type { Place, View } from './view.ts'

interface PetListProps {
  view: View
  page: PageQuery
  counts: Counts | undefined
  /** The pets that the user has just added. */
  added: Pet[]
  onOpen: (petId: bigint) => void
  /** Called when the user may be about to open a pet. */
  onOpenIntent: (petId: bigint) => void
  onTurn: (place: Place) => void
  onAdd: () => void
  onAddMany: () => void
  onDismiss: () => void
}

/** One page of the list. */
export function PetList(props: PetListProps) {
  const { view, page, counts, added, onOpen, onOpenIntent, onTurn, onDismiss } = props
  const surface = useRef<HTMLDivElement>(null)
  const pets = page.isPlaceholderData ? undefined : page.data
  const next = pets && pets.length > pageSize ? pets[pageSize - 1]?.id : undefined
  usePrefetchedPage(view.status, next)
  const place = `${view.status} ${view.cursor}`
  useEffect(() => {
    const top = surface.current?.getBoundingClientRect().top ?? 0
    if (place !== '' && top < 0) surface.current?.scrollIntoView()
  }, [place])

  return (
    <div className="list">
      <StatusBar status={view.status} counts={counts} onChange={(status) => onTurn({ status })} />
      <div className="surface" ref={surface}>
        <JustAdded pets={added} openPet={view.pet} onOpen={onOpen} onOpenIntent={onOpenIntent} onDismiss={onDismiss} />
        <div className="pet-list">
          <Page {...props} />
        </div>
        <ListFooter view={view} page={page} counts={counts} next={next} onTurn={onTurn} />
      </div>
    </div>
  )
}

function Page({ view, page, added, onTurn, onAdd, onAddMany, onOpen, onOpenIntent }: PetListProps) {
  const { data, failureReason, failureCount, isPlaceholderData } = page
  const refresh = useRefresh()
  const hasData = data && !isPlaceholderData
  if (failureReason && !hasData) {
    const problem = problemOf(failureReason)
    return <Failure title={messages.list.notLoaded} problem={problem} failures={failureCount} onRetry={refresh} />
  }
  if (hasData && data.length === 0) return <NoPets view={view} onTurn={onTurn} onAdd={onAdd} onAddMany={onAddMany} />
  return (
    <PetTable
      pets={data?.length ? data.slice(0, pageSize) : undefined}
      isBusy={!hasData}
      openPet={view.pet}
      added={added}
      onOpen={onOpen}
      onOpenIntent={onOpenIntent}
    />
  )
}
