import { CsvError, parse } from 'csv-parse/browser/esm/sync'
import { type Field, givenOf, isPlausible, nameOfColumn, namesOf, parseText, parseTexts } from './fields.ts'
import { type Reader, type Row, Unreadable } from './table.ts'
import { texts } from './texts.ts'

const delimiters = { comma: ',', semicolon: ';', tab: '\t' }
type Dialect = keyof typeof delimiters

/** Bytes of a row. It bounds the memory when a quote is not closed. */
const maxRow = 64 * 1024

/** Reads CSV as in RFC 4180, also with semicolons or tabs, with or without a header row. */
export function csvReader(fields: readonly Field[], start: Uint8Array): Reader {
  return readerOf(fields, detectDialect(fields, start))
}

/** The dialect in which the first row is a header, or else the first rows have the most items, or else the most columns. */
function detectDialect(fields: readonly Field[], start: Uint8Array): Dialect {
  // Safe: Object.keys returns exactly the keys of this constant.
  const scores = (Object.keys(delimiters) as Dialect[]).map((dialect) => {
    const { table, read, widthOf } = readerOf(fields, dialect, 20)
    const items = countItems(fields, () => read(start, false))
    return { dialect, score: (table.hasHeader ? 1_000_000 : 0) + items * 1_000 + widthOf() }
  })
  return scores.reduce((best, each) => (each.score > best.score ? each : best)).dialect
}

function countItems(fields: readonly Field[], read: () => Row[]): number {
  const given = givenOf(fields)
  const isItem = ({ problem, values = {} }: Row) =>
    problem === undefined && given.every((field) => isPlausible(field, values[field.name]))
  try {
    return read().filter(isItem).length
  } catch {
    return 0
  }
}

function readerOf(fields: readonly Field[], format: Dialect, maxRows = -1): Reader & { widthOf: () => number } {
  const given = givenOf(fields)
  const table = { format, hasHeader: false, columns: namesOf(given), unused: [] as string[] }
  // The last columns may be omitted if they are optional.
  let minCells = given.findLastIndex(({ presence }) => presence === 'required') + 1
  let [number, line, width] = [0, 1, 0]
  let rest: Uint8Array = new Uint8Array()

  function toRow(cells: string[]): Row | undefined {
    const isFirst = width === 0
    const row = { number: ++number, line, cells }
    // Not that of the parser, which counts a line break of two characters inside quotes twice.
    line += 1 + (cells.join(' ').match(/\r\n|\r|\n/g)?.length ?? 0)
    if (cells.every((cell) => cell.trim() === '')) return undefined
    if (isFirst) {
      width = cells.length
      if (setHeader(cells)) return undefined
    }
    return parseRow(fields, row, table.columns, minCells)
  }

  function setHeader(cells: string[]): boolean {
    const names = cells.map((cell) => nameOfColumn(fields, cell))
    const known = namesOf(fields)
    const isNumber = (cell: string) => /^-?\d+$/.test(cell.trim())
    if (!names.some((name) => known.includes(name)) || cells.some(isNumber)) return false
    table.hasHeader = true
    const unused = names.flatMap((name, index) => (known.includes(name) ? [] : [name || String(index + 1)]))
    const repeated = names.filter((name, index) => names.indexOf(name) < index && known.includes(name))
    const required = given.filter(({ presence }) => presence === 'required')
    const missing = namesOf(required).filter((name) => !names.includes(name))
    if (repeated.length + missing.length > 0)
      throw new Unreadable(texts.header(namesOf(given), unused, repeated, missing))
    Object.assign(table, { columns: names, unused })
    minCells = names.length
    return true
  }

  function read(part: Uint8Array, isLast: boolean): Row[] {
    const bytes = joined(rest, part)
    const rows: Row[] = []
    let end = 0
    try {
      parse(bytes, {
        delimiter: delimiters[format],
        record_delimiter: ['\r\n', '\n', '\r'],
        relax_column_count: true,
        // A spreadsheet copies its cells with tabs between them, and does not double their quotes.
        relax_quotes: format === 'tab',
        to: maxRows,
        on_record: (cells: string[], info) => {
          end = info.bytes
          const row = toRow(cells)
          if (row) rows.push(row)
          return null
        },
      })
    } catch (error) {
      if (!(error instanceof CsvError)) throw error
      // The row goes on in the next part.
      const isOpen = error.code === 'CSV_QUOTE_NOT_CLOSED' && !isLast && bytes.length - end <= maxRow
      if (!isOpen) throw new Unreadable(texts.quotes(line))
    }
    rest = bytes.slice(end)
    return rows
  }

  return { table, read, widthOf: () => width }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}

/** @param minCells fewer values are a problem */
function parseRow(fields: readonly Field[], written: Row, columns: string[], minCells: number): Row {
  const cells = written.cells.map((text, index) => {
    const field = fields.find(({ name }) => name === columns[index])
    if (!field) return text
    // Without the apostrophe that an export writes before a formula.
    const cell = text.replace(/^'(?='*[=+\-@\t\r＝＋－＠])/, '')
    return field.kind === 'choice' || field.kind === 'boolean' ? String(parseText(field, cell) ?? cell) : cell
  })
  const values = parseTexts(fields, Object.fromEntries(columns.map((column, index) => [column, cells[index]])))
  const row = { ...written, cells, values }
  // A spreadsheet may write empty cells at the end of each row.
  const surplus = cells.slice(columns.length).filter((cell) => cell.trim() !== '')
  if (cells.length >= minCells && surplus.length === 0) return row
  return { ...row, problem: texts.cells(columns.length, cells.length, surplus) }
}
