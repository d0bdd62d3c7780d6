import { pipeline } from 'node:stream'
import { CsvError, type Info, parse } from 'csv-parse'
import { stringify } from 'csv-stringify/sync'
import { parseJson } from '../api/int64.ts'
import { expected, isRecord } from '../api/validation.ts'
import { OperatorError } from '../ops/operator-error.ts'
import { type Field, type Item, parseCell } from './fields.ts'
import { type Block, maxLineLength, type Row, shorten } from './input.ts'

export const writers = { ndjson: writeNdjson, csv: writeCsv }
export const readers = { ndjson: readNdjson, csv: readCsv }

/** One JSON object per line (https://github.com/ndjson/ndjson-spec). Integers have all their digits. */
function writeNdjson(items: Item[], columns: string[]): string {
  return items
    .map((item) => {
      const members = columns.flatMap((name) => (item[name] === undefined ? [] : [`"${name}":${toJson(item[name])}`]))
      return `{${members}}\n`
    })
    .join('')
}

function toJson(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

/** Ignores empty lines. */
async function* readNdjson(blocks: AsyncIterable<Block>): AsyncGenerator<Row[]> {
  for await (const { line, bytes } of blocks) {
    // Not readline, which also ends a line at U+2028 and U+2029. A name may contain both.
    const lines = bytes.toString().split('\n')
    yield lines.flatMap((text, index) => (/^\r?$/.test(text) ? [] : [lineToRow(line + index, text)]))
  }
}

function lineToRow(line: number, text: string): Row {
  try {
    const fields = parseJson(text)
    return isRecord(fields) ? { line, fields } : { line, problem: expected('an object')({ input: fields }) }
  } catch {
    return { line, problem: 'expected a JSON object' }
  }
}

/** CSV as in RFC 4180. An apostrophe before a formula makes a spreadsheet read a text (OWASP, CSV Injection). */
function writeCsv(items: Item[], columns: string[], header = false): string {
  return stringify(items, {
    columns,
    header,
    record_delimiter: 'windows',
    cast: {
      boolean: String,
      date: (time) => time.toISOString(),
      string: (text) => text.replace(/^'*[=+\-@＝＋－＠]/, "'$&"),
    },
  })
}

/** What the parser returns for each record with the option `info`. The line is that of the end of the record. */
interface Parsed {
  record: string[]
  info: Pick<Info, 'lines'>
}

const rowsPerBatch = 1_000
/** Spreadsheets use them in some languages. */
const otherSeparators = [
  { character: ';', name: 'semicolons' },
  { character: '\t', name: 'tabs' },
]

/**
 * Reads CSV with a header row. Ignores empty lines, and rows of empty cells, which spreadsheets write.
 *
 * @param name the name of the input, for messages.
 * @param fields the columns that the file may have.
 * @throws {OperatorError} if the header is wrong, or the text is not CSV.
 */
async function* readCsv(blocks: AsyncIterable<Block>, name: string, fields: Field[]): AsyncGenerator<Row[]> {
  let header: Field[] | undefined
  let rows: Row[] = []
  for await (const { record, info } of parseRecords(blocks, name)) {
    if (header && record.every((cell) => cell === '')) continue
    if (header) rows.push(recordToRow(info.lines, header, record))
    else header = checkHeader(record, name, fields)
    if (rows.length < rowsPerBatch) continue
    yield rows
    rows = []
  }
  if (!header)
    throw new OperatorError(
      `${name} is empty. Begin a CSV file with the header row ${fields.map((field) => field.name).join(',')}.`,
    )
  yield rows
}

async function* parseRecords(blocks: AsyncIterable<Block>, name: string): AsyncGenerator<Parsed> {
  const parser = parse({
    info: true,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxLineLength,
  })
  // The error of the source or of the parser ends the iteration, too.
  pipeline(bytesOf(blocks), parser, () => {})
  try {
    yield* parser
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw new OperatorError(`${name} is not CSV as in RFC 4180. ${shorten(error.message)}. Correct that line.`, {
      cause: error,
    })
  }
}

async function* bytesOf(blocks: AsyncIterable<Block>): AsyncGenerator<Buffer> {
  for await (const { bytes } of blocks) yield bytes
}

/** Returns the field of each column. */
function checkHeader(names: string[], name: string, fields: Field[]): Field[] {
  const columns = fields.map((field) => field.name)
  const header = names.flatMap((column) => fields.find((field) => field.name === column) ?? [])
  const unknown = names.filter((column) => !columns.includes(column))
  const repeated = names.filter((column, index) => names.indexOf(column) < index)
  const missing = fields.filter((field) => field.isRequired && !names.includes(field.name)).map((field) => field.name)
  const problems = [describe('unknown', unknown), describe('repeated', repeated), describe('missing', missing)]
  if (problems.every((problem) => problem === '')) return header
  const omittable = fields.filter((field) => !field.isRequired).map((field) => field.name)
  const separator = otherSeparators.find(({ character }) => names.length === 1 && names[0]?.includes(character))
  if (separator) {
    throw new OperatorError(
      `${name} has ${separator.name} between its columns instead of commas. Export it again with commas, or replace them in a text editor if no name contains one.`,
    )
  }
  throw new OperatorError(
    `The header row of ${name} is wrong:${problems.join('')} Use the columns ${columns.join(', ')}; ${new Intl.ListFormat('en-GB').format(omittable)} may be omitted.`,
  )
}

function describe(problem: string, names: string[]): string {
  return names.length === 0 ? '' : ` ${problem}: ${shorten(names.map((name) => JSON.stringify(name)).join(', '))}.`
}

function recordToRow(line: number, header: Field[], record: string[]): Row {
  if (record.length !== header.length) {
    return { line, problem: `expected ${header.length} fields, got ${record.length}` }
  }
  const cells = header.map((field, index) => [field.name, parseCell(field, record[index] ?? '')] as const)
  return { line, fields: Object.fromEntries(cells.filter(([, value]) => value !== undefined)) }
}
