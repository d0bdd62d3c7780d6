import { pipeline } from 'node:stream'
import { CsvError, type Info, parse } from 'csv-parse'
import { stringify } from 'csv-stringify/sync'
import type { Pet } from '../../../db/resources.ts'
import { parseDigits } from '../../api/int64.ts'
import { OperatorError } from '../operator-error.ts'
import { columns } from './format.ts'
import { type Block, maxLineLength } from './input.ts'
import type { Row } from './rows.ts'

/** CSV as in RFC 4180. Names are not changed, also if a spreadsheet would take them for a formula. */
export function writeCsv(pets: Pet[]): string {
  return stringify(
    pets.map(({ id, name, categoryId, status }) => [id, name, categoryId, status]),
    { record_delimiter: 'windows' },
  )
}

export const csvHeader = stringify([[...columns]], { record_delimiter: 'windows' })

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
 * Reads CSV with a header row. Ignores empty lines.
 *
 * @param name the name of the input, for messages.
 * @throws {OperatorError} if the header is wrong, or the text is not CSV.
 */
export async function* readCsv(blocks: AsyncIterable<Block>, name: string): AsyncGenerator<Row[]> {
  let header: string[] | undefined
  let rows: Row[] = []
  for await (const { record, info } of parseRecords(blocks, name)) {
    if (header) rows.push(toRow(info.lines, header, record))
    else header = checkHeader(record, name)
    if (rows.length < rowsPerBatch) continue
    yield rows
    rows = []
  }
  if (!header) throw new OperatorError(`${name} is empty. Begin a CSV file with the header row ${columns.join(',')}.`)
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
    throw new OperatorError(`${name} is not CSV as in RFC 4180. ${error.message}. Correct that line.`, { cause: error })
  }
}

async function* bytesOf(blocks: AsyncIterable<Block>): AsyncGenerator<Buffer> {
  for await (const { bytes } of blocks) yield bytes
}

function checkHeader(names: string[], name: string): string[] {
  const unknown = names.filter((column) => !columns.some((known) => known === column))
  const repeated = names.filter((column, index) => names.indexOf(column) < index)
  const missing = ['name', 'categoryId'].filter((column) => !names.includes(column))
  const problems = [describe('unknown', unknown), describe('repeated', repeated), describe('missing', missing)]
  if (problems.every((problem) => problem === '')) return names
  const separator = otherSeparators.find(({ character }) => names.length === 1 && names[0]?.includes(character))
  if (separator) {
    throw new OperatorError(
      `${name} has ${separator.name} between its columns instead of commas. Export it again with commas, or replace them in a text editor if no name contains one.`,
    )
  }
  throw new OperatorError(
    `The header row of ${name} is wrong:${problems.join('')} Use the columns ${columns.join(', ')}; id and status may be omitted.`,
  )
}

function describe(problem: string, names: string[]): string {
  return names.length === 0 ? '' : ` ${problem}: ${names.map((name) => JSON.stringify(name)).join(', ')}.`
}

function toRow(line: number, header: string[], record: string[]): Row {
  if (record.length !== header.length) {
    return { line, problem: `expected ${header.length} fields, got ${record.length}` }
  }
  const { categoryId = '', status, ...fields } = Object.fromEntries(header.map((name, index) => [name, record[index]]))
  return {
    line,
    fields: {
      ...fields,
      categoryId: parseDigits(categoryId) ?? categoryId,
      ...(status === '' ? {} : { status }),
    },
  }
}
