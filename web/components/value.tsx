import './value.css'
import type { Field } from '../resource.ts'

/** A value of a field. Nothing if there is none. */
export function Value({ field, value }: { field: Field; value: unknown }) {
  if (value === undefined) return null
  const text = String(value)
  if (field.choices) return <Choice value={text} name={field.choices[text] ?? text} />
  return field.kind === 'text' ? <bdi>{text}</bdi> : text
}

/** The shape of the dot differs too, for forced colors and for users who do not see its color. */
function Choice({ value, name }: { value: string; name: string }) {
  return (
    <span className="choice" data-choice={value}>
      <span className="choice-dot" />
      {name}
    </span>
  )
}

/** The attributes of an element with a value, for style sheets. */
export function valueAttributes({ name, kind }: Field) {
  return {
    'data-field': name,
    'data-kind': kind,
    className: kind === 'id' || kind === 'integer' ? 'mono' : '',
  }
}
