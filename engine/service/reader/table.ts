import type { Values } from './fields.ts'

export type Format = 'comma' | 'semicolon' | 'tab' | 'json' | 'ndjson'

/** What was read of a text before its rows. */
export interface Table {
  format: Format
  hasHeader: boolean
  /** The names of the columns, those of the header row if there is one. */
  columns: string[]
  /** The columns of the header row that are no field, or their numbers if they have no name. */
  unused: string[]
}

export interface Row {
  /** Counts from 1, as in a spreadsheet: the header row and empty rows count, too. */
  number: number
  /** The line on which it begins. An object in a JSON array has none. */
  line?: number
  /** The texts of the row, in the order of the columns. */
  cells: string[]
  /** The values of a new item, not checked. Undefined if a correction of single values would drop others. */
  values?: Values
  problem?: string
}

/** Reads one text in parts, each of which ends at the end of a line. */
export interface Reader {
  table: Table
  read: (part: Uint8Array, isLast: boolean) => Row[]
}

/** The whole text cannot be used. The message is a sentence. */
export class Unreadable extends Error {
  override name = 'Unreadable'
}
