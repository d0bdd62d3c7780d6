import { isRounded, parseTexts } from '#service/fields'
import type { Row as FileRow, Table as FileTable } from '#service/reader'
import { type Issue, issueTexts } from '../issues.ts'
import { type Field, type Resource, type Values, valuesOf } from '../resource.ts'

export interface Table extends Omit<FileTable, 'unused'> {
  rows: Row[]
  /** The columns of the header row that are no field. */
  unused?: string[]
  /** Why the text has no usable rows. */
  problem?: string | undefined
}

interface RowText extends Omit<FileRow, 'problem'> {
  /** Whether a text was changed after the table was read. */
  isCorrected?: true
}

export type ValidRow = RowText & { item: Values }
/** `invalid` contains the names of the fields with a problem. It is empty if the problem is another one. */
type InvalidRow = RowText & { problem: string; invalid: string[] }
export type Row = ValidRow | InvalidRow

export function isValid(row: Row): row is ValidRow {
  return 'item' in row
}

/** The row with another text for one of its values, checked again. All of its other values stay exactly the same. */
export function correct(resource: Resource, { columns }: Table, row: Row, name: string, text: string): Row {
  const { number } = row
  const cells = columns.map((column, index) => (column === name ? text : (row.cells[index] ?? '')))
  const values = { ...row.values, [name]: parseTexts(resource.fields, { [name]: text })[name] }
  return { number, cells, values, isCorrected: true, ...checkItem(resource, values) }
}

/**
 * Applies the rules of the service to the values of a new item, and sets the default values. The schemas of the service
 * would quadruple this part of the console. A test compares both.
 */
export function checkItem(
  resource: Resource,
  values: Values,
): { item: Values } | { problem: string; invalid: string[] } {
  const issues = issuesOf(resource, values)
  if (issues.length === 0) return { item: valuesOf(resource, (field) => given(field, values)) }
  return {
    problem: Object.values(issueTexts(resource, issues) ?? {}).join(' '),
    invalid: issues.map(({ path }) => path),
  }
}

/** What the service would find wrong with the values of a new item, whose texts are one `line` each. */
export function issuesOf({ entered }: Resource, values: Values): Issue[] {
  return entered.flatMap((field) => {
    const rule = brokenRule(field, given(field, values))
    return rule ? { path: field.name, ...rule } : []
  })
}

function given(field: Field, values: Values): unknown {
  return values[field.name] === undefined ? field.default : values[field.name]
}

type Rule = Omit<Issue, 'path'>

function brokenRule(field: Field, value: unknown): Rule | undefined {
  if (value === undefined && field.presence === 'optional') return undefined
  const isEmpty = value === undefined || (value === '' && field.kind === 'text')
  if (isEmpty && field.presence === 'required') return { code: 'required' }
  if (field.kind === 'text') return brokenTextRule(field, value)
  if (field.kind === 'time') return value instanceof Date ? undefined : { code: 'invalid_type' }
  return field.choices ? brokenChoiceRule(field, value) : brokenIntegerRule(value)
}

function brokenTextRule({ presence, maxLength = 0 }: Field, text: unknown): Rule | undefined {
  if (typeof text !== 'string') return { code: 'invalid_type' }
  let length = 0
  // An array of the code points of a long text would need much memory.
  for (const _ of text) length++
  if (length > maxLength) {
    return { code: 'length', length, minimum: presence === 'required' ? 1 : 0, maximum: maxLength }
  }
  if (!text.isWellFormed()) return { code: 'unicode' }
  if (/\p{Cc}/u.test(text)) return { code: 'control' }
  return /\S/.test(text) ? undefined : { code: 'blank' }
}

function brokenIntegerRule(integer: unknown): Rule | undefined {
  if (isRounded(integer)) return { code: 'rounded' }
  if (typeof integer !== 'bigint') return { code: Number.isInteger(integer) ? 'inexact' : 'invalid_type' }
  return BigInt.asIntN(64, integer) === integer ? undefined : { code: 'too_big' }
}

function brokenChoiceRule({ kind, choices = {} }: Field, value: unknown): Rule | undefined {
  const type = kind === 'boolean' ? 'boolean' : 'string'
  const isChoice = typeof value === type && Object.hasOwn(choices, String(value))
  return isChoice ? undefined : { code: 'invalid_value' }
}
