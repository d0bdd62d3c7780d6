import './text-field.css'
import { type ComponentProps, type ReactNode, useId } from 'react'

interface LabelledProps {
  label?: string | undefined
  description?: string | undefined
  /** What is wrong with the value, or whether something is. */
  error?: string | boolean | undefined
  /** The control, with the attributes that connect it with the texts. */
  children: (attributes: Pick<ComponentProps<'input'>, 'id' | 'aria-invalid' | 'aria-describedby'>) => ReactNode
}

/** The control of a form with its texts. */
export function Labelled({ label, description, error, children }: LabelledProps) {
  const id = useId()
  // A screen reader reads the error first.
  const texts = { [`${id}-error`]: typeof error === 'string' && error, [`${id}-description`]: description }
  const describing = Object.keys(texts).filter((each) => texts[each])
  return (
    <div className="text-field">
      {label && <label htmlFor={id}>{label}</label>}
      {description && (
        <p id={`${id}-description`} className="text-field-description">
          {description}
        </p>
      )}
      {children({
        id,
        'aria-invalid': Boolean(error) || undefined,
        'aria-describedby': describing.join(' ') || undefined,
      })}
      {typeof error === 'string' && error && (
        <p id={`${id}-error`} className="text-field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps extends ComponentProps<'input'>, Omit<LabelledProps, 'children'> {
  /** Inside of the field, before the text. */
  start?: ReactNode
  /** Inside of the field, after the text. */
  end?: ReactNode
}

export function TextField({ label, description, error, start, end, ...props }: TextFieldProps) {
  return (
    <Labelled label={label} description={description} error={error}>
      {(attributes) => (
        <div className="text-field-box">
          {start}
          <input {...attributes} {...props} />
          {end}
        </div>
      )}
    </Labelled>
  )
}
