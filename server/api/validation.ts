import type { z } from 'zod'

/** What is wrong with a field. */
export interface Issue {
  /** The name of the field, or `input` for the input itself. */
  path: string
  /** What the field must be, such as `an integer`. Absent if the field is missing. */
  expectation?: string
}

/** The part of Zod's raw issue that {@link expected} uses. */
interface RawIssue {
  readonly input?: unknown
  expectation?: unknown
}

/**
 * A Zod error message such as `required` or `expected an integer, got a string`. It also sets the expectation of the
 * issue, which Zod keeps.
 *
 * @param got describes the value in the message, by default by its type. An empty text omits it.
 */
export function expected(what: string, got?: string): (issue: RawIssue) => string {
  return (issue) => {
    if (issue.input === undefined) return 'required'
    issue.expectation = what
    const value = got ?? describe(issue.input)
    return `expected ${what}${value && `, got ${value}`}`
  }
}

/** One line that names each invalid field: `name: required; size: expected an integer, got a string`. */
export function describeIssues({ issues }: z.core.$ZodError): string {
  return issues.map((issue) => `${pathOf(issue)}: ${issue.message}`).join('; ')
}

export function issuesOf({ issues }: z.core.$ZodError): Issue[] {
  return issues.map((issue) => {
    const { expectation }: RawIssue = issue
    return { path: pathOf(issue), ...(typeof expectation === 'string' && { expectation }) }
  })
}

function pathOf({ path }: z.core.$ZodIssue): string {
  return path.join('.') || 'input'
}

function describe(value: unknown): string {
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return 'an array'
  if (Number.isNaN(value)) return 'something else'
  if (typeof value === 'bigint') return 'one out of range'
  if (typeof value === 'number') return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
