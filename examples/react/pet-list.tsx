import type { PetstoreClient } from 'petstore/client'
import { usePets } from './use-pets.ts'

export function PetList({ petstore }: { petstore: PetstoreClient }) {
  const { pets, addPet } = usePets(petstore, 'available')
  const error = addPet.error ?? pets.error

  function add(form: FormData) {
    addPet.mutate({ name: String(form.get('name')), categoryId: 7n })
  }

  return (
    <>
      {pets.isPending && <p>Loading…</p>}
      <ul>
        {pets.data?.map(({ id, name }) => (
          <li key={String(id)}>{name}</li>
        ))}
      </ul>
      <form action={add}>
        <input name="name" aria-label="Name" /> <button type="submit">Add</button>
      </form>
      {error && <p role="alert">{error.message}</p>}
    </>
  )
}
