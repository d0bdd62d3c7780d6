import type { z } from 'zod'

/** The rule that a value breaks, for programs that describe it in their own words. */
interface Rule {
  /** `required`, `changed`, Zod's code, such as `invalid_type`, or the name of a rule of the field, such as `length`. */
  code: string
  /** The limits of the rule, if it has any. One that a number cannot hold exactly is a text of digits. */
  minimum?: number | string
  maximum?: number | string
}

/** What is wrong with a field. */
export interface Issue extends Rule {
  /** The name of the field, or `input` for the input itself. */
  path: string
  /** What the field must be, such as `an integer`. Absent if the field is missing. */
  expectation?: string
}

/** The part of Zod's issues that is used here. */
interface RawIssue {
  readonly input?: unknown
  readonly code?: string | undefined
  readonly minimum?: unknown
  readonly maximum?: unknown
  expectation?: unknown
  rule?: unknown
}

/**
 * A Zod error message such as `required` or `expected an integer, got a string`. It also sets the expectation of the issue.
 *
 * @param got describes the value in the message, by default by its type. An empty text omits it.
 * @param rule the rule of a refinement. That of other checks follows from Zod's issue.
 */
export function mustBe(what: string, got?: string, rule?: Rule): (issue: RawIssue) => string {
  return (issue) => {
    issue.rule = issue.input === undefined ? { code: 'required' } : rule
    if (issue.input === undefined) return 'required'
    issue.expectation = what
    const value = got ?? (issue.code === 'invalid_value' ? shown(issue.input) : describe(issue.input, issue.code))
    return `expected ${what}${value && `, got ${value}`}`
  }
}

/**
 * One line that names each invalid field: `name: required; size: expected an integer, got a string`.
 *
 * @param whole what the caller knows the input itself as
 */
export function describeIssues(error: z.core.$ZodError, whole = 'input'): string {
  return firstIssues(error)
    .map((issue) => `${issue.path.length > 0 ? pathOf(issue) : whole}: ${issue.message}`)
    .join('; ')
}

export function issuesOf(error: z.core.$ZodError): Issue[] {
  return firstIssues(error).map((issue) => {
    const { code = 'custom', minimum, maximum, expectation, rule }: RawIssue = issue
    return {
      path: pathOf(issue),
      code,
      ...(typeof expectation === 'string' && { expectation }),
      ...(minimum !== undefined && { minimum: toJson(minimum) }),
      ...(maximum !== undefined && { maximum: toJson(maximum) }),
      ...(isRecord(rule) && rule),
    }
  })
}

/** The first one of each field: Zod measures the length of an array, too, where it expects a text. */
function firstIssues({ issues }: z.core.$ZodError): z.core.$ZodIssue[] {
  const first = new Map<string, z.core.$ZodIssue>()
  for (const issue of issues) if (!first.has(pathOf(issue))) first.set(pathOf(issue), issue)
  return [...first.values()]
}

/** Loggers write issues as JSON, which has no bigint. */
function toJson(limit: unknown): number | string {
  return Number.isSafeInteger(Number(limit)) ? Number(limit) : String(limit)
}

function pathOf({ path }: z.core.$ZodIssue): string {
  return path.join('.') || 'input'
}

/** The start of a text of the caller, for a message. */
export function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

/** A short text in full. An API key is longer. */
function shown(value: unknown): string {
  return typeof value === 'string' && value.length > 0 && value.length <= 32 ? JSON.stringify(value) : describe(value)
}

/** A text where the schema expects another type. Messages show it: all parameters of a URL and cells of CSV are texts. */
export class OtherText {
  /** Zod's own messages show it: `expected boolean, received string`. */
  static readonly name = 'string'
  readonly text: string
  /** A clause for the message. */
  readonly note: string

  constructor(text: string, note = '') {
    this.text = text
    this.note = note
  }
}

function describe(value: unknown, code?: string): string {
  if (value instanceof OtherText) return shown(value.text) + value.note
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return 'an array'
  if (Number.isNaN(value)) return 'a number that is not exact'
  if (typeof value === 'bigint') return code === 'invalid_type' ? 'a bigint' : 'one out of range'
  if (typeof value === 'number') return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function refuseNames(fields: object, reserved: readonly string[]): void {
  const name = reserved.find((each) => Object.hasOwn(fields, each))
  if (name !== undefined) throw new Error(`Rename the field ${name}: the input has one of its own with this name.`)
}
