import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createIdempotencyKey } from '../../client/idempotency-key.ts'
import type { NewPet, Pet, PetStatus } from '../../client/index.ts'
import { usePetstore } from '../petstore.ts'
import { isTransient, problemOf } from '../problem.ts'

/** The entries of the form, not validated. */
export interface Draft {
  name: string
  categoryId: string
  /** Undefined until the user chooses one. */
  status: PetStatus | undefined
}

const emptyDraft: Draft = { name: '', categoryId: '', status: undefined }

/**
 * The form for a new pet, also while it is closed. While the outcome of a request is unknown, the same pet gets the same
 * idempotency key. So a retry never adds a second pet.
 */
export function useNewPet(onAdded: (pet: Pet) => void) {
  const petstore = usePetstore()
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState(emptyDraft)
  const [keys] = useState(() => new Map<string, string>())

  function idempotencyKeyOf(pet: NewPet): string {
    const identity = identityOf(pet)
    const key = keys.get(identity) ?? createIdempotencyKey()
    keys.set(identity, key)
    return key
  }

  const mutation = useMutation({
    mutationFn: (pet: NewPet) =>
      petstore.pets.create.mutate(pet, { context: { idempotencyKey: idempotencyKeyOf(pet) } }),
    onSettled(_added, error, pet) {
      if (!error || !isTransient(problemOf(error))) keys.delete(identityOf(pet))
    },
    onSuccess(pet) {
      setDraft(emptyDraft)
      void queryClient.invalidateQueries({ queryKey: ['pets'] })
      onAdded(pet)
    },
  })
  return { ...mutation, draft, setDraft, idempotencyKeyOf }
}

export type NewPetForm = ReturnType<typeof useNewPet>

/** The pet of a draft. The service validates it, as it does for every client. */
export function petOf({ name, categoryId, status }: Draft): NewPet {
  const category = categoryId.trim()
  const pet = {
    name,
    categoryId: /^-?\d+$/.test(category) ? BigInt(category) : category || undefined,
    status,
  }
  // Not a NewPet if a value is invalid. The service then responds with an error for each invalid field.
  return pet as NewPet
}

/** A string that is equal for equal pets. */
export function identityOf({ name, categoryId, status }: NewPet): string {
  return JSON.stringify([name, String(categoryId), status])
}
