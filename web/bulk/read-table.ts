import Papa from 'papaparse'
import type { NewPet } from '../../client/index.ts'
import { messages } from '../messages/index.ts'
import { checkPet } from './check-pet.ts'

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
  pet: NewPet
}

interface InvalidRow extends RowText {
  problem: string
}

export function isValid(row: Row): row is ValidRow {
  return 'pet' in row
}

const { bulk } = messages
const defaultColumns = ['name', 'categoryId', 'status']
const knownColumns = ['id', ...defaultColumns]

/** Reads pets from CSV, TSV, JSON or NDJSON and checks each of them. Returns undefined if there is only white space. */
export function readTable(text: string): Table | undefined {
  // A line break inside a name is a problem in any form.
  const lines = text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n')
  if (lines.trim() === '') return undefined
  const table = /^\s*(\{|\[\s*[{\]])/.test(lines) ? readJson(lines) : readDelimited(lines, detectDelimiter(lines))
  if (table.rows.length <= maxRows) return table
  return { ...table, rows: [], problem: bulk.tooManyRows(table.rows.length, maxRows) }
}

const delimiters = { tab: '\t', semicolon: ';', comma: ',' }
type Delimiter = keyof typeof delimiters

/** The delimiter with which the first rows have the most pets, or else the most values. */
function detectDelimiter(text: string): Delimiter {
  const scores = (['comma', 'semicolon', 'tab'] as const).map((delimiter) => {
    const { columns, hasHeader, rows } = readDelimited(text, delimiter, 20)
    const width = hasHeader ? columns.length : (rows[0]?.cells.length ?? 0)
    return { delimiter, score: rows.filter(isValid).length * 1_000 + width }
  })
  return scores.reduce((best, each) => (each.score > best.score ? each : best)).delimiter
}

/** @param preview reads only this number of rows, or all if it is 0 */
function readDelimited(text: string, format: Delimiter, preview = 0): Table {
  const { data, errors } = Papa.parse<string[]>(text, { delimiter: delimiters[format], newline: '\n', preview })
  const records = data
    .map((cells, index) => ({ number: index + 1, cells }))
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  const [first] = records
  const [error] = errors
  if (error) {
    // Nobody can tell where the next row starts.
    return { format, hasHeader: false, columns: defaultColumns, rows: [], problem: bulk.quotes((error.row ?? 0) + 1) }
  }
  if (!first || !isHeader(first.cells)) {
    const rows = records.map((record) => toRow(record, defaultColumns, 2))
    return { format, hasHeader: false, columns: defaultColumns, rows }
  }
  const columns = first.cells.map(columnNamed)
  const problem = headerProblem(columns)
  const rows = problem ? [] : records.slice(1).map((record) => toRow(record, columns, columns.length))
  return { format, hasHeader: true, columns, rows, problem }
}

/** Whether the values are names of columns: at least one is known, and none is a number. */
function isHeader(cells: string[]): boolean {
  return (
    cells.some((cell) => knownColumns.includes(columnNamed(cell))) &&
    !cells.some((cell) => toInteger(cell) !== undefined)
  )
}

function columnNamed(cell: string): string {
  const name = cell.trim()
  return knownColumns.find((column) => column.toLowerCase() === name.toLowerCase()) ?? name
}

function headerProblem(columns: string[]): string | undefined {
  const unknown = columns.filter((column) => !knownColumns.includes(column))
  const repeated = columns.filter((column, index) => columns.indexOf(column) < index)
  const missing = ['name', 'categoryId'].filter((column) => !columns.includes(column))
  return [unknown, repeated, missing].some(({ length }) => length > 0)
    ? bulk.header(unknown, repeated, missing)
    : undefined
}

/** @param minCells fewer values are a problem */
function toRow({ number, cells }: RowText, columns: string[], minCells: number): Row {
  if (cells.length < minCells || cells.length > columns.length) {
    return { number, cells, problem: bulk.problems.cells(columns.length, cells.length) }
  }
  const { name, categoryId = '', status } = Object.fromEntries(columns.map((column, index) => [column, cells[index]]))
  return {
    number,
    cells,
    ...checkPet({ name, categoryId: toInteger(categoryId) ?? categoryId.trim(), status: status?.trim() || undefined }),
  }
}

function toInteger(cell: string): bigint | undefined {
  return /^\s*-?[0-9]+\s*$/.test(cell) ? BigInt(cell) : undefined
}

function readJson(text: string): Table {
  const header = { hasHeader: false, columns: defaultColumns }
  const whole = parseJson(text)
  if ('value' in whole) {
    const values = Array.isArray(whole.value) ? whole.value : [whole.value]
    return { format: 'json', ...header, rows: values.map((value, index) => toJsonRow(index + 1, value)) }
  }
  if (text.trimStart().startsWith('[')) {
    return { format: 'json', ...header, rows: [], problem: bulk.notJson(whole.reason) }
  }
  const rows = text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [toNdjsonRow(index + 1, line)]))
  return { format: 'ndjson', ...header, rows }
}

function toNdjsonRow(number: number, line: string): Row {
  const parsed = parseJson(line)
  return 'value' in parsed
    ? toJsonRow(number, parsed.value)
    : { number, cells: [line], problem: bulk.problems.notAnObject }
}

function toJsonRow(number: number, value: unknown): Row {
  if (!isRecord(value)) return { number, cells: [textOf(value)], problem: bulk.problems.notAnObject }
  const { name, categoryId, status } = value
  const cells = [name, categoryId, status].map(textOf)
  const unknown = Object.keys(value).filter((field) => !knownColumns.includes(field))
  if (unknown.length > 0) return { number, cells, problem: bulk.problems.unknownFields(unknown) }
  return { number, cells, ...checkPet({ name, categoryId: exactly(categoryId), status }) }
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
  return typeof value === 'number' && context && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value
}

/** An integer in another notation, such as 5.0, is the same number. */
function exactly(value: unknown): unknown {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
}

function isRecord(value: unknown): value is { [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text for the table. */
function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'object' && value !== null ? '{…}' : String(value)
}
