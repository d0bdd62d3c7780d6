import Papa from 'papaparse'
import { type Field, namesOf, parseInteger, parseTexts, type Resource } from '../resource.ts'
import { bulk } from '../texts/bulk.ts'
import { readJson } from './read-json.ts'
import { checkItem, type Delimiter, delimiters, isValid, type Row, type Table, unknownOf } from './table.ts'

export const maxRows = 10_000

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
  const unused = unknownOf(resource, names).map((name) => name || String(names.indexOf(name) + 1))
  return { format, hasHeader: true, columns: names, rows, unused, problem }
}

/** Whether the values are names of columns: at least one is known, and none is a number. */
function isHeader({ fields }: Resource, cells: string[]): boolean {
  return cells.some((cell) => namesOf(fields).includes(cell)) && !cells.some((cell) => parseInteger(cell) !== undefined)
}

/** The name of the field that a cell of the header row names, or else the cell. */
function columnNamed({ fields }: Resource, cell: string): string {
  const word = cell.trim()
  return (
    findName(
      fields.map(({ name, label }) => [name, label]),
      word,
    ) ?? word
  )
}

/** Finds what a word names in any case of its letters: a name of the API, or a label that the console shows. */
function findName(
  all: (readonly [name: string, ...labels: (string | undefined)[]])[],
  word: string,
): string | undefined {
  const isWord = (text: string | undefined) => text?.toLowerCase() === word.trim().toLowerCase()
  const [found] = all.find(([name]) => isWord(name)) ?? all.find((each) => each.some(isWord)) ?? []
  return found
}

/** The choice that a cell names, or else the cell. */
function choiceNamed({ choices = {} }: Field, cell: string): string {
  const words = Object.entries(choices)
  return findName(words, cell) ?? cell
}

function headerProblem(resource: Resource, columns: string[]): string | undefined {
  const fields = resource.entered
  const required = fields.filter(({ presence }) => presence === 'required')
  const unknown = unknownOf(resource, columns)
  const repeated = columns.filter((column, index) => columns.indexOf(column) < index && !unknown.includes(column))
  const missing = namesOf(required).filter((column) => !columns.includes(column))
  return [repeated, missing].some(({ length }) => length > 0)
    ? bulk.header(namesOf(fields), unknown, repeated, missing)
    : undefined
}

/** @param minCells fewer values are a problem */
function toRow(
  resource: Resource,
  { number, cells: written }: Pick<Row, 'number' | 'cells'>,
  columns: string[],
  minCells: number,
): Row {
  const cells = written.map((cell, index) => {
    const field = resource.fields.find(({ name }) => name === columns[index])
    // Without the apostrophe that an export writes before a formula.
    return field ? choiceNamed(field, cell.replace(/^'(?='*[=+\-@＝＋－＠])/, '')) : cell
  })
  const texts = Object.fromEntries(columns.map((column, index) => [column, cells[index]]))
  const values = parseTexts(resource, texts)
  if (cells.length < minCells || cells.length > columns.length) {
    const surplus = cells.slice(columns.length)
    const problem = bulk.cells(columns.length, cells.length, surplus)
    return { number, cells, values, problem, invalid: [] }
  }
  return { number, cells, values, ...checkItem(resource, values) }
}
