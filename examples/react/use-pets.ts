import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { NewPet, PetStatus, PetstoreClient } from 'petstore/client'

/** The pets of a status, and how to add one. */
export function usePets(petstore: PetstoreClient, status: PetStatus) {
  const cache = useQueryClient()
  const pets = useQuery({
    // An id in a key has to be a string: React Query makes JSON of keys, and JSON has no bigint.
    queryKey: ['pets', status],
    queryFn: ({ signal }) => petstore.pets.list.query({ status }, { signal }),
    // The client repeats by itself what failed for a passing reason.
    retry: false,
  })
  const addPet = useMutation({
    mutationFn: (pet: NewPet) => petstore.pets.create.mutate(pet),
    onSuccess: () => cache.invalidateQueries({ queryKey: ['pets'] }),
  })
  return { pets, addPet }
}
