import type { z } from 'zod'

/** A Zod error message such as `required` or `expected an integer, got a string`. */
export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? 'required' : `expected ${what}, got ${describe(input)}`)
}

/** One line that names each invalid field: `name: required; categoryId: expected an integer, got a string`. */
export function describeIssues({ issues }: z.core.$ZodError): string {
  return issues.map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`).join('; ')
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
