import type { ServiceIssue } from '#client'
import { rounded } from '#service/fields'
import { countOf, number } from './formats.ts'
import type { Field, Resource } from './resource.ts'

export interface Issue extends ServiceIssue {
  /** The number of characters of a text that has too many. The service does not say it. */
  length?: number
}

/** What is wrong with each field. Undefined if any issue is not about a field. */
export function issueTexts(
  { entered }: Resource,
  issues: readonly Issue[] = [],
): Partial<Record<string, string>> | undefined {
  const texts: Partial<Record<string, string>> = {}
  for (const issue of issues) {
    const field = entered.find(({ name }) => name === issue.path)
    if (!field) return undefined
    texts[issue.path] = issueText(field, issue)
  }
  return issues.length > 0 ? texts : undefined
}

function issueText({ label, kind, choices = {} }: Field, issue: Issue): string {
  const { code, length, expectation = '', minimum = 0, maximum = 0 } = issue
  const name = label.toLowerCase()
  const field = `The ${name}`
  const other = `${field} is not valid. Expected ${expectation}.`
  const characters = { one: 'character', many: 'characters' }
  switch (code) {
    case 'required':
      return `${field} is missing.`
    case 'unicode':
      return `${field} has an incomplete character.`
    case 'control':
      return `${field} has a line break, a tab or another control character.`
    case 'blank':
      return `${field} has only spaces.`
    case 'unique':
      return `Another one has the same ${name}.`
    case 'reference':
      return `${field} refers to something that is missing.`
    case 'inexact':
      return `${field} is too large to be read exactly from JSON. Use CSV.`
    case 'rounded':
      return `${field} ${rounded}.`
    case 'length':
      if (length === undefined) return `${field} needs ${minimum} to ${countOf(characters, Number(maximum))}.`
      return `${field} has ${countOf(characters, length)}. It can have at most ${number(Number(maximum))}.`
    case 'invalid_value':
      return `${field} is not one of ${Object.keys(choices).join(', ')}.`
    case 'invalid_type':
      if (kind === 'time') return `${field} is not a time such as 2026-11-20T08:30:00.000Z.`
      return `${field} is not ${kind === 'integer' ? 'a whole number' : 'text'}.`
    case 'too_small':
    case 'too_big':
      return kind === 'integer' ? `${field} has too many digits.` : other
  }
  return other
}
