import './text-field.css'
import { type ComponentProps, type ReactNode, useId } from 'react'

interface TextFieldProps extends ComponentProps<'input'> {
  label?: string
  error?: string | false | undefined
  /** Inside of the field, before the text. */
  start?: ReactNode
  /** Inside of the field, after the text. */
  end?: ReactNode
}

/** A text field that needs none of Mantine's components. */
export function TextField({ label, error, start, end, ...props }: TextFieldProps) {
  const id = useId()
  const errorId = `${id}-error`
  return (
    <div className="text-field">
      {label && <label htmlFor={id}>{label}</label>}
      <div className="text-field-box">
        {start}
        <input
          id={id}
          aria-invalid={Boolean(error) || undefined}
          aria-describedby={error ? errorId : undefined}
          {...props}
        />
        {end}
      </div>
      {error && (
        <p id={errorId} className="text-field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}
