import { hash } from 'node:crypto'
import { type IdempotencyKey, noApiKey, StoreUnavailable } from '#store'
import { describeIssues } from '../api/validation.ts'
import { count } from '../ops/format.ts'
import { OperatorError } from '../ops/operator-error.ts'
import { type Field, type Format, fieldsOf, type ItemStore, type ItemType, parseCell } from './fields.ts'
import { readers } from './formats.ts'
import { type Input, type InvalidRow, type Row, readBlocks, shorten } from './input.ts'

/** Creates in flight. They share a few transactions. More would hold the write lock of SQLite for longer. */
const batchSize = 500

interface ReadOptions {
  format: Format
  /** Called with a description of each invalid line. Without it, the first invalid line is an error. */
  onInvalid?: ((description: string) => void) | undefined
}

interface ImportOptions extends ReadOptions {
  /** Identifies the import instead of the path of the file. */
  key?: string | undefined
  /** Called with the number of items that are stored. */
  onProgress?: ((items: number) => void) | undefined
}

/**
 * Creates an item for each valid line, in their order, while it reads the input. The idempotency key of an item is made of
 * the import, the values of the item, and how many equal ones come before it. So a repeated import creates only what is
 * missing, also if lines were corrected, added or removed meanwhile.
 *
 * @throws {OperatorError} that says how many items were created, if the import stops before its end.
 */
export async function importItems<New>(
  itemType: ItemType<New>,
  items: ItemStore<New>,
  input: Input,
  { key, onProgress, ...options }: ImportOptions,
) {
  const { name, plural } = itemType
  const nextKey = keysIn(key === undefined ? `file ${input.path}` : `--key ${key}`)
  let [created, existing] = [0, 0]

  async function create(item: New): Promise<void> {
    const idempotency: IdempotencyKey = { owner: noApiKey, key: nextKey(item) }
    await items.create(item, idempotency)
    if (idempotency.isReplay) existing++
    else created++
  }

  try {
    for await (const group of readItems(itemType, input, options)) {
      // Between two batches other processes get the write lock.
      for (let start = 0; start < group.length; start += batchSize) {
        // Waits for all of them, so that the outcome is complete.
        const results = await Promise.allSettled(group.slice(start, start + batchSize).map(create))
        for (const result of results) if (result.status === 'rejected') throw result.reason
        onProgress?.(created + existing)
      }
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable || error instanceof OperatorError)) throw error
    throw new OperatorError(
      `${error.message.replace(/\.?$/, '.')} ${count(created, name, plural)} created, ${existing} already existed. Run the command again within 24 hours: it creates no ${name} twice.`,
      { cause: error },
    )
  }
  return { created, existing }
}

/** 48 bits of each hash are enough to count equal items, and a map of such numbers is small. */
function keysIn(namespace: string): (item: unknown) => string {
  const counts = new Map<number, number>()
  return (item) => {
    const text = JSON.stringify(item, (_name, value) => (typeof value === 'bigint' ? String(value) : value))
    const sha256 = hash('sha256', `${namespace}\n${text}`)
    const number = Number.parseInt(sha256.slice(0, 12), 16)
    const before = counts.get(number) ?? 0
    counts.set(number, before + 1)
    return `${sha256}:${before}`
  }
}

/**
 * Reads the valid items. The items before an invalid line come before its error.
 *
 * @throws {OperatorError} if a line is invalid, or the input cannot be read to its end.
 */
export async function* readItems<New>(
  itemType: ItemType<New>,
  input: Input,
  { format, onInvalid }: ReadOptions,
): AsyncGenerator<New[]> {
  const check = rowCheck(itemType)
  const blocks = readBlocks(input, format)
  for await (const rows of readers[format](blocks, input.name, fieldsOf(itemType))) {
    const items: New[] = []
    for (const row of rows.map(check)) {
      if ('item' in row) items.push(row.item)
      else if (onInvalid) onInvalid(`line ${row.line}: ${row.problem}`)
      else {
        yield items
        throw new OperatorError(
          `Line ${row.line} of ${input.name} is invalid: ${row.problem}. Correct it, or skip invalid lines with --skip-invalid.`,
        )
      }
    }
    yield items
  }
}

/**
 * Makes the function that applies the rules and the messages of the API to a line, but refuses unknown fields. It ignores
 * the fields that the store assigns.
 */
function rowCheck<New>(itemType: ItemType<New>): (row: Row) => { item: New } | InvalidRow {
  const known = new Map(fieldsOf(itemType).map((field) => [field.name, field]))
  return (row) => {
    if ('problem' in row) return row
    const { line, fields } = row
    const unknown = Object.keys(fields).filter((name) => !known.has(name))
    if (unknown.length > 0) {
      return { line, problem: `unknown fields: ${shorten(unknown.map((name) => JSON.stringify(name)).join(', '))}` }
    }
    const given = Object.entries(fields).flatMap(([name, value]) => {
      const field = known.get(name)
      return field?.isGiven ? [[name, fromJson(field, value)]] : []
    })
    const { data, error } = itemType.newItem.safeParse(Object.fromEntries(given))
    return error ? { line, problem: describeIssues(error) } : { item: data }
  }
}

/** JSON has no value of these kinds. */
function fromJson(field: Field, value: unknown): unknown {
  if (field.kind === 'bigint' && typeof value === 'number' && Number.isInteger(value)) return BigInt(value)
  return field.kind === 'date' && typeof value === 'string' ? parseCell(field, value) : value
}
