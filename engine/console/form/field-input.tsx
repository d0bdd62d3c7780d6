import './field-input.css'
import type { ChangeEvent, FocusEvent, KeyboardEvent, ReactNode } from 'react'
import { parseText, parseTexts } from '#service/fields'
import { issueTexts } from '../issues.ts'
import type { Field, Resource } from '../resource.ts'
import { issuesOf } from '../rows/table.ts'
import { Labelled, TextField } from './text-field.tsx'

interface FieldInputProps {
  field: Field
  /** The text of the value, as `textOf` writes it, until the user enters another one. */
  value: string
  onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement>) => void
  /** Shows the label of the field, if it has no other name. */
  'aria-label'?: string
  /** The id of what describes the value elsewhere. */
  'aria-describedby'?: string | undefined
  name?: string
  /** What is wrong with the value, or whether something is. */
  error?: string | boolean | undefined
  description?: string | undefined
  /** Inside of the field, after the text, if it has no choices. */
  end?: ReactNode
  /** Whether it stands where the value stood. */
  isSmall?: boolean
  readOnly?: boolean
  isFirst?: boolean
  /** Whether a time is entered as files have it. Otherwise it is one of the user's time zone. */
  isPlain?: boolean
  onFocus?: (event: FocusEvent<HTMLInputElement | HTMLSelectElement>) => void
  onBlur?: (event: FocusEvent<HTMLElement>) => void
  onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void
}

/** The keyboard for numbers of an iPhone has no minus. */
const integerKeyboard = /iPhone/.test(navigator.userAgent) ? 'text' : 'numeric'

/** The field of a form for a value. */
export function FieldInput(props: FieldInputProps) {
  const { field, isFirst, isPlain = false, isSmall, readOnly, description, end, error, ...others } = props
  const texts = { label: others['aria-label'] === undefined ? field.label : undefined, error }
  const attributes = {
    ...others,
    'data-small': isSmall,
    ...(isFirst && { autoFocus: true, 'data-autofocus': true }),
  }
  if (field.choices) {
    return (
      <Labelled {...texts}>
        {(ids) => (
          <select {...ids} {...attributes}>
            {optionsOf(field, props.value).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Labelled>
    )
  }
  return (
    <TextField
      {...texts}
      {...attributes}
      readOnly={readOnly}
      description={description}
      end={end}
      autoComplete="off"
      spellCheck={isPlain ? false : undefined}
      {...(field.kind === 'text' && { dir: 'auto' })}
      {...(field.kind === 'integer' && { inputMode: integerKeyboard })}
      {...(field.kind === 'time' &&
        !isPlain && { type: 'datetime-local', step: 1, value: localText(field, props.value) })}
    />
  )
}

/**
 * A time as its field shows it: in the user's time zone, without its offset. The entry itself stays as it is, because this
 * text does not say which of the two hours at the end of summer time it means.
 */
function localText(field: Field, text: string): string {
  const time = parseText(field, text)
  if (!(time instanceof Date)) return text
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  // As the browser writes it. Otherwise each render would set it again.
  return local.toISOString().replace(/(:00)?(\.000)?Z$/, '')
}

/** The choices. A field without a default value can stay empty. Another value is one of them, so that it stays visible. */
function optionsOf({ choices = {}, default: initial }: Field, value: string): [value: string, text: string][] {
  const options = Object.entries(choices)
  if (value === '' || initial === undefined) options.unshift(['', ''])
  return value === '' || Object.hasOwn(choices, value) ? options : [[value, value], ...options]
}

/** The text of a field. Browsers report none for a time that is incomplete, or whose day does not exist: it is no time. */
export function entryIn(input: unknown, text = ''): string {
  return input instanceof HTMLInputElement && input.validity.badInput ? '?' : text
}

/**
 * The entries as files have them. A time that the user has entered is one of the user's time zone, and white space around a
 * text was typed by accident. A file keeps it, as the API does.
 */
export function asInFiles(fields: readonly Field[], entries: Record<string, string>): Record<string, string> {
  const times = fields.filter(({ kind, name }) => kind === 'time' && !Number.isNaN(Date.parse(entries[name] ?? '')))
  const inUtc = times.map(({ name }) => [name, new Date(entries[name] ?? '').toISOString()])
  const texts = fields.filter(({ kind }) => kind === 'text').map(({ name }) => [name, trimmed(entries[name] ?? '')])
  return { ...entries, ...Object.fromEntries([...inUtc, ...texts]) }
}

/** A text of white space alone stays, and is refused. */
function trimmed(text: string): string {
  return text.trim() || text
}

/** The value of a field that the user has entered, and what is wrong with it. */
export function readEntry(resource: Resource, field: Field, text: string): { value: unknown; problem?: string } {
  const { name } = field
  const value = parseTexts(resource.fields, asInFiles([field], { [name]: text }))[name]
  const issues = issuesOf(resource, { [name]: value }).filter(({ path }) => path === name)
  const problem = issueTexts(resource, issues)?.[name]
  return { value, ...(problem && { problem }) }
}
