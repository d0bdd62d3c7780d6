import { isPetstoreError } from '../client/index.ts'

export interface Problem {
  /**
   * `unreachable` (no answer) and `busy` (overloaded, out of order, too many requests) may be well in a moment; `refused` is
   * about the key, and `missing` about what was asked for.
   */
  kind: 'unreachable' | 'busy' | 'refused' | 'missing' | 'lasting'
  /** A sentence for people. */
  message: string
}

/** What is to be said about a call that failed. */
export function problemOf(error: unknown): Problem {
  if (!isPetstoreError(error)) return { kind: 'lasting', message: 'Something is wrong with this page: load it again.' }
  // Without an answer of the service, the network failed, or a gateway found no service.
  if (!error.data) return { kind: 'unreachable', message: unreachable() }
  const { status, message } = error.data
  if (status === 401) return { kind: 'refused', message: 'This key is not valid.' }
  if (status === 404) return { kind: 'missing', message }
  if (status === 429) return { kind: 'busy', message: 'There were too many requests.' }
  if (status >= 500) return { kind: 'busy', message: 'The service cannot answer at the moment.' }
  return { kind: 'lasting', message }
}

export function mayPass({ kind }: Problem): boolean {
  return kind === 'unreachable' || kind === 'busy'
}

/** Milliseconds until it makes sense to ask again after so many failures in a row. */
export function pauseAfter(failures: number, { kind }: Problem): number {
  return kind === 'busy' ? Math.min(2_000 * 2 ** failures, 60_000) : 2_000
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
