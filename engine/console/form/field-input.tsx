import { NativeSelect, TextInput } from '@mantine/core'
import type { ChangeEvent, FocusEvent, KeyboardEvent, ReactNode } from 'react'
import type { Field } from '../resource.ts'

interface FieldInputProps {
  field: Field
  /** As files have it: see `textOf`. */
  value: string
  onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement>) => void
  /** Shows the label of the field, if it has no other name. */
  'aria-label'?: string
  name?: string
  /** What is wrong with the value, or whether something is. */
  error?: ReactNode
  description?: ReactNode
  size?: 'xs' | 'sm'
  readOnly?: boolean
  isFirst?: boolean
  /** Whether a time is entered as files have it. Otherwise it is one of the user's time zone. */
  isPlain?: boolean
  onFocus?: (event: FocusEvent<HTMLInputElement | HTMLSelectElement>) => void
  onBlur?: (event: FocusEvent<HTMLElement>) => void
  onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void
}

/** The field of a form for a value. */
export function FieldInput({ field, isFirst, isPlain = false, readOnly, description, ...props }: FieldInputProps) {
  const label = props['aria-label'] === undefined && field.label
  const first = isFirst && { autoFocus: true, 'data-autofocus': true }
  if (field.choices) return <NativeSelect label={label} {...props} {...first} data={optionsOf(field, props.value)} />
  return (
    <TextInput
      label={label}
      {...props}
      {...first}
      readOnly={readOnly}
      description={description}
      autoComplete="off"
      spellCheck={isPlain ? false : undefined}
      {...(field.kind === 'text' && { dir: 'auto' })}
      {...(field.kind === 'time' && !isPlain && { type: 'datetime-local', step: 1 })}
    />
  )
}

/** The choices. A field without a default value can stay empty. Another value is one of them, so that it stays visible. */
function optionsOf({ choices = {}, default: initial }: Field, value: string) {
  const options = Object.entries(choices).map(([choice, label]) => ({ value: choice, label }))
  const isEmpty = value === '' || initial === undefined
  if (isEmpty) options.unshift({ value: '', label: '' })
  return value === '' || Object.hasOwn(choices, value) ? options : [{ value, label: value }, ...options]
}

/** The entries as files have them. That of a time is one of the user's time zone. */
export function asInFiles(fields: readonly Field[], entries: Record<string, string>): Record<string, string> {
  const times = fields.filter(({ kind, name }) => kind === 'time' && !Number.isNaN(Date.parse(entries[name] ?? '')))
  const inUtc = times.map(({ name }) => [name, new Date(entries[name] ?? '').toISOString()])
  return { ...entries, ...Object.fromEntries(inUtc) }
}
