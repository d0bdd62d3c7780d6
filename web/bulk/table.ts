import { namesOf, parseTexts, type Resource, type Values } from '../resource.ts'
import { checkItem } from './check-item.ts'

/** The delimiters of the formats with columns. */
export const delimiters = { comma: ',', semicolon: ';', tab: '\t' }
export type Delimiter = keyof typeof delimiters

export type Format = Delimiter | 'json' | 'ndjson'

export interface Table {
  format: Format
  hasHeader: boolean
  /** The names of the columns, those of the header row if there is one. */
  columns: string[]
  rows: Row[]
  /** The columns of the header row that are no field, or their numbers if they have no name. */
  unused?: string[]
  /** Why the text has no usable rows. */
  problem?: string | undefined
}

interface RowText {
  /** Counts from 1, as in a spreadsheet: the header row and empty rows count, too. */
  number: number
  /** The texts of the row, in the order of the columns. */
  cells: string[]
  /** What the texts mean, not checked. Undefined if a correction of single values would drop others. */
  values?: Values
  /** Whether a text was changed after the table was read. */
  isCorrected?: true
}

export type ValidRow = RowText & { item: Values }
/** `invalid` contains the names of the fields with a problem. It is empty if the problem is another one. */
export type InvalidRow = RowText & { problem: string; invalid: string[] }
export type Row = ValidRow | InvalidRow

export function isValid(row: Row): row is ValidRow {
  return 'item' in row
}

/** The names that are not those of a field. */
export function unknownOf({ fields }: Resource, names: string[]): string[] {
  return names.filter((name) => !namesOf(fields).includes(name))
}

/** The row with another text for one of its values, checked again. All of its other values stay exactly the same. */
export function correct(resource: Resource, { columns }: Table, row: Row, name: string, text: string): Row {
  const { number } = row
  const cells = columns.map((column, index) => (column === name ? text : (row.cells[index] ?? '')))
  const values = { ...row.values, [name]: parseTexts(resource, { [name]: text })[name] }
  return { number, cells, values, isCorrected: true, ...checkItem(resource, values) }
}
