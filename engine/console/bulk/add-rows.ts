import { Batch, createIdempotencyKey } from '#client'
import { isTransient, type Problem, problemOf } from '../problem.ts'
import { identityOf, type Procedures, type Resource, type Values } from '../resource.ts'
import { type RetryOptions, retryWhileAway } from './retry-while-away.ts'
import type { ValidRow } from './table.ts'

/**
 * `existed`: an earlier request with the same idempotency key had added the item. `unconfirmed`: the row was sent, and there
 * is no response yet.
 */
export type Outcome =
  | { kind: 'added' | 'existed'; id: bigint }
  | { kind: 'failed'; problem: Problem }
  | { kind: 'unconfirmed' }

interface AddRowsOptions extends RetryOptions {
  /** The idempotency key of a row, which is sent next. See {@link keysOf}. */
  keyOf: (row: ValidRow) => Promise<string>
  /** Also called for a response that arrives after the signal has aborted. */
  onOutcome: (row: number, outcome: Outcome) => void
}

/** What the service takes in one request. */
const maxBatch = { rows: 20, characters: 12_000 }
/** They start in the order of the rows. More would not be faster on one machine. */
const concurrentBatches = 3

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
  const { keyOf, signal, onOutcome, onPause } = options
  const retry = retryWhileAway({ signal, onPause })
  const queue = batchesOf(rows)

  /** Returns why the row is to be sent again, if it is. */
  async function send({ number, item }: ValidRow, idempotencyKey: string, batch: Batch): Promise<unknown> {
    let wasReplayed = false
    const onResponse = ({ headers }: Response) => {
      wasReplayed = headers.has('idempotency-replayed')
    }
    try {
      const { id } = await create.mutate(item, { context: { idempotencyKey, batch, onResponse } })
      onOutcome(number, { kind: wasReplayed ? 'existed' : 'added', id })
    } catch (error) {
      const problem = problemOf(error)
      if (signal.aborted || problem.kind === 'refused' || isTransient(problem)) return error
      onOutcome(number, { kind: 'failed', problem })
    }
    return undefined
  }

  async function add(batch: ValidRow[]): Promise<void> {
    const keys = await Promise.all(batch.map(keyOf))
    let left = batch.map((row, index) => ({ row, key: keys[index] ?? '' }))
    await retry(async () => {
      const request = new Batch(left.length)
      const errors = await Promise.all(left.map(({ row, key }) => send(row, key, request)))
      left = left.filter((_, index) => errors[index] !== undefined)
      if (left.length > 0) throw errors.find((error) => error !== undefined)
    })
  }

  async function work(): Promise<void> {
    for (const batch of queue) await add(batch)
  }

  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  await Promise.race([aborted, Promise.all(Array.from({ length: concurrentBatches }, work))])
}

function* batchesOf(rows: ValidRow[]): Generator<ValidRow[], void> {
  let [batch, characters]: [ValidRow[], number] = [[], 0]
  for (const row of rows) {
    const length = lengthOf(row.item)
    if (batch.length === maxBatch.rows || (batch.length > 0 && characters + length > maxBatch.characters)) {
      yield batch
      ;[batch, characters] = [[], 0]
    }
    batch.push(row)
    characters += length
  }
  if (batch.length > 0) yield batch
}

function lengthOf(item: Values): number {
  return Object.values(item).join('').length
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
 * The SHA-256 of the numbers and items of rows. A page that was served by plain HTTP cannot compute it, and uses a random
 * text until a reload.
 */
async function digestOf(resource: Resource, rows: ValidRow[], ...before: string[]): Promise<string> {
  const text = JSON.stringify([...before, ...rows.map(({ number, item }) => [number, ...identityOf(resource, item)])])
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
