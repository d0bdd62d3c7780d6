import { Button, Skeleton } from '@mantine/core'
import type { Pet } from '../client/index.ts'
import { Dialog } from './dialog.tsx'
import { Message } from './message.tsx'
import { PetStatusBadge } from './pet-status-badge.tsx'
import { problemOf } from './problem.ts'
import { usePet } from './queries.ts'

interface PetDetailsProps {
  /** Undefined while no pet is shown by itself. */
  petId: bigint | undefined
  onClose: () => void
}

export function PetDetails({ petId, onClose }: PetDetailsProps) {
  return (
    <Dialog isOpen={petId !== undefined} title={`Pet ${petId}`} onClose={onClose}>
      {petId !== undefined && <LoadedPet petId={petId} />}
    </Dialog>
  )
}

function LoadedPet({ petId }: { petId: bigint }) {
  const { data: pet, error, isFetching, refetch } = usePet(petId)
  if (pet) return <Details pet={pet} />
  if (!error) return <Skeleton className="details-skeleton" aria-label="Loading" />
  const { kind, message } = problemOf(error)
  if (kind === 'missing') return <Message title="There is no such pet" text={message} />
  return (
    <Message title="The pet could not be loaded" text={message}>
      <Button variant="default" loading={isFetching} onClick={() => void refetch()}>
        Try again
      </Button>
    </Message>
  )
}

function Details({ pet: { id, name, categoryId, status } }: { pet: Pet }) {
  return (
    <dl className="details">
      <dt>Id</dt>
      <dd>{String(id)}</dd>
      <dt>Name</dt>
      <dd>{name}</dd>
      <dt>Category</dt>
      <dd>{String(categoryId)}</dd>
      <dt>Status</dt>
      <dd>
        <PetStatusBadge status={status} />
      </dd>
    </dl>
  )
}
