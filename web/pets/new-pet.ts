import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createIdempotencyKey } from '../../client/idempotency-key.ts'
import type { NewPet, Pet } from '../../client/index.ts'
import { usePetstore } from '../petstore.ts'
import { isTransient, problemOf } from '../problem.ts'
import { identityOf, parseTexts } from '../resource.ts'
import { petResource } from './pet.ts'

/** The entries of the form by the names of their fields, not validated. A field is absent until the user enters something. */
export type Draft = Readonly<Record<string, string>>

const emptyDraft: Draft = {}

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
    const identity = textOf(pet)
    const key = keys.get(identity) ?? createIdempotencyKey()
    keys.set(identity, key)
    return key
  }

  const mutation = useMutation({
    mutationFn: (pet: NewPet) =>
      petstore.pets.create.mutate(pet, { context: { idempotencyKey: idempotencyKeyOf(pet) } }),
    onSettled(_added, error, pet) {
      if (!error || !isTransient(problemOf(error))) keys.delete(textOf(pet))
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
export function petOf(draft: Draft): NewPet {
  // Not a NewPet if a value is invalid. The service then responds with an error for each invalid field.
  return parseTexts(petResource, draft) as NewPet
}

/** A string that is equal for equal pets. */
export function textOf(pet: NewPet): string {
  return JSON.stringify(identityOf(petResource, pet))
}
