import type { Column, Table } from 'drizzle-orm'
import { columnOf, type Entity, type SearchFields, type SearchQuery } from './resource.ts'

/** Searches, which the engines derive from the table and the fields of a resource. */

/** A query as the engines run it. */
export interface Search {
  isNewestFirst: boolean
  limit: number
  cursor: bigint | undefined
  /** The first id that may be on the page, in the order of the ids. */
  first: bigint
  /** The filters by which the index begins. */
  filters: string[]
  /** The values of the filters: one combination for each range of the index. */
  wanted: unknown[][]
  by?: { field: string; kind: 'value'; value: unknown } | { field: string; kind: 'beginning'; range: TextRange }
}

/** The texts between `beyond` and `until`, one of which is excluded: the greater one. Those that equal `at` are partly read. */
export interface TextRange {
  at: string | null
  beyond: string
  until: string
}

const maxId = 2n ** 63n - 1n
const maxPoint = 0x10ffff

/**
 * Makes the method that searches a resource.
 *
 * @param get reads the row of a cursor
 */
export function searchWith<T extends Table, S extends SearchFields>(
  table: T,
  { within, by }: SearchFields = { within: [], by: {} },
  get: (id: bigint) => Promise<Entity<T> | undefined>,
  run: (search: Search) => Promise<Entity<T>[]>,
): (query: SearchQuery<T, S>) => Promise<Entity<T>[]> {
  return async (query) => {
    const given: Record<string, unknown> = query
    const [field, ...more] = ['id', ...Object.keys(by)].filter((name) => given[name] !== undefined)
    if (more.length > 0) throw new Error(`A search is by one field, not also by ${more.join(' and ')}.`)
    const isNewestFirst = query.order === 'newest'
    const { cursor, limit } = query
    const first = firstId(isNewestFirst, cursor)
    if (first > maxId) return []
    const page = { isNewestFirst, limit, cursor, first }
    if (field === undefined || field === 'id') {
      const filters = within.filter((name) => given[name] !== undefined)
      const wanted = [filters.map((name) => given[name])]
      return run({ ...page, filters, wanted, ...(field && { by: { field, kind: 'value', value: given[field] } }) })
    }
    const values = within.map((name) => (given[name] === undefined ? valuesOf(columnOf(table, name)) : [given[name]]))
    const search = { ...page, filters: [...within], wanted: combinationsOf(values) }
    if (by[field] === 'value') return run({ ...search, by: { field, kind: 'value', value: given[field] } })
    const row: Record<string, unknown> | undefined = cursor === undefined ? undefined : await get(cursor)
    const start = cursor === undefined ? undefined : fold(String(row?.[field] ?? ''))
    const beginnings = spellingsOf(String(given[field]))
    if (!isNewestFirst) beginnings.reverse()
    const current = start === undefined ? 0 : beginnings.findIndex((each) => start.startsWith(each))
    // The cursor is no row of this search.
    if (current === -1) return []
    const range = rangeOf(beginnings[current] ?? '', start, isNewestFirst)
    const rows = await run({ ...search, by: { field, kind: 'beginning', range } })
    for (const beginning of beginnings.slice(current + 1)) {
      if (rows.length >= limit) break
      const rest = { cursor: undefined, first: firstId(isNewestFirst, undefined), limit: limit - rows.length }
      const range = rangeOf(beginning, undefined, isNewestFirst)
      rows.push(...(await run({ ...search, ...rest, by: { field, kind: 'beginning', range } })))
    }
    return rows
  }
}

function firstId(isNewestFirst: boolean, cursor: bigint | undefined): bigint {
  if (isNewestFirst) return cursor === undefined ? maxId : cursor - 1n
  return cursor === undefined ? 1n : cursor + 1n
}

function valuesOf(column: Column): readonly unknown[] {
  if (column.enumValues) return column.enumValues
  if (column.dataType === 'boolean') return [false, true]
  throw new Error(`A search within ${column.name} needs a column with few values.`)
}

function combinationsOf(values: (readonly unknown[])[]): unknown[][] {
  return values.reduce<unknown[][]>((all, each) => all.flatMap((one) => each.map((value) => [...one, value])), [[]])
}

/** Lower case of ASCII letters only: no rule for other letters is the same in SQLite and in PostgreSQL. */
function fold(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/**
 * The beginnings that a search for a text finds, in the order of their code points: as it is, in lower case, in upper case
 * and capitalized, each with composed and with decomposed letters. All of them are equal if the text is ASCII.
 */
function spellingsOf(text: string): string[] {
  const lower = text.toLowerCase()
  const [first = ''] = lower
  const cases = [text, lower, text.toUpperCase(), first.toUpperCase() + lower.slice(first.length)]
  const spellings = cases.flatMap((each) => [each, each.normalize('NFC'), each.normalize('NFD')]).map(fold)
  return [...new Set(spellings)]
    .filter((each, _, all) => !all.some((other) => other !== each && each.startsWith(other)))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

/** @param start the text of the cursor */
function rangeOf(from: string, start: string | undefined, isAscending: boolean): TextRange {
  const end = endOf(from)
  return isAscending
    ? { at: start ?? from, beyond: start ?? from, until: end }
    : { at: start ?? null, beyond: start ?? end, until: from }
}

/** The first text after those that begin with a text. Both databases compare texts by their code points. */
function endOf(text: string): string {
  const points = [...text]
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? 0
    // Surrogates, which follow U+D7FF, are no characters.
    if (point < maxPoint) return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1)
  }
  // Only a longer text of the last code point is greater, and no text is that long.
  return String.fromCodePoint(maxPoint).repeat(1_000)
}
