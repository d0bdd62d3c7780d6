import { namesOf, parseInteger, type Resource } from '../resource.ts'
import { bulk } from '../texts/bulk.ts'
import { checkItem, type Row, type Table, unknownOf } from './table.ts'

const { notAnObject, notJson, unknownFields } = bulk

/** Reads items from a JSON array, a JSON object or NDJSON. */
export function readJson(resource: Resource, text: string): Table {
  const header = { hasHeader: false, columns: namesOf(resource.entered) }
  const whole = parseJson(text)
  if ('value' in whole) {
    const rows = [whole.value].flat().map((value, index) => toJsonRow(resource, index + 1, value))
    return { format: 'json', ...header, rows }
  }
  if (text.trimStart().startsWith('[')) {
    return { format: 'json', ...header, rows: [], problem: notJson(whole.reason) }
  }
  const rows = text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [toNdjsonRow(resource, index + 1, line)]))
  return { format: 'ndjson', ...header, rows }
}

function toNdjsonRow(resource: Resource, number: number, line: string): Row {
  const parsed = parseJson(line)
  return 'value' in parsed
    ? toJsonRow(resource, number, parsed.value)
    : { number, cells: [line], values: {}, problem: notAnObject, invalid: [] }
}

function toJsonRow(resource: Resource, number: number, value: unknown): Row {
  if (!isRecord(value)) {
    return { number, cells: [textOf(value)], values: {}, problem: notAnObject, invalid: [] }
  }
  const cells = resource.entered.map(({ name }) => textOf(value[name]))
  const unknown = unknownOf(resource, Object.keys(value))
  if (unknown.length > 0) return { number, cells, problem: unknownFields(unknown), invalid: [] }
  return { number, cells, values: value, ...checkItem(resource, value) }
}

/** Parses JSON. Each integer becomes a `bigint` with all of its digits, if the browser shows them. */
function parseJson(text: string): { value: unknown } | { reason: string } {
  try {
    return { value: JSON.parse(text, toExactInteger) }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

/** Some browsers do not pass the context (https://github.com/tc39/proposal-json-parse-with-source). */
function toExactInteger(_key: string, value: unknown, context?: { source: string }): unknown {
  if (typeof value !== 'number') return value
  // An integer in another notation, such as 5.0, is the same number.
  return parseInteger(context?.source ?? '') ?? (Number.isSafeInteger(value) ? BigInt(value) : value)
}

function isRecord(value: unknown): value is { [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text for the table. */
function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'object' && value !== null ? '{…}' : String(value)
}
