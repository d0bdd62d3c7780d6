import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { NewPet, PetStatus, PetstoreClient } from 'petstore-client'

/** The pets of a status, and a mutation that adds a pet. */
export function usePets(petstore: PetstoreClient, status: PetStatus) {
  const cache = useQueryClient()
  const pets = useQuery({
    queryKey: ['pets', status],
    queryFn: ({ signal }) => petstore.pets.list.query({ status }, { signal }),
    // The client itself retries transient failures.
    retry: false,
  })
  const addPet = useMutation({
    mutationFn: (pet: NewPet) => petstore.pets.create.mutate(pet),
    onSuccess: () => cache.invalidateQueries({ queryKey: ['pets'] }),
  })
  return { pets, addPet }
}

/** The pet with this id. */
export function usePet(petstore: PetstoreClient, petId: bigint) {
  return useQuery({
    // A bigint in a key needs the queryKeyHashFn of query-client.ts.
    queryKey: ['pet', petId],
    queryFn: ({ signal }) => petstore.pets.get.query({ petId }, { signal }),
    retry: false,
  })
}
