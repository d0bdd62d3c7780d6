import { Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { Pet } from '../client/index.ts'
import { Message } from './message.tsx'
import { NoPets } from './no-pets.tsx'
import { Pager } from './pager.tsx'
import { PetTable } from './pet-table.tsx'
import { problemOf } from './problem.ts'
import { pageSize, usePage } from './queries.ts'
import { show, type View } from './view.ts'

interface PetListProps {
  view: View
  onAdd: () => void
}

/** One page of the list, and the way to the next. */
export function PetList({ view, onAdd }: PetListProps) {
  const page = usePage(view)
  return (
    <>
      <div className="list-head">
        <p role="status" className={page.isError ? 'out-of-date' : undefined}>
          {statusOf(page, view)}
        </p>
        <Pager view={view} page={page.data} />
      </div>
      <Page page={page} view={view} onAdd={onAdd} />
    </>
  )
}

function Page({ page, view, onAdd }: PetListProps & { page: UseQueryResult<Pet[]> }) {
  const { data, error, isFetching, isPlaceholderData, refetch } = page
  if (error && !data) {
    const { kind, message } = problemOf(error)
    return (
      <Message title="The pets could not be loaded" text={kind === 'passing' ? `${message} Trying again…` : message}>
        <Button variant="default" loading={isFetching} onClick={() => void refetch()}>
          Try again
        </Button>
      </Message>
    )
  }
  if (data?.length === 0) return <NoPets view={view} onAdd={onAdd} />
  return (
    <PetTable
      pets={data?.slice(0, pageSize)}
      isBusy={!data || isPlaceholderData}
      onOpen={(pet) => show({ ...view, pet })}
    />
  )
}

/** Which part of the list is shown, or why it may be out of date. */
function statusOf({ data, error, dataUpdatedAt, isPlaceholderData }: UseQueryResult<Pet[]>, view: View): string {
  if (error && data) return `${problemOf(error).message} Last loaded at ${timeOf(dataUpdatedAt)}. Trying again…`
  if (error || data?.length === 0) return ''
  if (!data || isPlaceholderData) return 'Loading…'
  if (view.after > 0n && view.trail.length === 0) return `Pets after the id ${view.after}`
  const first = view.trail.length * pageSize + 1
  return data.length === 1 ? `Pet ${first}` : `Pets ${first} to ${first + Math.min(data.length, pageSize) - 1}`
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toLocaleTimeString()
}
