import type { ServiceIssue } from '#client'
import type { Field, Resource } from './resource.ts'
import { issues } from './texts/bulk.ts'

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
  const isNumber = kind === 'integer'
  switch (code) {
    case 'required':
    case 'unicode':
    case 'control':
    case 'blank':
    case 'unique':
    case 'inexact':
    case 'rounded':
      return issues[code](label)
    case 'length':
      return issues.length(label, length, Number(minimum), Number(maximum))
    case 'invalid_value':
      return issues.notChoice(label, Object.keys(choices))
    case 'invalid_type':
      if (kind === 'time') return issues.notTime(label)
      return isNumber ? issues.notInteger(label) : issues.notText(label)
    case 'too_small':
    case 'too_big':
      if (isNumber) return issues.notInt64(label)
  }
  return issues.other(label, expectation)
}
