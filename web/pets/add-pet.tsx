import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/Alert.layer.css'
import './add-pet.css'
import { Alert, Button, Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { type ChangeEvent, type FormEvent, useEffect, useRef, useState } from 'react'
import type { NewPet, PetStatus } from '../../client/index.ts'
import { Panel } from '../components/panel.tsx'
import { RequestId } from '../components/request-id.tsx'
import { SteadyButton } from '../components/steady-button.tsx'
import { messages } from '../messages/index.ts'
import { type Issue, isTransient, type Problem, problemOf } from '../problem.ts'
import { createCall } from '../requests/calls.ts'
import type { ApiCall } from '../requests/texts.ts'
import { type Draft, identityOf, type NewPetForm, petOf } from './new-pet.ts'
import { petStatuses, statusNames } from './pet-status.ts'

interface AddPetProps {
  newPet: NewPetForm
  /** The initial status in the form. */
  status: PetStatus | undefined
  onRequest: (calls: ApiCall[]) => void
  onClose: () => void
}

const texts = messages.add

/** The panel stays open until the service has responded or the request has failed. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function AddPet({ newPet, status = 'available', onRequest, onClose }: AddPetProps) {
  const { setDraft, mutate, isPending, error, variables } = newPet
  const [addAnother, setAddAnother] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const draft = { ...newPet.draft, status: newPet.draft.status ?? status }
  const problem = error && problemOf(error)
  const fieldErrors = problem?.issues && fieldErrorsOf(problem.issues, variables)

  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])

  function submit(event: FormEvent) {
    event.preventDefault()
    mutate(petOf(draft), { onSuccess: addAnother ? startNext : onClose })
  }

  function showRequest() {
    const pet = petOf(draft)
    const wasSent = variables && identityOf(variables) === identityOf(pet)
    onRequest([createCall(pet, newPet.idempotencyKeyOf(pet), wasSent ? error : null)])
  }

  /** Keeps the category and the status for the next pet. */
  function startNext() {
    setDraft({ ...draft, name: '' })
    form.current?.querySelector('input')?.focus()
  }

  /** The attributes of a field. */
  function field<Name extends keyof Draft>(name: Name) {
    return {
      name,
      label: { name: texts.name, categoryId: texts.category, status: texts.status }[name],
      value: draft[name],
      error: fieldErrors?.[name],
      // The response replaces the entries.
      onChange({ currentTarget }: ChangeEvent<HTMLInputElement | HTMLSelectElement>) {
        if (!isPending) setDraft({ ...newPet.draft, [name]: currentTarget.value })
      },
    }
  }

  return (
    <Panel title={texts.title} onClose={onClose} holdsEntries>
      <form className="add-pet" ref={form} noValidate onSubmit={submit}>
        {problem && !fieldErrors && <Failure problem={problem} />}
        <TextInput {...field('name')} readOnly={isPending} autoComplete="off" dir="auto" data-autofocus />
        <TextInput {...field('categoryId')} readOnly={isPending} description={texts.categoryText} autoComplete="off" />
        <NativeSelect {...field('status')} data={petStatuses.map((value) => ({ value, label: statusNames[value] }))} />
        <div className="add-pet-actions">
          <SteadyButton type="submit" isDisabled={isPending}>
            {isPending ? texts.adding : problem && isTransient(problem) ? texts.retry : texts.submit}
          </SteadyButton>
          <Button variant="default" onClick={showRequest}>
            {messages.request.open}
          </Button>
          <Checkbox
            size="xs"
            label={texts.another}
            checked={addAnother}
            onChange={(event) => setAddAnother(event.currentTarget.checked)}
          />
        </div>
      </form>
    </Panel>
  )
}

function Failure({ problem }: { problem: Problem }) {
  const isUncertain = isTransient(problem)
  return (
    <Alert color="red" title={isUncertain ? texts.uncertain : texts.notAdded} role="alert">
      {problem.message} {isUncertain && texts.uncertainText}
      <RequestId id={problem.requestId} />
    </Alert>
  )
}

/** The message at each field. Undefined if any issue is not about a field. */
function fieldErrorsOf(issues: Issue[], pet: NewPet | undefined): Partial<Record<keyof Draft, string>> | undefined {
  const errors: Partial<Record<keyof Draft, string>> = {}
  for (const { path, expectation } of issues) {
    if (!isField(path)) return undefined
    const isMissing = expectation === undefined || pet?.[path] === ''
    errors[path] = isMissing ? texts.missing[path] : texts.expected(expectation)
  }
  return errors
}

function isField(path: string): path is keyof Draft {
  return Object.hasOwn(texts.missing, path)
}
