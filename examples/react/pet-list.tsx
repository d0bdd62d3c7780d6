import type { PetstoreClient } from 'petstore-client'
import { type FormEvent, useState } from 'react'
import { PetDetails } from './pet-details.tsx'
import { usePets } from './use-pets.ts'

export function PetList({ petstore }: { petstore: PetstoreClient }) {
  const { pets, addPet } = usePets(petstore, 'available')
  const [chosen, choose] = useState<bigint>()
  const error = addPet.error ?? pets.error

  function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    const name = String(new FormData(form).get('name'))
    addPet.mutate({ name, categoryId: 7n }, { onSuccess: () => form.reset() })
  }

  return (
    <>
      {pets.isPending && <p>Loading…</p>}
      <ul>
        {pets.data?.map(({ id, name }) => (
          <li key={String(id)}>
            <button type="button" onClick={() => choose(id)}>
              {name}
            </button>
          </li>
        ))}
      </ul>
      {chosen !== undefined && <PetDetails petstore={petstore} petId={chosen} />}
      <form onSubmit={add}>
        <input name="name" aria-label="Name" /> <button type="submit">Add</button>
      </form>
      {error && <p role="alert">{error.message}</p>}
    </>
  )
}
