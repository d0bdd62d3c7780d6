import { type Batch, createIdempotencyKey } from '#client'
import { wasNeverRead } from '../client.ts'
import { type Problem, problemOf } from '../problem.ts'
import { identityOf, type Procedures, type Resource } from '../resource.ts'
import { type RetryOptions, sendInBatches } from './batches.ts'
import type { ValidRow } from './table.ts'

/**
 * `existed`: an earlier request with the same idempotency key had added the item. `unconfirmed`: the row was sent, and there
 * is no response yet. `doubtful`: it was sent with another API key, to which its idempotency key belongs.
 */
export type Outcome =
  | { kind: 'added' | 'existed'; id: bigint }
  | { kind: 'failed'; problem: Problem }
  | { kind: 'unconfirmed' | 'doubtful' }

interface AddRowsOptions extends RetryOptions {
  /** The idempotency key of a row, which is sent next. See {@link keysOf}. */
  keyOf: (row: ValidRow) => Promise<string>
  /** Also called for a response that arrives after the signal has aborted. */
  onOutcome: (row: number, outcome: Outcome) => void
  /** Called if the service has not read the row, because it rejects the API key. */
  onRefused?: (row: number) => void
}

/**
 * Creates an item for each row, in batches in the order of the rows. Each row has an idempotency key, so doing the same again
 * adds only what is missing. While the service is away, it waits. If the signal aborts, no further row is sent. The requests
 * under way are not cancelled, because the service may have added their rows.
 *
 * @throws if the service rejects the API key, or the signal aborts
 */
export async function addRows(
  { create }: Pick<Procedures, 'create'>,
  rows: ValidRow[],
  options: AddRowsOptions,
): Promise<void> {
  const { keyOf, onOutcome, onRefused } = options

  async function send(row: ValidRow, batch: Batch): Promise<void> {
    let wasReplayed = false
    const onResponse = ({ headers }: Response) => {
      wasReplayed = headers.has('idempotency-replayed')
    }
    const idempotencyKey = await keyOf(row)
    try {
      const { id } = await create.mutate(row.item, { context: { idempotencyKey, batch, onResponse } })
      onOutcome(row.number, { kind: wasReplayed ? 'existed' : 'added', id })
    } catch (error) {
      if (problemOf(error).kind === 'refused' && wasNeverRead(idempotencyKey)) onRefused?.(row.number)
      throw error
    }
  }

  const onFailure = ({ number }: ValidRow, problem: Problem) => onOutcome(number, { kind: 'failed', problem })
  await sendInBatches(rows, {
    ...options,
    send,
    onFailure,
    valuesOf: ({ item }) => Object.values(item),
  })
}

/**
 * Makes the idempotency keys of the rows of a table: its digest and the number of the row. A row that was corrected in the
 * table has a digest of its own, with its new values, and the other rows keep their keys. So the same rows with the same
 * corrections have the same keys, also after a reload.
 *
 * @param pasted the valid rows before any correction
 */
export function keysOf(resource: Resource, pasted: ValidRow[]): AddRowsOptions['keyOf'] {
  const prefix = digestOf(resource, pasted)
  return async (row) => {
    const digest = row.isCorrected ? await digestOf(resource, [row], await prefix) : await prefix
    return `${digest}:${row.number}`
  }
}

/**
 * The idempotency key that adds a row again, as a new item. It follows from the key and the id of the item before. So a
 * repetition adds nothing twice, also after a reload, and adding the row once more has yet another key.
 */
export function keyAfter(idempotencyKey: string, id: bigint): Promise<string> {
  return sha256(JSON.stringify([idempotencyKey, String(id)]))
}

/** The digest of the numbers and items of rows. */
function digestOf(resource: Resource, rows: ValidRow[], ...before: string[]): Promise<string> {
  return sha256(JSON.stringify([...before, ...rows.map(({ number, item }) => [number, ...identityOf(resource, item)])]))
}

/** A page that was served by plain HTTP cannot compute it, and uses a random text until a reload. */
async function sha256(text: string): Promise<string> {
  if (!('subtle' in crypto)) return randomDigestOf(text)
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const randomDigests = new Map<string, string>()

function randomDigestOf(text: string): string {
  const digest = randomDigests.get(text) ?? createIdempotencyKey()
  randomDigests.set(text, digest)
  return digest
}
