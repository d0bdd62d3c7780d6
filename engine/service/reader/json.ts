import { parseJson } from '../api/literals.ts'
import { type Field, givenOf, namesOf, parseValue } from './fields.ts'
import { type Reader, type Row, Unreadable } from './table.ts'
import { texts } from './texts.ts'

/** Bytes of a JSON text that is not one object per line. It bounds the memory. */
export const maxJson = 5_000_000

/** Whether a text is JSON, and not CSV whose first value begins with a bracket. */
export function isJson(text: string): boolean {
  return /^\s*(?:\{|\[\s*(?:[{\]]|$))/.test(text)
}

/** Reads NDJSON (https://github.com/ndjson/ndjson-spec), or a JSON array or object of several lines. */
export function jsonReader(fields: readonly Field[], start: string): Reader {
  const [first = ''] = start.trimStart().split('\n', 1)
  const isLine = !first.startsWith('[') && (first === '' || first.trimEnd().endsWith('}'))
  return {
    table: { format: isLine ? 'ndjson' : 'json', hasHeader: false, columns: namesOf(givenOf(fields)), unused: [] },
    read: isLine ? readLines(fields) : readDocument(fields),
  }
}

function readLines(fields: readonly Field[]): Reader['read'] {
  const decoder = new TextDecoder()
  let before = 0
  return (part) => {
    // Not at U+2028 and U+2029, which a text may contain.
    const lines = decoder.decode(part).split('\n')
    const rows = lines.flatMap((text, index) => {
      const place = { number: before + index + 1, line: before + index + 1 }
      return text.trim() === '' ? [] : [toRow(fields, place, parsed(text), text)]
    })
    before += lines.length - 1
    return rows
  }
}

function readDocument(fields: readonly Field[]): Reader['read'] {
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  let lines: Reader['read'] | undefined
  return (part, isLast) => {
    if (lines) return lines(part, isLast)
    text += decoder.decode(part)
    size += part.length
    const isArray = text.trimStart().startsWith('[')
    if (size <= maxJson) {
      if (!isLast) return []
      const whole = parsed(text)
      if ('value' in whole)
        return [whole.value].flat().map((value, index) => toRow(fields, { number: index + 1 }, { value }))
      if (isArray) throw new Unreadable(texts.notJson(whole.reason))
    }
    if (isArray) throw new Unreadable(texts.largeJson)
    // Lines of which the first is not valid.
    lines = readLines(fields)
    return lines(new TextEncoder().encode(text), isLast)
  }
}

function parsed(text: string): { value: unknown } | { reason: string } {
  try {
    return { value: parseJson(text) }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

function toRow(
  fields: readonly Field[],
  place: Pick<Row, 'number' | 'line'>,
  json: { value: unknown } | { reason: string },
  text = '{…}',
): Row {
  const value = 'value' in json ? json.value : undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ...place, cells: [value === undefined ? text : cellOf(value)], values: {}, problem: texts.notAnObject }
  // Safe: it is an object of JSON.
  const members = value as Record<string, unknown>
  const given = givenOf(fields)
  const cells = given.map(({ name }) => cellOf(members[name]))
  const unknown = Object.keys(members).filter((name) => !namesOf(fields).includes(name))
  if (unknown.length > 0) return { ...place, cells, problem: texts.unknownFields(unknown) }
  const values = given
    .filter(({ name }) => Object.hasOwn(members, name))
    .map((field) => [field.name, parseValue(field, members[field.name])])
  return { ...place, cells, values: Object.fromEntries(values) }
}

function cellOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'object' && value !== null ? '{…}' : String(value)
}
