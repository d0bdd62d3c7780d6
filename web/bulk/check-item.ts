import type { PetstoreIssue } from '../../client/index.ts'
import { issueTexts } from '../issues.ts'
import { type Field, type Resource, type Values, valuesOf } from '../resource.ts'

/**
 * Applies the rules of the service to the values of a new item, and sets the default values. The schemas of the service
 * would quadruple this part of the console. A test compares both.
 */
export function checkItem(
  resource: Resource,
  values: Values,
): { item: Values } | { problem: string; invalid: string[] } {
  const given = (field: Field) => (values[field.name] === undefined ? field.default : values[field.name])
  const issues = resource.entered.flatMap((field) => {
    const rule = brokenRule(field, given(field))
    return rule ? { path: field.name, ...rule } : []
  })
  if (issues.length === 0) return { item: valuesOf(resource, given) }
  return {
    problem: Object.values(issueTexts(resource, issues) ?? {}).join(' '),
    invalid: issues.map(({ path }) => path),
  }
}

type Rule = Omit<PetstoreIssue, 'path'>

function brokenRule(field: Field, value: unknown): Rule | undefined {
  if (value === undefined && field.presence === 'optional') return undefined
  const isEmpty = value === undefined || (value === '' && field.kind === 'text')
  if (isEmpty && field.presence === 'required') return { code: 'required' }
  if (field.kind === 'text') return brokenTextRule(field, value)
  return field.choices ? brokenChoiceRule(field, value) : brokenIntegerRule(value)
}

function brokenTextRule({ presence, maxLength = 0 }: Field, text: unknown): Rule | undefined {
  if (typeof text !== 'string') return { code: 'invalid_type' }
  // A code point has at most two UTF-16 units. The check avoids counting the code points of a long text.
  if (text.length > 2 * maxLength || [...text].length > maxLength) {
    return { code: 'length', minimum: presence === 'required' ? 1 : 0, maximum: maxLength }
  }
  if (!text.isWellFormed()) return { code: 'unicode' }
  if (/\p{Cc}/u.test(text)) return { code: 'control' }
  return /\S/.test(text) ? undefined : { code: 'blank' }
}

function brokenIntegerRule(integer: unknown): Rule | undefined {
  if (typeof integer !== 'bigint') return { code: Number.isInteger(integer) ? 'inexact' : 'invalid_type' }
  return BigInt.asIntN(64, integer) === integer ? undefined : { code: 'too_big' }
}

function brokenChoiceRule({ kind, choices = {} }: Field, value: unknown): Rule | undefined {
  const type = kind === 'boolean' ? 'boolean' : 'string'
  const isChoice = typeof value === type && Object.hasOwn(choices, String(value))
  return isChoice ? undefined : { code: 'invalid_value' }
}
