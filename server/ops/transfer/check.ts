import { createHash, type Hash } from 'node:crypto'
import { count } from '../count.ts'
import { OperatorError } from '../operator-error.ts'
import { readCsv } from './csv.ts'
import type { Format } from './format.ts'
import { type Input, readBlocks } from './input.ts'
import { readNdjson } from './ndjson.ts'
import { fieldsOf, type Resource } from './resource.ts'
import { type CheckedRow, rowCheck } from './rows.ts'

const maxListed = 20
const readers = { ndjson: readNdjson, csv: readCsv }

/** What the first reading of an input has found. */
export interface Check {
  /** The number of valid lines. */
  items: number
  /** The number of invalid lines. */
  problems: number
  /** SHA-256 of all bytes, in hexadecimal. */
  sha256: string
}

/**
 * Reads and validates the whole input.
 *
 * @param onInvalid is called with a description of each invalid line. Without it, invalid lines are an error.
 * @param onProgress is called with the number of lines.
 * @throws {OperatorError} that lists invalid lines, or if the input cannot be read to its end.
 */
export async function checkImport<New>(
  resource: Resource<New>,
  input: Input,
  format: Format,
  onInvalid?: (description: string) => void,
  onProgress: (lines: number) => void = () => {},
): Promise<Check> {
  const digest = createHash('sha256')
  const listed: string[] = []
  let [items, problems] = [0, 0]

  function add(row: CheckedRow<New>): void {
    if ('item' in row) return void items++
    problems++
    const description = `line ${row.line}: ${row.problem}`
    if (onInvalid) onInvalid(`Skipped ${description}`)
    else if (listed.length < maxListed) listed.push(description)
  }

  for await (const rows of readRows(resource, input, format, digest)) {
    for (const row of rows) add(row)
    onProgress(items + problems)
  }
  if (listed.length > 0) throw invalid(input, problems, listed)
  return { items, problems, sha256: digest.digest('hex') }
}

function invalid({ name }: Input, problems: number, listed: string[]): OperatorError {
  const others = problems > listed.length ? [`and ${problems - listed.length} more`] : []
  const lines = [...listed, ...others].map((line) => `  ${line}\n`).join('')
  return new OperatorError(
    `${name} has ${count(problems, 'invalid line')}, so nothing was imported:\n${lines}Correct the file, or import the rest of it with --skip-invalid.`,
  )
}

/** Reads the input once, from its beginning, and adds its bytes to the digest. */
export async function* readRows<New>(
  resource: Resource<New>,
  input: Input,
  format: Format,
  digest: Hash,
): AsyncGenerator<CheckedRow<New>[]> {
  const blocks = readBlocks(hashed(input, digest), input.name)
  const check = rowCheck(resource)
  for await (const rows of readers[format](blocks, input.name, fieldsOf(resource))) yield rows.map(check)
}

async function* hashed(input: Input, digest: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of input.read()) {
    digest.update(chunk)
    yield chunk
  }
}
