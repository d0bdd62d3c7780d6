import { type Row as FileRow, itemReader, texts, Unreadable } from '#service/reader'
import { number } from '../formats.ts'
import type { Resource } from '../resource.ts'
import { checkItem, type Row, type Table } from './table.ts'

export const maxRows = 10_000

/** Reads items from CSV, TSV, JSON or NDJSON and checks each of them. Returns undefined if there is only white space. */
export function readTable(resource: Resource, pasted: string): Table | undefined {
  const text = pasted.replace(/^\ufeff/, '')
  if (text.trim() === '') return undefined
  const bytes = new TextEncoder().encode(text)
  const reader = itemReader(resource.fields, bytes)
  // Half a character would become another one.
  if (!text.isWellFormed()) return { ...reader.table, rows: [], problem: `The text ${texts.notUtf8}` }
  try {
    const rows = reader.read(bytes, true).map((row) => checkRow(resource, row))
    if (rows.length > 0 && rows.length <= maxRows) return { ...reader.table, rows }
    const { one } = resource
    const none = `There is no ${one} in it. Add a row for each ${one}.`
    const tooMany = `${number(rows.length)} rows are too many. Add at most ${number(maxRows)} at a time.`
    const problem = rows.length === 0 ? none : tooMany
    return { ...reader.table, rows: [], problem }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { ...reader.table, rows: [], problem: error.message }
  }
}

function checkRow(resource: Resource, { problem, ...row }: FileRow): Row {
  if (problem !== undefined) return { ...row, problem, invalid: [] }
  return { ...row, ...checkItem(resource, row.values ?? {}) }
}
