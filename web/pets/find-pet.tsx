import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { parseId } from './view.ts'

/** Shows one pet by its id. */
export function FindPet({ onFind }: { onFind: (petId: bigint) => void }) {
  const [error, setError] = useState<string>()

  function find(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    const petId = parseId(String(new FormData(form).get('pet-id')).trim())
    setError(petId === undefined ? 'Enter an id: 1 to 19 digits.' : undefined)
    if (petId === undefined) form.querySelector('input')?.focus()
    else onFind(petId)
  }

  return (
    <search>
      <form className="find" noValidate onSubmit={find}>
        <TextInput
          name="pet-id"
          aria-label="Id of a pet"
          placeholder="Id of a pet"
          inputMode="numeric"
          autoComplete="off"
          error={error}
        />
        <Button type="submit" variant="default">
          Show
        </Button>
      </form>
    </search>
  )
}
