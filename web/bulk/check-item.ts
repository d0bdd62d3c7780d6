import { messages } from '../messages/index.ts'
import { type Field, type Resource, type Values, valuesOf } from '../resource.ts'

const { problems } = messages.bulk

/**
 * Applies the rules of the service to the values of a new item, and sets the default values. The schemas of the service
 * would quadruple this part of the console. A test compares both.
 */
export function checkItem(resource: Resource, values: Values): { item: Values } | { problem: string } {
  const given = (field: Field) => (values[field.name] === undefined ? field.default : values[field.name])
  const found = resource.entered.flatMap((field) => problemOf(field, given(field)) ?? [])
  return found.length > 0 ? { problem: found.join(' ') } : { item: valuesOf(resource, given) }
}

function problemOf(field: Field, value: unknown): string | undefined {
  if (value === undefined && field.presence === 'optional') return undefined
  if ((value === undefined || value === '') && field.presence === 'required') return problems.missing(field.label)
  if (field.kind === 'text') return textProblem(field, value)
  return field.choices ? choiceProblem(field, value) : integerProblem(field, value)
}

function textProblem({ label, maxLength = 0 }: Field, text: unknown): string | undefined {
  if (typeof text !== 'string') return problems.notText(label)
  // A code point has at most two UTF-16 units. The check avoids counting the code points of a long text.
  if (text.length > 2 * maxLength || [...text].length > maxLength) return problems.tooLong(label, maxLength)
  if (!text.isWellFormed()) return problems.notUnicode(label)
  if (/\p{Cc}/u.test(text)) return problems.control(label)
  return /\S/.test(text) ? undefined : problems.blank(label)
}

function integerProblem({ label }: Field, integer: unknown): string | undefined {
  if (typeof integer !== 'bigint') {
    return Number.isInteger(integer) ? problems.inexact(label) : problems.notInteger(label)
  }
  return BigInt.asIntN(64, integer) === integer ? undefined : problems.tooLarge(label)
}

function choiceProblem({ label, choices = {} }: Field, value: unknown): string | undefined {
  const isChoice = typeof value === 'string' && Object.hasOwn(choices, value)
  return isChoice ? undefined : problems.notChoice(label, Object.keys(choices))
}
