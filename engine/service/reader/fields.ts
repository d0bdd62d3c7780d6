import { isTime, parseNumber } from '../api/literals.ts'

/** A field of an item, as files and forms know it. */
export interface Field {
  name: string
  /** Another name, for users. */
  label?: string
  kind: 'id' | 'text' | 'integer' | 'choice' | 'boolean' | 'time'
  /** Whether a new item needs a value. The service generates some values. */
  presence: 'required' | 'optional' | 'generated'
  /** The possible values, as text, with their names for users. */
  choices?: Readonly<Record<string, string>>
}

/** The values of an item by the names of its fields. */
export type Values = Readonly<Record<string, unknown>>

export function givenOf(fields: readonly Field[]): Field[] {
  return fields.filter(({ presence }) => presence !== 'generated')
}

export function namesOf(fields: readonly Field[]): string[] {
  return fields.map(({ name }) => name)
}

/** The values of a new item from texts. A field without a value is absent. */
export function parseTexts(fields: readonly Field[], texts: Readonly<Record<string, string | undefined>>): Values {
  const values = givenOf(fields).map((field) => [field.name, parseText(field, texts[field.name] ?? '')] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/** The value of a text that a user wrote. Text that denotes no value is kept: the rules of the field refuse it. */
export function parseText({ kind, presence, choices = {} }: Field, text: string): unknown {
  if (kind === 'text') return text === '' && presence === 'optional' ? undefined : text
  const word = text.trim()
  if (word === '') return undefined
  const choice = findName(Object.entries(choices), word)
  if (kind === 'choice') return choice ?? text
  if (kind === 'boolean') {
    const name = choice ?? word.toLowerCase()
    return name === 'true' || name === 'false' ? name === 'true' : text
  }
  if (kind === 'time') return isTime(word) ? new Date(word) : text
  return (isRounded(word) ? undefined : parseNumber(word)) ?? text
}

/** What to do about an integer that is {@link isRounded}. */
export const rounded =
  'was rounded by a spreadsheet. Format its column as text or as a whole number there, and export it again'

/** Whether a spreadsheet has rounded an integer of many digits, such as `9.00E+15`. */
export function isRounded(text: unknown): boolean {
  return typeof text === 'string' && /^\s*-?\d(?:[.,]\d+)?E\+\d+\s*$/.test(text)
}

/** A value as a text, which {@link parseText} reads. */
export function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '')
}

/** A line of CSV as in RFC 4180. An apostrophe before a formula makes a spreadsheet read a text (OWASP, CSV Injection). */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvValue).join(',')}\r\n`
}

function csvValue(value: unknown): string {
  const text = typeof value === 'string' ? value.replace(/^'*[=+\-@\t\r＝＋－＠]/, "'$&") : textOf(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The value of a field in JSON, which has neither integers of 64 bits nor times. */
export function parseValue({ kind }: Field, value: unknown): unknown {
  if (kind === 'time') return typeof value === 'string' && isTime(value) ? new Date(value) : value
  return kind === 'integer' && typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
}

/** Whether the value is one of the field. Rules such as the length of a text are not checked. */
export function isPlausible({ kind, presence, choices = {} }: Field, value: unknown): boolean {
  if (value === undefined) return presence !== 'required'
  if (kind === 'text') return value !== ''
  if (kind === 'choice') return Object.hasOwn(choices, String(value))
  return typeof value !== 'string'
}

/** The field that a cell of a header row names: `Owner`, `owner_id` and `OwnerId` all name `ownerId`. Other cells are kept. */
export function nameOfColumn(fields: readonly Field[], cell: string): string {
  const word = cell.trim()
  const names = fields.map(({ name, label }) => [name, label] as const)
  const loose = ({ name }: Field) =>
    normalize(word) !== '' && [normalize(name), normalize(name.replace(/Id$/, ''))].includes(normalize(word))
  return findName(names, word) ?? fields.find(loose)?.name ?? word
}

/** The word without its case and its separators. */
function normalize(word: string): string {
  return word.toLowerCase().replaceAll(/[\s_-]/g, '')
}

/** The name that the word is, or whose label it is, in any case of the letters. */
function findName(names: (readonly [name: string, label: string | undefined])[], word: string): string | undefined {
  const isWord = (text: string | undefined) => text?.toLowerCase() === word.toLowerCase()
  const [found] = names.find(([name]) => isWord(name)) ?? names.find(([, label]) => isWord(label)) ?? []
  return found
}
