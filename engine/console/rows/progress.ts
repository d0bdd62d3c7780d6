import { identityOf, type Resource, type Values } from '../resource.ts'
import type { Outcome } from './add-rows.ts'
import type { ValidRow } from './table.ts'

/** A row that was sent. */
export interface Sent {
  idempotencyKey: string
  /** Undefined if the row is to be sent again. */
  outcome: Outcome | undefined
  /** Whether it was sent again without a response. Then this import itself may have added the item that existed. */
  isRepeated?: true
}

/** The rows that were sent, by the content of their items. */
export type SentRows = Map<string, Sent[]>

export function isAdded(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && 'id' in outcome
}

export function isFinished(outcome: Outcome | undefined): boolean {
  return isAdded(outcome) || outcome?.kind === 'failed' || outcome?.kind === 'doubtful'
}

/**
 * Finds what was sent with the content of each row, by the numbers of the rows. Rows with the same content are
 * interchangeable: those that were added come first, so a row is only sent again if it occurs more often than it was added.
 */
export function matchSent(resource: Resource, rows: ValidRow[], sent: SentRows): ReadonlyMap<number, Sent> {
  if (sent.size === 0) return new Map()
  const queues = new Map(
    [...sent].map(([content, each]) => [content, each.toSorted((a, b) => rankOf(a) - rankOf(b)).values()]),
  )
  const matches = rows.map(({ number, item }) => [number, queues.get(contentOf(resource, item))?.next().value] as const)
  return new Map(matches.filter((match): match is [number, Sent] => match[1] !== undefined))
}

function rankOf({ outcome }: Sent): number {
  return isAdded(outcome) ? 0 : outcome?.kind === 'failed' ? 2 : 1
}

export function addSent(resource: Resource, { item }: ValidRow, sent: SentRows, added: Sent): void {
  const content = contentOf(resource, item)
  sent.set(content, [...(sent.get(content) ?? []), added])
}

/** The content of each item is computed once: the rows are matched five times a second. */
const contents = new WeakMap<Values, string>()

function contentOf(resource: Resource, item: Values): string {
  const content = contents.get(item) ?? JSON.stringify(identityOf(resource, item))
  contents.set(item, content)
  return content
}

/** The numbers of the rows that are the same as an earlier one, and of that one. */
export function repeatedRows(resource: Resource, rows: ValidRow[]): ReadonlyMap<number, number> {
  const first = new Map<string, number>()
  const repeated = new Map<number, number>()
  for (const { number, item } of rows) {
    const content = contentOf(resource, item)
    const earlier = first.get(content)
    if (earlier === undefined) first.set(content, number)
    else repeated.set(number, earlier)
  }
  return repeated
}

export type Outcomes = ReadonlyMap<number, Outcome>

/** The numbers of rows with each kind of outcome. */
export function countOutcomes(outcomes: Outcomes): { [kind in Outcome['kind']]: number } {
  const counts = { added: 0, existed: 0, failed: 0, unconfirmed: 0, doubtful: 0 }
  for (const { kind } of outcomes.values()) counts[kind]++
  return counts
}
