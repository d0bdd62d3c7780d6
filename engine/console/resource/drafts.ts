import superjson from 'superjson'
import type { Edit } from '../resource.ts'
import type { SentRows } from '../rows/progress.ts'
import type { Row } from '../rows/table.ts'
import { storage } from '../storage.ts'
import type { EditManyDialog } from './navigation.ts'

/** What the user entered to add many items, and what became of it. */
export interface Draft {
  text: string
  /** The name of the file that the text is from. */
  file?: string
  /** Why another file was not read. The rows are still those of the text. */
  fileProblem?: string
  /** The rows that the user corrected in the table, by their numbers. */
  corrections: ReadonlyMap<number, Row>
  /** Also what was sent for an earlier version of the text. */
  sent: SentRows
  /** Whether its panel is open. */
  isOpen?: boolean
  /** The numbers of its rows that were added, and that were not. */
  progress?: { added: number; waiting: number }
}

/**
 * The drafts by the names of their resources. A draft stays across a reload of the tab, and if the service rejects the key
 * of the session, so that the user can continue with another one. The end of a session in any other way removes it.
 */
export const importDrafts = new Map<string, Draft>()

/** The entries of the form for a new item, by the names of the fields. They are kept like the other drafts. */
export const formDrafts = new Map<string, Record<string, string>>()

/**
 * The idempotency keys of the new items whose requests have no known outcome, by the content of the items. Empty for a
 * request with another API key, to which its idempotency key belongs.
 */
export const createKeys = new Map<string, string>()

/** The edits without a known outcome, with the names of their resources, by their idempotency keys. */
export const editDrafts = new Map<string, { many: string; edit: Edit }>()

/** The dialogs that send edits of many items, or show what became of them, by the names of the resources. */
export const editManyDrafts = new Map<string, EditManyDialog>()

/** What the user has entered for a field of an item. */
export interface FieldDraft {
  text: string
  /** The value that the user saw. Somebody else may have saved another one since then. */
  seen: unknown
}

/** The drafts of fields, by `${many}:${id}:${field}`. */
export const fieldDrafts = new Map<string, FieldDraft>()

/** The new ids of the items that this tab has added again, by their idempotency keys. The end of a session keeps them. */
export const addedAgain = new Map<string, bigint>()

/** Restores what was left before a reload, and keeps what is left before the next one. */
export function keepDrafts(): void {
  keep('import', importDrafts, ({ progress }) => progress !== undefined && progress.waiting > 0)
  for (const draft of importDrafts.values()) draft.isOpen = false
  keep('form', formDrafts)
  keep('create-keys', createKeys)
  keep('edits', editDrafts)
  keep('edits-of-many', editManyDrafts)
  // An earlier release kept texts as `fields`.
  keep('field-drafts', fieldDrafts)
  keep('added-again', addedAgain)
}

function keep<Draft>(name: string, drafts: Map<string, Draft>, isLeft = (_draft: Draft) => true): void {
  const session = storage('sessionStorage')
  try {
    const kept = superjson.parse<typeof drafts>(session.get(name) ?? superjson.stringify(new Map()))
    for (const [each, draft] of kept) drafts.set(each, draft)
  } catch {
    // Of another release.
  }
  session.remove(name)
  addEventListener('pagehide', () => {
    const left = [...drafts].filter(([, draft]) => isLeft(draft))
    session.set(name, superjson.stringify(new Map(left)))
  })
}

/** Another API key is used: what has no known outcome cannot be repeated without a second effect, and the user decides. */
export function doubtDrafts(): void {
  for (const identity of createKeys.keys()) createKeys.set(identity, '')
  for (const { outcome } of [...importDrafts.values()].flatMap(({ sent }) => [...sent.values()].flat()))
    if (outcome?.kind === 'unconfirmed') outcome.kind = 'doubtful'
  for (const { progress } of editManyDrafts.values()) if (progress) progress.isOfOtherKey = true
}

export function clearDrafts(): void {
  for (const each of [importDrafts, formDrafts, createKeys, editDrafts, editManyDrafts, fieldDrafts]) each.clear()
}
