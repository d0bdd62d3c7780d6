import type { messages } from '../messages/index.ts'
import { namesOf, type Resource, type Values } from '../resource.ts'

type Format = keyof typeof messages.bulk.formats

export interface Table {
  format: Format
  hasHeader: boolean
  /** The names of the columns, those of the header row if there is one. */
  columns: string[]
  rows: Row[]
  /** Why the text has no usable rows. */
  problem?: string | undefined
}

interface RowText {
  /** Counts from 1, as in a spreadsheet: the header row and empty rows count, too. */
  number: number
  /** The texts of the row, in the order of the columns. */
  cells: string[]
}

export type ValidRow = RowText & { item: Values }
export type Row = ValidRow | (RowText & { problem: string })

export function isValid(row: Row): row is ValidRow {
  return 'item' in row
}

/** The names that are not those of a field. */
export function unknownOf({ fields }: Resource, names: string[]): string[] {
  return names.filter((name) => !namesOf(fields).includes(name))
}
