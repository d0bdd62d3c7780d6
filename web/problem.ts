import { isPetstoreError } from '../client/index.ts'

export interface Problem {
  /**
   * Transient: `unreachable` (no response) and `busy` (overload, internal error, rate limit). Permanent: `refused` (the API
   * key), `missing` (the pet) and `permanent` (anything else).
   */
  kind: 'unreachable' | 'busy' | 'refused' | 'missing' | 'permanent'
  /** A sentence for the user. */
  message: string
}

/** The problem to report for a failed call. */
export function problemOf(error: unknown): Problem {
  if (!isPetstoreError(error)) return { kind: 'permanent', message: 'This page has an error. Reload it.' }
  // No response of the service: the network failed, or a gateway could not reach the service.
  if (!error.data) return { kind: 'unreachable', message: unreachable() }
  const { status, message } = error.data
  if (status === 401) return { kind: 'refused', message: 'This key is not valid.' }
  if (status === 404) return { kind: 'missing', message }
  if (status === 429) return { kind: 'busy', message: 'There were too many requests.' }
  if (status >= 500) return { kind: 'busy', message: 'The service is not available at the moment.' }
  return { kind: 'permanent', message }
}

export function isTransient({ kind }: Problem): boolean {
  return kind === 'unreachable' || kind === 'busy'
}

/** Milliseconds to wait before the next retry, after this number of consecutive failures. */
export function retryDelayAfter(failures: number, { kind }: Problem): number {
  return kind === 'busy' ? Math.min(2_000 * 2 ** failures, 60_000) : 2_000
}

function unreachable(): string {
  return navigator.onLine ? 'The service cannot be reached.' : 'The service cannot be reached: this device is offline.'
}

const fields = ['name', 'categoryId', 'status'] as const

export type FieldErrors = Partial<Record<(typeof fields)[number], string>>

/**
 * The errors of each field in a validation message, such as `name: required; categoryId: expected an integer`. Undefined
 * if any part of the message is not about a field.
 */
export function fieldErrorsOf({ message }: Problem): FieldErrors | undefined {
  const errors: FieldErrors = {}
  for (const part of message.split('; ')) {
    const field = fields.find((each) => part.startsWith(`${each}: `))
    if (!field) return undefined
    // The field itself shows the value after `got`.
    const text = part.slice(field.length + 2).replace(/, got .*/, '')
    errors[field] = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
  }
  return errors
}
