import '../bulk.css'
import { type FormEvent, useState } from 'react'
import { Button } from '../../components/buttons.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { entryIn, FieldInput, readEntry } from '../../form/field-input.tsx'
import { Labelled } from '../../form/text-field.tsx'
import { editOf } from '../../resource/edits.ts'
import { useList, useResource } from '../../resource/page-context.ts'
import { type Field, isSame } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'

interface SetManyProps {
  /** The fields that can be set. */
  fields: [Field, ...Field[]]
  onClose: () => void
}

/** Asks for the value that a field of all selected items gets. */
export function SetMany({ fields, onClose }: SetManyProps) {
  const { resource, open } = useResource()
  const { selection, place } = useList()
  const { edit: editTexts, many: manyTexts } = editTextsOf(resource)
  const [name, setName] = useState(fields[0].name)
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const field = fields.find((each) => each.name === name) ?? fields[0]
  const { value, problem } = readEntry(resource, field, text)
  const items = selection.items()
  const changed = items.filter((item) => !isSame(item[field.name], value))
  const same = items.length - changed.length

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
    const edits = changed.map((item) => editOf(item, { [field.name]: value }, place))
    open({ kind: 'editMany', edits, same, startsAtOnce: true })
  }

  return (
    <Sheet
      title={fields.length > 1 ? manyTexts.setOther : editTexts.set(field.label)}
      onClose={onClose}
      size="sm"
      isModal
      holdsEntries
    >
      <form className="export" noValidate onSubmit={apply}>
        {fields.length > 1 && (
          <Labelled label={manyTexts.field}>
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
        <p>
          {problem
            ? manyTexts.areSelected(items.length)
            : manyTexts.planOf(field.label, changed.length, same, value === undefined)}
          .
        </p>
        <div className="bulk-choice">
          <Button variant="default" onClick={onClose}>
            {manyTexts.cancel}
          </Button>
          <Button type="submit" isDisabled={changed.length === 0}>
            {manyTexts.change(changed.length)}
          </Button>
        </div>
      </form>
    </Sheet>
  )
}
