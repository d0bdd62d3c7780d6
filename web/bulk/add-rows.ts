import { createIdempotencyKey } from '../../client/idempotency-key.ts'
import { wasReplayed } from '../petstore.ts'
import { problemOf } from '../problem.ts'
import { identityOf, type Procedures, type Resource } from '../resource.ts'
import { type RetryOptions, retryWhileAway } from './retry-while-away.ts'
import type { ValidRow } from './table.ts'

/** `existed`: an earlier request with the same idempotency key had added the item. */
export type Outcome = { kind: 'added' | 'existed'; id: bigint } | { kind: 'failed'; message: string }

interface AddRowsOptions extends RetryOptions {
  /** The result of {@link keyPrefixOf}. */
  keyPrefix: string
  onOutcome: (row: number, outcome: Outcome) => void
}

const concurrentRequests = 8

/**
 * Creates an item for each row. Each has an idempotency key, so doing the same again adds only what is missing. While the
 * service is away, it waits.
 *
 * @throws if the service rejects the API key, or the signal aborts
 */
export async function addRows(
  { create }: Pick<Procedures, 'create'>,
  rows: ValidRow[],
  options: AddRowsOptions,
): Promise<void> {
  const { keyPrefix, signal, onOutcome, onPause } = options
  const retry = retryWhileAway({ signal, onPause })
  const queue = rows.values()

  async function add({ number, item }: ValidRow): Promise<void> {
    const idempotencyKey = `${keyPrefix}:${number}`
    try {
      const { id } = await retry(() => create.mutate(item, { context: { idempotencyKey }, signal }))
      onOutcome(number, { kind: wasReplayed(idempotencyKey) ? 'existed' : 'added', id })
    } catch (error) {
      const problem = problemOf(error)
      if (signal.aborted || problem.kind === 'refused') throw error
      onOutcome(number, { kind: 'failed', message: problem.message })
    }
  }

  async function work(): Promise<void> {
    for (const row of queue) await add(row)
  }

  await Promise.all(Array.from({ length: concurrentRequests }, work))
}

/**
 * The start of the idempotency keys of these rows: the SHA-256 of their numbers and items. Equal rows get equal keys, also
 * after a reload. A page that was served by plain HTTP cannot compute it, and uses a random one until a reload.
 */
export async function keyPrefixOf(resource: Resource, rows: ValidRow[]): Promise<string> {
  const text = JSON.stringify(rows.map(({ number, item }) => [number, ...identityOf(resource, item)]))
  if (!('subtle' in crypto)) return randomPrefixOf(text)
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const randomPrefixes = new Map<string, string>()

function randomPrefixOf(text: string): string {
  const prefix = randomPrefixes.get(text) ?? createIdempotencyKey()
  randomPrefixes.set(text, prefix)
  return prefix
}
