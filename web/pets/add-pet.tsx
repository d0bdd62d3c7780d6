import { Alert, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef } from 'react'
import { createIdempotencyKey } from '../../client/idempotency-key.ts'
import type { NewPet, Pet, PetStatus } from '../../client/index.ts'
import { Dialog } from '../components/dialog.tsx'
import { SteadyButton } from '../components/steady-button.tsx'
import { usePetstore } from '../petstore.ts'
import { fieldErrorsOf, isTransient, type Problem, problemOf } from '../problem.ts'
import { petStatuses } from './pet-status.ts'

interface AddPetProps {
  isOpen: boolean
  /** The initial status in the form. */
  status: PetStatus | undefined
  onAdded: (pet: Pet) => void
  onClose: () => void
}

/** The dialog stays open until the service has responded or the request has failed. */
export function AddPet({ isOpen, status, onAdded, onClose }: AddPetProps) {
  const queryClient = useQueryClient()
  const { mutate, reset, isPending, error } = useAddPet((pet) => {
    onAdded(pet)
    onClose()
  })

  function close() {
    // `isPending` changes only with the next render.
    if (queryClient.isMutating() > 0) return
    reset()
    onClose()
  }

  return (
    <Dialog isOpen={isOpen} title="Add a pet" onClose={close} holdsEntries>
      <NewPetForm status={status} isPending={isPending} error={error} onSubmit={mutate} />
    </Dialog>
  )
}

interface NewPetFormProps {
  status: PetStatus | undefined
  isPending: boolean
  error: Error | null
  onSubmit: (form: FormData) => void
}

function NewPetForm({ status, isPending, error, onSubmit }: NewPetFormProps) {
  const form = useRef<HTMLFormElement>(null)
  const problem = error && problemOf(error)
  const fieldErrors = problem && fieldErrorsOf(problem)

  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    onSubmit(new FormData(event.currentTarget))
  }

  return (
    <form ref={form} noValidate onSubmit={submit}>
      <Stack>
        {problem && !fieldErrors && <Failure problem={problem} />}
        <TextInput name="name" label="Name" autoComplete="off" dir="auto" data-autofocus error={fieldErrors?.name} />
        <TextInput
          name="categoryId"
          label="Category"
          description="A whole number, such as 7."
          autoComplete="off"
          error={fieldErrors?.categoryId}
        />
        <NativeSelect
          name="status"
          label="Status"
          defaultValue={status}
          data={petStatuses}
          error={fieldErrors?.status}
        />
        <SteadyButton type="submit" isDisabled={isPending}>
          {isPending ? 'Adding…' : problem && isTransient(problem) ? 'Try again' : 'Add'}
        </SteadyButton>
      </Stack>
    </form>
  )
}

function Failure({ problem }: { problem: Problem }) {
  const isUncertain = isTransient(problem)
  return (
    <Alert color="red" title={isUncertain ? 'The pet may not have been added' : 'The pet was not added'} role="alert">
      {problem.message}
      {isUncertain && ' Try again: the pet is added only once.'}
    </Alert>
  )
}

/**
 * Adds pets. While the outcome of a request is unknown, the same pet gets the same idempotency key, even if the form was
 * closed in between. So a retry never adds a second pet.
 */
function useAddPet(onSuccess: (pet: Pet) => void) {
  const petstore = usePetstore()
  const queryClient = useQueryClient()
  const uncertain = useRef(new Map<string, string>())
  return useMutation({
    mutationFn(form: FormData) {
      const pet = newPetOf(form)
      const idempotencyKey = uncertain.current.get(identityOf(pet)) ?? createIdempotencyKey()
      uncertain.current.set(identityOf(pet), idempotencyKey)
      return petstore.pets.create.mutate(pet, { context: { idempotencyKey } })
    },
    onSettled(_pet, error, form) {
      if (!error || !isTransient(problemOf(error))) uncertain.current.delete(identityOf(newPetOf(form)))
    },
    onSuccess(pet) {
      void queryClient.invalidateQueries({ queryKey: ['pets'] })
      onSuccess(pet)
    },
  })
}

/** A string that is equal for equal pets. */
function identityOf({ name, categoryId, status }: NewPet): string {
  return JSON.stringify([name, String(categoryId), status])
}

/** The values of the fields, not validated. The service validates them, as it does for every client. */
function newPetOf(form: FormData): NewPet {
  const categoryId = String(form.get('categoryId')).trim()
  const pet = {
    name: form.get('name'),
    categoryId: /^-?\d+$/.test(categoryId) ? BigInt(categoryId) : categoryId || undefined,
    status: form.get('status'),
  }
  // Not a NewPet if a value is invalid. The service then responds with an error for each invalid field.
  return pet as NewPet
}
