import { entriesOf } from '../resource.ts'

/** A word of a POSIX shell. The text must not contain NUL. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** JSON with every digit of a `bigint`, on one line. With an indent, each element and each field is on a line of its own. */
export function jsonOf(value: unknown, indent = '', margin = ''): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return visibleJsonOf(value)
  const inner = margin + indent
  const entries = Array.isArray(value)
    ? value.map((each) => jsonOf(each, indent, inner))
    : entriesOf(value).map(([name, each]) => `${visibleJsonOf(name)}:${indent && ' '}${jsonOf(each, indent, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (indent === '' || entries.length === 0) return `${open}${entries}${close}`
  return `${open}\n${entries.map((entry) => inner + entry).join(',\n')}\n${margin}${close}`
}

/** The same with two spaces for each level. */
export function indentedJsonOf(value: unknown): string {
  return jsonOf(value, '  ')
}

/** A TypeScript literal. An object with several fields has a line for each. */
export function literalOf(value: unknown, margin = ''): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string') return stringLiteralOf(value)
  if (value instanceof Date) return `new Date(${stringLiteralOf(value.toISOString())})`
  if (typeof value !== 'object' || value === null) return String(value)
  const inner = `${margin}  `
  const fields = entriesOf(value).map(([name, each]) => `${propertyNameOf(name)}: ${literalOf(each, inner)}`)
  if (fields.length > 1) return `{\n${fields.map((field) => `${inner}${field},\n`).join('')}${margin}}`
  return fields.length === 0 ? '{}' : `{ ${fields[0]} }`
}

/** In single quotes, unless double quotes save backslashes. */
function stringLiteralOf(text: string): string {
  const json = visibleJsonOf(text)
  return text.includes("'") ? json : `'${json.slice(1, -1).replaceAll('\\"', '"')}'`
}

function propertyNameOf(name: string): string {
  return /^[a-z]\w*$/i.test(name) ? name : stringLiteralOf(name)
}

/** Control characters, bidirectional controls and line separators change how the text around them looks. */
const invisible = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu

/** The JSON of a value without fields. It shows what a text contains: invisible characters are escaped. */
function visibleJsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(invisible, unicodeEscapeOf)
}

function unicodeEscapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
