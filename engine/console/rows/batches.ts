import { Batch } from '#client'
import { isTransient, type Problem, problemOf, retryDelayAfter } from '../problem.ts'

interface BatchOptions<Entry> extends RetryOptions {
  /** Calls a mutation with the batch, and with the same idempotency key each time. */
  send: (entry: Entry, batch: Batch) => Promise<void>
  /** Called if the service refuses an entry for good. */
  onFailure: (entry: Entry, problem: Problem) => void
  /** Whether a batch is sent after the response to the one before, so that new ids are in the order of the entries. */
  isOrdered?: boolean
  /** The values of an entry that are sent. */
  valuesOf: (entry: Entry) => unknown[]
}

/** What the service takes in one request. */
const maxBatch = { entries: 20, characters: 12_000 }
/** They start in order. More would not be faster on one machine. */
const concurrentBatches = 3

/**
 * Sends many mutations, in batches and in their order. While the service is away, it waits. If the signal aborts, nothing
 * further is sent. The requests under way are not cancelled, because the service may have done what they ask for.
 *
 * @throws if the service rejects the API key, or the signal aborts
 */
export async function sendInBatches<Entry>(entries: Entry[], options: BatchOptions<Entry>): Promise<void> {
  const { send, onFailure, isOrdered = false, valuesOf, signal, onPause } = options
  const retry = retryWhileAway({ signal, onPause })
  const queue = batchesOf(entries, valuesOf)

  /** Returns why the entry is to be sent again, if it is. */
  async function attempt(entry: Entry, batch: Batch): Promise<unknown> {
    try {
      await send(entry, batch)
    } catch (error) {
      const problem = problemOf(error)
      if (signal.aborted || problem.kind === 'refused' || isTransient(problem)) return error
      onFailure(entry, problem)
    }
    return undefined
  }

  async function sendAll(batch: Entry[]): Promise<void> {
    let left = batch
    await retry(async () => {
      const request = new Batch(left.length)
      const errors = await Promise.all(left.map((entry) => attempt(entry, request)))
      left = left.filter((_, index) => errors[index] !== undefined)
      if (left.length > 0) throw errors.find((error) => error !== undefined)
    })
  }

  async function work(): Promise<void> {
    for (const batch of queue) await sendAll(batch)
  }

  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  await Promise.race([aborted, Promise.all(Array.from({ length: isOrdered ? 1 : concurrentBatches }, work))])
}

function* batchesOf<Entry>(entries: Entry[], valuesOf: (entry: Entry) => unknown[]): Generator<Entry[], void> {
  let [batch, characters]: [Entry[], number] = [[], 0]
  for (const entry of entries) {
    const { length } = valuesOf(entry).join('')
    if (batch.length === maxBatch.entries || (batch.length > 0 && characters + length > maxBatch.characters)) {
      yield batch
      ;[batch, characters] = [[], 0]
    }
    batch.push(entry)
    characters += length
  }
  if (batch.length > 0) yield batch
}

/** Why the calls of a job wait at the moment. */
export interface Pause {
  message: string
  /** When the job tries again, in milliseconds since the epoch. */
  until: number
}

export interface RetryOptions {
  signal: AbortSignal
  /** Called with each pause, and with undefined as soon as a call succeeds again. */
  onPause: (pause: Pause | undefined) => void
}

/**
 * Makes a function that repeats a call until it succeeds, fails for good, or the signal aborts. All calls of a job share
 * a pause, so that a service that is away or rejects too many requests is not asked by each of them.
 */
export function retryWhileAway({ signal, onPause }: RetryOptions): <T>(call: () => Promise<T>) => Promise<T> {
  let failures = 0
  let pause: Promise<void> | undefined

  async function waitAfter(error: unknown): Promise<void> {
    const problem = problemOf(error)
    const delay = retryDelayAfter(failures, problem)
    failures++
    onPause({ message: problem.message, until: Date.now() + delay })
    await sleep(delay, signal)
    pause = undefined
  }

  return async (call) => {
    for (;;) {
      await pause
      signal.throwIfAborted()
      try {
        const result = await call()
        if (failures > 0 && !pause) {
          failures = 0
          onPause(undefined)
        }
        return result
      } catch (error) {
        if (signal.aborted || !isTransient(problemOf(error))) throw error
        pause ??= waitAfter(error)
      }
    }
  }
}

/** Also ends when the signal aborts. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  signal.addEventListener('abort', () => resolve())
  return promise.finally(() => clearTimeout(timer))
}
