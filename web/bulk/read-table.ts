import Papa from 'papaparse'
import { messages } from '../messages/index.ts'
import { namesOf, parseInteger, parseTexts, type Resource, type Values } from '../resource.ts'
import { checkItem } from './check-item.ts'

export const maxRows = 10_000

export type Format = keyof typeof messages.bulk.formats

export interface Table {
  format: Format
  hasHeader: boolean
  /** The names of the columns, those of the header row if there is one. */
  columns: string[]
  rows: Row[]
  /** Why the text has no usable rows. */
  problem?: string | undefined
}

export type Row = ValidRow | InvalidRow

interface RowText {
  /** Counts from 1, as in a spreadsheet: the header row and empty rows count, too. */
  number: number
  /** The texts of the row, in the order of the columns. */
  cells: string[]
}

export interface ValidRow extends RowText {
  item: Values
}

interface InvalidRow extends RowText {
  problem: string
}

export function isValid(row: Row): row is ValidRow {
  return 'item' in row
}

const { bulk } = messages

/** Reads items from CSV, TSV, JSON or NDJSON and checks each of them. Returns undefined if there is only white space. */
export function readTable(resource: Resource, text: string): Table | undefined {
  // A line break inside a text is a problem in any form.
  const lines = text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n')
  if (lines.trim() === '') return undefined
  const table = /^\s*(\{|\[\s*[{\]])/.test(lines)
    ? readJson(resource, lines)
    : readDelimited(resource, lines, detectDelimiter(resource, lines))
  if (table.rows.length <= maxRows) return table
  return { ...table, rows: [], problem: bulk.tooManyRows(table.rows.length, maxRows) }
}

const delimiters = { tab: '\t', semicolon: ';', comma: ',' }
type Delimiter = keyof typeof delimiters

/** The delimiter with which the first rows have the most items, or else the most values. */
function detectDelimiter(resource: Resource, text: string): Delimiter {
  const scores = (['comma', 'semicolon', 'tab'] as const).map((delimiter) => {
    const { columns, hasHeader, rows } = readDelimited(resource, text, delimiter, 20)
    const width = hasHeader ? columns.length : (rows[0]?.cells.length ?? 0)
    return { delimiter, score: rows.filter(isValid).length * 1_000 + width }
  })
  return scores.reduce((best, each) => (each.score > best.score ? each : best)).delimiter
}

/** @param preview reads only this number of rows, or all if it is 0 */
function readDelimited(resource: Resource, text: string, format: Delimiter, preview = 0): Table {
  const { data, errors } = Papa.parse<string[]>(text, { delimiter: delimiters[format], newline: '\n', preview })
  const records = data
    .map((cells, index) => ({ number: index + 1, cells }))
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  const [first] = records
  const [error] = errors
  const fields = resource.entered
  const headless = { format, hasHeader: false, columns: namesOf(fields) }
  // Nobody can tell where the next row starts.
  if (error) return { ...headless, rows: [], problem: bulk.quotes((error.row ?? 0) + 1) }
  const names = first?.cells.map((cell) => columnNamed(resource, cell)) ?? []
  if (!first || !isHeader(resource, names)) {
    // The last columns may be omitted if they are optional.
    const minCells = fields.findLastIndex(({ presence }) => presence === 'required') + 1
    return { ...headless, rows: records.map((record) => toRow(resource, record, headless.columns, minCells)) }
  }
  const problem = headerProblem(resource, names)
  const rows = problem ? [] : records.slice(1).map((record) => toRow(resource, record, names, names.length))
  return { format, hasHeader: true, columns: names, rows, problem }
}

/** Whether the values are names of columns: at least one is known, and none is a number. */
function isHeader({ fields }: Resource, cells: string[]): boolean {
  return cells.some((cell) => namesOf(fields).includes(cell)) && !cells.some((cell) => parseInteger(cell) !== undefined)
}

function columnNamed({ fields }: Resource, cell: string): string {
  const word = cell.trim()
  return namesOf(fields).find((name) => name.toLowerCase() === word.toLowerCase()) ?? word
}

function headerProblem(resource: Resource, columns: string[]): string | undefined {
  const fields = resource.entered
  const required = fields.filter(({ presence }) => presence === 'required')
  const unknown = unknownOf(resource, columns)
  const repeated = columns.filter((column, index) => columns.indexOf(column) < index)
  const missing = namesOf(required).filter((column) => !columns.includes(column))
  return [unknown, repeated, missing].some(({ length }) => length > 0)
    ? bulk.header(namesOf(fields), unknown, repeated, missing)
    : undefined
}

function unknownOf({ fields }: Resource, names: string[]): string[] {
  return names.filter((name) => !namesOf(fields).includes(name))
}

/** @param minCells fewer values are a problem */
function toRow(resource: Resource, { number, cells }: RowText, columns: string[], minCells: number): Row {
  if (cells.length < minCells || cells.length > columns.length) {
    return { number, cells, problem: bulk.problems.cells(columns.length, cells.length) }
  }
  const texts = Object.fromEntries(columns.map((column, index) => [column, cells[index]]))
  return { number, cells, ...checkItem(resource, parseTexts(resource, texts)) }
}

function readJson(resource: Resource, text: string): Table {
  const header = { hasHeader: false, columns: namesOf(resource.entered) }
  const whole = parseJson(text)
  if ('value' in whole) {
    const rows = [whole.value].flat().map((value, index) => toJsonRow(resource, index + 1, value))
    return { format: 'json', ...header, rows }
  }
  if (text.trimStart().startsWith('[')) {
    return { format: 'json', ...header, rows: [], problem: bulk.notJson(whole.reason) }
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
    : { number, cells: [line], problem: bulk.problems.notAnObject }
}

function toJsonRow(resource: Resource, number: number, value: unknown): Row {
  if (!isRecord(value)) return { number, cells: [textOf(value)], problem: bulk.problems.notAnObject }
  const cells = resource.entered.map(({ name }) => textOf(value[name]))
  const unknown = unknownOf(resource, Object.keys(value))
  if (unknown.length > 0) return { number, cells, problem: bulk.problems.unknownFields(unknown) }
  return { number, cells, ...checkItem(resource, value) }
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
