import '../bulk.css'
import { type FormEvent, useState } from 'react'
import { Button } from '../../components/buttons.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { entryIn, FieldInput, readEntry } from '../../form/field-input.tsx'
import { Labelled } from '../../form/text-field.tsx'
import { countOf, is, joined, number } from '../../formats.ts'
import { together } from '../../resource/edit-key.ts'
import { editOf } from '../../resource/edits.ts'
import { useList, useResource } from '../../resource/page-context.ts'
import { type Field, isSame } from '../../resource.ts'

interface SetManyProps {
  /** The fields that can be set. */
  fields: [Field, ...Field[]]
  onClose: () => void
}

/** Asks for the value that a field of all selected items gets. */
export function SetMany({ fields, onClose }: SetManyProps) {
  const { resource, open } = useResource()
  const { selection, place } = useList()
  const [name, setName] = useState(fields[0].name)
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const field = fields.find((each) => each.name === name) ?? fields[0]
  const { value, problem } = readEntry(resource, field, text)
  const items = selection.items()
  const changed = items.filter((item) => !isSame(item[field.name], value))
  const same = items.length - changed.length
  const label = field.label.toLowerCase()
  const changes = countOf(resource, changed.length)
  const selected = `${countOf(resource, items.length)} ${is(items.length)} selected`
  const plan = `${changes} will ${value === undefined ? `have no ${label}` : 'change'}`

  function enter(chosen: string, entered: string) {
    setName(chosen)
    setText(entered)
    setError(undefined)
  }

  function apply(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const entry = entryIn(event.currentTarget.querySelector('input'), text)
    const { problem } = readEntry(resource, field, entry)
    setError(problem)
    if (problem || changed.length === 0) return
    onClose()
    const edits = together(changed.map((item) => editOf(item, { [field.name]: value }, place)))
    open({ kind: 'editMany', edits, same, startsAtOnce: true })
  }

  return (
    <Sheet title={fields.length > 1 ? 'Set a value' : `Set ${label}`} onClose={onClose} size="sm" isModal holdsEntries>
      <form className="export" noValidate onSubmit={apply}>
        {fields.length > 1 && (
          <Labelled label="Field">
            {(ids) => (
              <select {...ids} value={field.name} onChange={({ currentTarget }) => enter(currentTarget.value, '')}>
                {fields.map((each) => (
                  <option key={each.name} value={each.name}>
                    {each.label}
                  </option>
                ))}
              </select>
            )}
          </Labelled>
        )}
        <FieldInput
          field={field}
          value={text}
          error={error}
          onChange={({ currentTarget }) => enter(field.name, currentTarget.value)}
          isFirst
        />
        <p>{problem ? selected : joined(', ', [plan, same > 0 && `${number(same)} will not`])}.</p>
        <div className="bulk-choice">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" isDisabled={changed.length === 0}>
            {`Change ${changes}`}
          </Button>
        </div>
      </form>
    </Sheet>
  )
}
