import { Skeleton } from '@mantine/core'
import type { Pet } from '../../client/index.ts'
import { Dialog } from '../components/dialog.tsx'
import { Message } from '../components/message.tsx'
import { NotLoaded } from '../components/not-loaded.tsx'
import { problemOf } from '../problem.ts'
import { PetStatusBadge } from './pet-status-badge.tsx'
import { type PetQuery, usePet } from './queries.ts'

interface PetDetailsProps {
  /** Undefined while the dialog is closed. */
  petId: bigint | undefined
  onClose: () => void
}

export function PetDetails({ petId, onClose }: PetDetailsProps) {
  const pet = usePet(petId)
  return (
    <Dialog isOpen={petId !== undefined} title={pet.data?.name ?? `Pet ${petId}`} onClose={onClose}>
      <LoadedPet pet={pet} />
    </Dialog>
  )
}

function LoadedPet({ pet: { data, failureReason, retryNow } }: { pet: PetQuery }) {
  if (data) return <Details pet={data} />
  if (!failureReason) return <Skeleton className="details-skeleton" role="status" aria-label="Loading" />
  const problem = problemOf(failureReason)
  if (problem.kind === 'missing') return <Message title={problem.message} />
  return <NotLoaded title="The pet could not be loaded" problem={problem} onRetry={retryNow} />
}

function Details({ pet: { id, name, categoryId, status } }: { pet: Pet }) {
  return (
    <dl className="details">
      <dt>Id</dt>
      <dd>{String(id)}</dd>
      <dt>Name</dt>
      <dd dir="auto">{name}</dd>
      <dt>Category</dt>
      <dd>{String(categoryId)}</dd>
      <dt>Status</dt>
      <dd>
        <PetStatusBadge status={status} />
      </dd>
    </dl>
  )
}
