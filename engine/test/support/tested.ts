import type { Service } from '../../service/service.ts'
import type { WithApiKeys } from '../../store/keys.ts'

/** The product on which tests run. */
export interface Tested<Stores extends WithApiKeys, Client> {
  service: Service<Stores>
  /** The words that start its command line. */
  commandLine: string[]
  createClient(options: { url: string; apiKey: string; fetch: typeof fetch }): Client
  row: SampleRow
}

/** A resource, for statements and requests that do not pass through typed calls. */
export interface SampleRow {
  table: string
  columns: string
  /** The values of a valid row with this id, as SQL. */
  valuesOf(id: bigint): string
  /** `INSERT … SELECT` of a row for each number `n`, whose text begins with the word. */
  insertingFrom(word: string): string
  /** The column with the text. */
  text: string
  /** The field and the column with an integer that a create needs. */
  integer: { field: string; column: string }
  /** The field and the column whose text is one of these. */
  choice: { field: string; values: readonly [string, ...string[]] }
  /** With which the texts begin, unless the test chooses another one. */
  word: string
  /** The index of the filter. */
  index: string
  /** The input of a valid create. */
  json: string
}
