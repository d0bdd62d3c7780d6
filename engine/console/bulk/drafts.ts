import type { SentRows } from './progress.ts'
import type { Row } from './table.ts'

/** What the user entered to add many items, and what became of it. */
export interface Draft {
  text: string
  /** The name of the file that the text is from. */
  file?: string
  /** The rows that the user corrected in the table, by their numbers. */
  corrections: ReadonlyMap<number, Row>
  /** Also what was sent for an earlier version of the text. */
  sent: SentRows
}

/**
 * The drafts by the names of their resources. They are only in memory. A draft stays if the service rejects the key of the
 * session, so that the user can continue with another one. The end of a session in any other way removes it.
 */
export const importDrafts = new Map<string, Draft>()

/** The entries of the form for a new item, by the names of the fields. They are kept like the other drafts. */
export const formDrafts = new Map<string, Record<string, string>>()

export function clearDrafts(): void {
  importDrafts.clear()
  formDrafts.clear()
}
