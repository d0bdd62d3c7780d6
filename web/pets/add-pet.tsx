import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/Alert.layer.css'
import './add-pet.css'
import { Alert, Button, Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { type ChangeEvent, type FormEvent, useEffect, useRef, useState } from 'react'
import type { PetStatus } from '../../client/index.ts'
import { SteadyButton } from '../components/buttons.tsx'
import { Panel } from '../components/panel.tsx'
import { RequestId } from '../components/request-id.tsx'
import { type Issue, isTransient, type Problem, problemOf } from '../problem.ts'
import type { ApiCall } from '../requests/texts.ts'
import type { Field, Values } from '../resource.ts'
import { createCall } from './calls.ts'
import { messages } from './messages.ts'
import { type Draft, type NewPetForm, petOf, textOf } from './new-pet.ts'
import { petResource } from './pet.ts'

interface AddPetProps {
  newPet: NewPetForm
  /** The initial status in the form. */
  status: PetStatus | undefined
  onRequest: (calls: ApiCall[]) => void
  onClose: () => void
}

const texts = messages.add
const fields = petResource.entered
/** The entries of the form before the user changes them. */
const defaults = Object.fromEntries(fields.map((field) => [field.name, String(field.default ?? '')]))

/** The panel stays open until the service has responded or the request has failed. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function AddPet({ newPet, status, onRequest, onClose }: AddPetProps) {
  const { setDraft, mutate, isPending, error, variables } = newPet
  const [addAnother, setAddAnother] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const draft: Draft = { ...defaults, ...(status && { status }), ...newPet.draft }
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
    const wasSent = variables && textOf(variables) === textOf(pet)
    onRequest([createCall(pet, newPet.idempotencyKeyOf(pet), wasSent ? error : null)])
  }

  /** Keeps everything but the name for the next pet. */
  function startNext() {
    setDraft({ ...draft, name: '' })
    form.current?.querySelector('input')?.focus()
  }

  function attributesOf({ name, label }: Field) {
    return {
      name,
      label,
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
        {fields.map((field, index) =>
          field.choices ? (
            <NativeSelect key={field.name} {...attributesOf(field)} data={optionsOf(field)} />
          ) : (
            <TextInput
              key={field.name}
              {...attributesOf(field)}
              readOnly={isPending}
              description={descriptionOf(field)}
              autoComplete="off"
              {...(field.kind === 'text' && { dir: 'auto' })}
              {...(index === 0 && { 'data-autofocus': true })}
            />
          ),
        )}
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

function descriptionOf({ kind, presence, samples }: Field): string {
  return texts.description(kind === 'integer' ? samples?.[0] : undefined, presence === 'optional')
}

/** The choices. A field without a default value can stay empty. */
function optionsOf({ choices = {}, default: initial }: Field) {
  const options = Object.entries(choices).map(([value, label]) => ({ value, label }))
  return initial === undefined ? [{ value: '', label: '' }, ...options] : options
}

/** The message at each field. Undefined if any issue is not about a field. */
function fieldErrorsOf(issues: Issue[], pet: Values = {}): Partial<Record<string, string>> | undefined {
  const errors: Partial<Record<string, string>> = {}
  for (const { path, expectation } of issues) {
    const field = fields.find(({ name }) => name === path)
    if (!field) return undefined
    const isMissing = expectation === undefined || pet[path] === ''
    errors[path] = isMissing ? texts.missing(field.label, 'choices' in field) : texts.expected(expectation)
  }
  return errors
}
