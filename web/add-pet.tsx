import { Alert, Button, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef } from 'react'
import { createIdempotencyKey } from '../client/idempotency-key.ts'
import type { NewPet, Pet } from '../client/index.ts'
import { Dialog } from './dialog.tsx'
import { petStatuses } from './pet-status.ts'
import { usePetstore } from './petstore.ts'
import { fieldErrorsOf, type Problem, problemOf } from './problem.ts'

interface AddPetProps {
  onAdded: (pet: Pet) => void
  onClose: () => void
}

export function AddPet({ isOpen, onAdded, onClose }: AddPetProps & { isOpen: boolean }) {
  return (
    <Dialog isOpen={isOpen} title="Add a pet" onClose={onClose}>
      <NewPetForm onAdded={onAdded} onClose={onClose} />
    </Dialog>
  )
}

function NewPetForm({ onAdded, onClose }: AddPetProps) {
  const form = useRef<HTMLFormElement>(null)
  const { mutate, isPending, error } = useAddPet((pet) => {
    onAdded(pet)
    onClose()
  })
  const problem = error && problemOf(error)
  const fieldErrors = problem && fieldErrorsOf(problem)

  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    mutate(new FormData(event.currentTarget))
  }

  return (
    <form ref={form} noValidate onSubmit={submit}>
      <Stack>
        {problem && !fieldErrors && <Failure problem={problem} />}
        <TextInput name="name" label="Name" autoComplete="off" data-autofocus error={fieldErrors?.name} />
        <TextInput
          name="categoryId"
          label="Category"
          description="The number of the category."
          inputMode="numeric"
          autoComplete="off"
          error={fieldErrors?.categoryId}
        />
        <NativeSelect name="status" label="Status" data={petStatuses} error={fieldErrors?.status} />
        <Button type="submit" loading={isPending}>
          Add
        </Button>
      </Stack>
    </form>
  )
}

function Failure({ problem: { kind, message } }: { problem: Problem }) {
  const isUncertain = kind === 'passing'
  return (
    <Alert color="red" title={isUncertain ? 'The pet may not have been added' : 'The pet was not added'} role="alert">
      {message}
      {isUncertain && ' Try again: however often you do, it is added once.'}
    </Alert>
  )
}

/** Sends the same entries under the same idempotency key, so that trying again never makes a second pet. */
function useAddPet(onSuccess: (pet: Pet) => void) {
  const petstore = usePetstore()
  const queryClient = useQueryClient()
  const attempt = useRef({ entries: '', idempotencyKey: '' })
  return useMutation({
    mutationFn(form: FormData) {
      const entries = JSON.stringify([...form])
      if (attempt.current.entries !== entries) attempt.current = { entries, idempotencyKey: createIdempotencyKey() }
      const { idempotencyKey } = attempt.current
      return petstore.pets.create.mutate(newPetOf(form), { context: { idempotencyKey } })
    },
    onSuccess(pet) {
      void queryClient.invalidateQueries({ queryKey: ['pets'] })
      onSuccess(pet)
    },
  })
}

/** What the fields hold, right or not: the service says what is wrong with it, as it does to every client. */
function newPetOf(form: FormData): NewPet {
  const categoryId = String(form.get('categoryId')).trim()
  const pet = {
    name: form.get('name'),
    categoryId: /^-?\d+$/.test(categoryId) ? BigInt(categoryId) : categoryId || undefined,
    status: form.get('status'),
  }
  return pet as NewPet
}
