import type { Worker } from 'node:worker_threads'
import type { StoreObserver } from '../../collection/base-store.ts'
import { ClosedStore, StoreUnavailable, tooManyWrites, writeFailureOf } from '../../collection/errors.ts'
import type { IdempotencyKey } from '../../collection/idempotency.ts'
import type { MutationResult } from '../../collection/mutation.ts'
import type { Loaded } from '../../database/loaded.ts'
import type { SqliteCollection } from '../collection.ts'
import type { Damage } from '../file/damage.ts'
import { concernsDatabase, conflictOf, type Failure, isBusy, storeError } from '../file/failure.ts'
import type { FileIdentities } from '../file/open-file.ts'
import { startThread } from '../thread.ts'
import type { Outcome, Settled, WriterData, WriterMessage } from './writes.ts'
import { onceWrite, probeWrite, type Write } from './writes.ts'

export interface WriterOptions {
  path: string
  /** The identities of the files that the event loop has open. */
  identities: FileIdentities
  loaded: Loaded<SqliteCollection>
  /** Milliseconds that a transaction waits for another process's lock, {@link defaultBusyTimeout} by default. */
  busyTimeout?: number | undefined
  historyDays?: number | undefined
}

interface Events {
  onDamage?: (damage: Damage) => void
  /** Called with a sentence for the operator. */
  onWarning?: (message: string) => void
  observer?: StoreObserver | undefined
}

/** Milliseconds. The thread waits, not the event loop. VACUUM in a shell, for example, holds the lock for seconds. */
const defaultBusyTimeout = 5_000
/** Milliseconds after which the disk hangs, and is not just slow. */
export const maxCommitTime = 10_000
/** Milliseconds that the thread may take to start. On a busy machine that takes longer than a commit. */
const maxStartTime = 60_000
/** Milliseconds after a failed write in which readiness stays false: a batch of creates may need more room than a probe. */
const doubtAfterFailure = 5_000

/** A longer queue would mean that the disk hangs, so further writes fail. */
const maxSent = 10_000

interface SentWrite extends PromiseWithResolvers<unknown> {
  name: string
  /** Whether it was rejected before the thread replied. */
  isRejected: boolean
}

/** Why a write is rejected without a reply of the thread. */
const refusals = {
  closed: () => new ClosedStore(),
  diskHangs: () =>
    new StoreUnavailable('The disk does not respond. Check it, and thaw its file system if it is frozen.', {
      failure: 'hanging',
    }),
  tooMany: () => new StoreUnavailable(tooManyWrites, { failure: 'queue_full' }),
  threadEnded: (cause: unknown) =>
    new StoreUnavailable(
      'The writer thread ended, or could not be started. The next write starts it again. Check the memory, and the limits of threads and open files.',
      { cause },
    ),
}

/**
 * Sends the writes of the store to the writer thread. They resolve once their transaction is on disk. If the thread
 * ends, or the disk hangs, the writes that the thread holds are rejected as {@link StoreUnavailable}, because they may
 * or may not have happened.
 *
 * The states of the thread: none, until the first write starts it; running; hanging, when it has not replied for
 * `maxCommitTime`, until it does; none again, when it has ended. A thread that hangs cannot be stopped: it learns from a shared
 * number that its waiting writes were rejected, and leaves them out.
 */
export class Writer {
  readonly #options: WriterOptions
  readonly #events: Events
  #thread: Worker | undefined
  /** The writes that the thread has, the oldest first. */
  #sent: SentWrite[] = []
  /** The writes of this turn of the event loop. */
  #unsent: Write[] = []
  /** Runs out when the thread has made no progress for half as long as a commit may take. */
  readonly #watchdog = setTimeout(() => this.#onTimeout(), maxCommitTime / 2).unref()
  #isHanging = false
  /** When the thread was started, until it is ready. */
  #startedAt: number | undefined
  #isClosed = false
  #sentCount = 0
  /** How many of them were rejected meanwhile. The thread does not perform those of them that still wait. */
  readonly #rejectedCount = new BigInt64Array(new SharedArrayBuffer(8))
  #lastFailure: { error: Error; at: number } | undefined

  constructor(options: WriterOptions, events: Events) {
    this.#options = options
    this.#events = events
  }

  /** Runs a write of this name. Whoever passes the name knows its arguments and its result: see {@link SqliteAccess}. */
  run(name: string, ...args: unknown[]): Promise<unknown> {
    return this.#send(name, [name, ...args])
  }

  /** Runs a mutation. With an idempotency key, at most once. */
  async mutate(operation: string, values: unknown[], idempotency: IdempotencyKey | undefined): Promise<MutationResult> {
    // Safe: a mutation returns what it has generated, and `once` returns a MutationResult.
    if (!idempotency)
      return { generated: (await this.run(operation, ...values)) as object | undefined, isReplay: false }
    const write: Write = [onceWrite, operation, idempotency.owner, idempotency.key, new Date(), ...values]
    return this.#send(operation, write) as Promise<MutationResult>
  }

  #send(name: string, write: Write): Promise<unknown> {
    const sent: SentWrite = { name, isRejected: false, ...Promise.withResolvers<unknown>() }
    const refusal = this.#findRefusal()
    if (refusal) this.#reject(sent, refusal)
    else this.#post(sent, write)
    return sent.promise
  }

  #post(sent: SentWrite, write: Write): void {
    try {
      this.#thread ??= this.#startThread()
      // One message for all of them: each costs both threads more than its content.
      if (this.#unsent.push(write) === 1) queueMicrotask(() => this.#sendTogether())
      if (this.#sent.length === 0) this.#watchdog.refresh()
      this.#sent.push(sent)
      this.#sentCount++
    } catch (error) {
      this.#reject(sent, refusals.threadEnded(error))
    }
  }

  #sendTogether(): void {
    this.#thread?.postMessage(this.#unsent satisfies WriterMessage)
    this.#unsent = []
  }

  #findRefusal(): Error | undefined {
    if (this.#isClosed) return refusals.closed()
    // The thread cannot be stopped while it waits for the disk, and gets no more work until it responds.
    if (this.#isHanging) return refusals.diskHangs()
    return this.queued < maxSent ? undefined : refusals.tooMany()
  }

  #reject(sent: SentWrite, error: Error): void {
    if (sent.isRejected) return
    sent.isRejected = true
    sent.reject(error)
    this.#events.observer?.writeFailed?.(writeFailureOf(error))
  }

  get queued(): number {
    return this.#sent.length
  }

  /** Rejects unless a write can reach the disk, and the latest writes did. */
  async probe(): Promise<void> {
    await this.run(probeWrite)
    const failure = this.#lastFailure
    if (failure && performance.now() - failure.at < doubtAfterFailure) throw failure.error
  }

  /** Waits for all writes, unless the disk hangs. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#sent.map(({ promise }) => promise))
    const thread = this.#thread
    thread?.postMessage('close' satisfies WriterMessage)
    // Not `once` of node:events: an error of the thread would reject it.
    if (thread && !this.#isHanging) await new Promise((resolve) => thread.once('exit', resolve))
  }

  #startThread(): Worker {
    this.#startedAt = performance.now()
    this.#sentCount = 0
    this.#rejectedCount[0] = 0n
    const { path, identities, busyTimeout: lockTimeout = defaultBusyTimeout, historyDays, loaded } = this.#options
    const rejectedCount = this.#rejectedCount
    const data: WriterData = { path, identities, lockTimeout, historyDays, definition: loaded.url, rejectedCount }
    const thread = startThread(new URL('writer-thread.ts', import.meta.url), data)
    thread.on('message', (reply: Settled) => {
      // Node itself sends these over the same port (`node --watch`).
      if ('watch:import' in reply || 'watch:require' in reply) return
      // The writes of a lost thread are rejected, and the oldest ones now belong to its successor.
      if (this.#thread !== thread) return
      this.#startedAt = undefined
      this.#isHanging = false
      this.#watchdog.refresh()
      if (reply.warning !== undefined) this.#events.onWarning?.(reply.warning)
      const settled = this.#sent.splice(0, reply.outcomes.length)
      const { observer } = this.#events
      const committed = reply.outcomes.filter((outcome) => 'value' in outcome).length
      if (reply.times && committed > 0) observer?.transactionCommitted?.(committed, reply.times)
      for (const [index, sent] of settled.entries()) this.#settle(sent, reply.outcomes[index])
    })
    thread.on('error', (cause) => this.#lose(thread, cause))
    thread.on('exit', () => this.#lose(thread, undefined))
    return thread
  }

  #settle(sent: SentWrite, outcome: Outcome | undefined): void {
    if (!outcome) this.#reject(sent, new Error('A write of the batch has no outcome.'))
    else if ('value' in outcome) {
      if (sent.name !== probeWrite) this.#lastFailure = undefined
      sent.resolve(outcome.value)
    } else this.#fail(sent, outcome.failure)
  }

  #fail(sent: SentWrite, failure: Failure): void {
    if (failure.damage) this.#events.onDamage?.(failure.damage)
    const collection = this.#options.loaded.collections[sent.name.split('.')[0] ?? '']
    const error = (collection && conflictOf(failure, sent.name, collection.table)) ?? storeError(failure)
    const isDoubtful = concernsDatabase(failure) && !isBusy(failure) && sent.name !== probeWrite
    if (isDoubtful) this.#lastFailure = { error, at: performance.now() }
    this.#reject(sent, error)
  }

  /** If the event loop was blocked, the write may have been sent just now, or its reply waits for the next turn. */
  #onTimeout(): void {
    if (this.#startedAt !== undefined && performance.now() - this.#startedAt < maxStartTime) {
      this.#watchdog.refresh()
      return
    }
    const awaited = this.#sent[0]
    const decide = () => {
      if (awaited !== undefined && this.#sent[0] === awaited) this.#endWait()
    }
    setTimeout(() => setImmediate(decide), maxCommitTime / 2).unref()
  }

  #endWait(): void {
    this.#isHanging = true
    Atomics.store(this.#rejectedCount, 0, BigInt(this.#sentCount))
    for (const sent of this.#sent) this.#reject(sent, refusals.diskHangs())
  }

  #lose(thread: Worker, cause: unknown): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    this.#isHanging = false
    this.#unsent = []
    for (const sent of this.#sent.splice(0)) this.#reject(sent, refusals.threadEnded(cause))
  }
}
