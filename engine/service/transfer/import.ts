import { hash } from 'node:crypto'
import { type Caller, noApiKey, RowConflict, RuleViolation, StoreUnavailable } from '#store'
import type { ItemStore, ItemType } from '../api/transfer.ts'
import { describeIssues, OtherText } from '../api/validation.ts'
import { count } from '../operator/format.ts'
import { OperatorError } from '../operator/operator-error.ts'
import { type Field, isRounded, rounded } from '../reader/fields.ts'
import { itemReader, type Reader, type Row, texts, Unreadable } from '../reader/reader.ts'
import { type Format, transferFields } from './fields.ts'
import { type Input, readBlocks } from './input.ts'

/** Creates in flight. They share a few transactions. More would hold the write lock of SQLite for longer. */
const batchSize = 500

interface ImportOptions {
  /** The format of the file. By default it is detected. */
  format?: Format | undefined
  /** Called with a description of each invalid line. Without it, the first invalid line is an error. */
  onInvalid?: ((description: string) => void) | undefined
  /** Identifies the import instead of the path of the file. */
  key?: string | undefined
  /** Called with the number of items that are stored. */
  onProgress?: ((items: number) => void) | undefined
}

/**
 * Creates an item for each valid line, in their order, while it reads the input. The idempotency key of an item is made of
 * the import, the values of the item, and how many equal ones come before it. So a repeated import creates only what it
 * has not created before, also if lines were corrected, added or removed meanwhile. An error says how many items were created.
 */
export async function importItems<New>(
  itemType: ItemType<New>,
  items: ItemStore<New>,
  input: Input,
  { key, onProgress, ...options }: ImportOptions,
) {
  const { name, plural } = itemType
  const nextKey = keysIn(key === undefined ? `file ${input.path}` : `--key ${key}`)
  let [stored, existing] = [0, 0]

  async function create({ item, place }: Placed<New>): Promise<void> {
    const caller: Caller = { owner: noApiKey, key: nextKey(item), onReplay: () => existing++ }
    try {
      await items.create(item, caller)
    } catch (error) {
      if (!(error instanceof RowConflict)) throw error
      if (options.onInvalid) return options.onInvalid(`${place}: ${error.message}`)
      throw lineError(`${place} of ${input.name} cannot be stored`, error.message)
    }
    stored++
  }

  try {
    for await (const group of readItems(itemType, input, options)) {
      // Between two batches other processes get the write lock.
      for (let start = 0; start < group.length; start += batchSize) {
        // Waits for all of them, so that the outcome is complete.
        const results = await Promise.allSettled(group.slice(start, start + batchSize).map(create))
        for (const result of results) if (result.status === 'rejected') throw result.reason
        onProgress?.(stored)
      }
    }
  } catch (error) {
    const isExplained =
      error instanceof StoreUnavailable || error instanceof RuleViolation || error instanceof OperatorError
    if (!isExplained) throw error
    // Nothing is stored yet, such as after a wrong header row.
    if (error instanceof OperatorError && stored === 0) throw error
    throw new OperatorError(
      `${sentence(error.message)} ${count(stored - existing, name, plural)} created, ${existing} already imported. Run the command again within 24 hours: it creates no ${name} twice.`,
      { cause: error },
    )
  }
  return { created: stored - existing, existing }
}

/** 52 bits of each hash are enough to count equal items, and a map of such numbers is small. */
function keysIn(namespace: string): (item: unknown) => string {
  const counts = new Map<number, number>()
  return (item) => {
    const text = JSON.stringify(item, (_name, value) => (typeof value === 'bigint' ? String(value) : value))
    const sha256 = hash('sha256', `${namespace}\n${text}`)
    const number = Number.parseInt(sha256.slice(0, 13), 16)
    const before = counts.get(number) ?? 0
    counts.set(number, before + 1)
    return `${sha256}:${before}`
  }
}

/** An item with its place in the input, for messages. */
interface Placed<New> {
  item: New
  place: string
}

/** Reads the valid items. The items before an invalid line come before its error. */
export async function* readItems<New>(
  itemType: ItemType<New>,
  input: Input,
  { format, onInvalid }: Pick<ImportOptions, 'format' | 'onInvalid'>,
): AsyncGenerator<Placed<New>[]> {
  const fields = transferFields(itemType)
  for await (const rows of readRows(fields, input, format)) {
    const items: Placed<New>[] = []
    for (const row of rows) {
      const checked = checkRow(itemType, fields, row)
      const place = row.line === undefined ? `item ${row.number}` : `line ${row.line}`
      if ('item' in checked) items.push({ item: checked.item, place })
      else if (onInvalid) onInvalid(`${place}: ${checked.problem}`)
      else {
        yield items
        throw lineError(`${place} of ${input.name} is invalid`, checked.problem)
      }
    }
    yield items
  }
}

async function* readRows(fields: Field[], input: Input, format: Format | undefined): AsyncGenerator<Row[]> {
  let reader: Reader | undefined
  function read(bytes: Uint8Array, isLast: boolean): Row[] {
    reader ??= itemReader(fields, bytes, format)
    const rows = reader.read(bytes, isLast)
    const { unused } = reader.table
    // A person sees it in the console. Here, a misspelled name would lose the values of a column.
    if (unused.length > 0) throw new Unreadable(`${texts.unused(unused)} Correct its name, or remove it.`)
    return rows
  }
  try {
    for await (const bytes of readBlocks(input)) yield read(bytes, false)
    if (reader) yield read(new Uint8Array(), true)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    throw new OperatorError(`${input.name}: ${error.message}`, { cause: error })
  }
  if (!reader && format === 'csv') {
    const columns = fields.map(({ name }) => name).join(',')
    throw new OperatorError(`${input.name} is empty. Begin a CSV file with the header row ${columns}.`)
  }
}

/** Applies the rules and the messages of the API to a row. */
function checkRow<New>(
  { newItem }: ItemType<New>,
  fields: Field[],
  { values = {}, problem }: Row,
): { item: New } | { problem: string } {
  if (problem !== undefined) return { problem }
  const others = fields.flatMap(({ name, kind }) => {
    const text = values[name]
    // Cells of CSV have no type.
    const isOther = typeof text === 'string' && text !== '' && ['integer', 'boolean', 'time'].includes(kind)
    return isOther ? [[name, new OtherText(text, isRounded(text) ? `, which ${rounded}` : '')]] : []
  })
  const { data, error } = newItem.safeParse({ ...values, ...Object.fromEntries(others) })
  return error ? { problem: describeIssues(error) } : { item: data }
}

function lineError(what: string, problem: string): OperatorError {
  const start = what.charAt(0).toUpperCase() + what.slice(1)
  return new OperatorError(`${start}: ${sentence(problem)} Correct it, or skip invalid lines with --skip-invalid.`)
}

function sentence(text: string): string {
  return text.replace(/\.?$/, '.')
}
