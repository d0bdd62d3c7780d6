import { isPetstoreError } from '../client/index.ts'

export interface Problem {
  /** `passing` is what may be well in a moment: the service is away, overloaded, or fails for now. */
  kind: 'refused' | 'missing' | 'passing' | 'lasting'
  /** A sentence for people. */
  message: string
}

/** What is to be said about a call that failed. */
export function problemOf(error: unknown): Problem {
  const data = isPetstoreError(error) ? error.data : undefined
  // Whatever is not an answer of the service comes from the network, or from a gateway that found no service.
  if (!data) return { kind: 'passing', message: unreachable() }
  const { status, message } = data
  if (status === 401) return { kind: 'refused', message: 'This key is not valid.' }
  if (status === 404) return { kind: 'missing', message }
  return { kind: status === 429 || status >= 500 ? 'passing' : 'lasting', message }
}

function unreachable(): string {
  return navigator.onLine ? 'The service cannot be reached.' : 'The service cannot be reached: this device is offline.'
}

const fields = ['name', 'categoryId', 'status'] as const

export type FieldErrors = Partial<Record<(typeof fields)[number], string>>

/**
 * Which field each part of a validation message is about, as in `name: required; categoryId: expected an integer`, or
 * undefined if it is about anything else.
 */
export function fieldErrorsOf({ message }: Problem): FieldErrors | undefined {
  const errors: FieldErrors = {}
  for (const part of message.split('; ')) {
    const field = fields.find((each) => part.startsWith(`${each}: `))
    if (!field) return undefined
    // What it got is to be seen in the field.
    const text = part.slice(field.length + 2).replace(/, got .*/, '')
    errors[field] = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
  }
  return errors
}
