import type { PetstoreClient } from 'petstore-client'
import { usePet } from './use-pets.ts'

export function PetDetails({ petstore, petId }: { petstore: PetstoreClient; petId: bigint }) {
  const { data, error } = usePet(petstore, petId)
  if (error) return <p role="alert">{error.message}</p>
  return <p role="status">{data ? `${data.name} has the id ${data.id}.` : 'Loading…'}</p>
}
