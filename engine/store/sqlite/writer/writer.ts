import type { Worker } from 'node:worker_threads'
import { ClosedStore, StoreUnavailable, tooManyWrites, writeFailureOf } from '../../collection/errors.ts'
import type { IdempotencyKey } from '../../collection/idempotency.ts'
import type { MutationResult } from '../../collection/mutation.ts'
import { partsOf } from '../../collection/row.ts'
import type { Loaded, OpenOptions } from '../../database/loaded.ts'
import type { SqliteCollection } from '../collection.ts'
import { concernsDatabase, conflictOf, type Damage, type Failure, isBusy, storeError } from '../file/failure.ts'
import type { FileIdentities } from '../file/open-file.ts'
import { startThread } from '../thread.ts'
import type { Settled, Write, WriteOutcome, WriterData, WriterMessage } from './writes.ts'
import { idempotentWrite, probeWrite } from './writes.ts'

interface WriterOptions extends Pick<OpenOptions, 'busyTimeout' | 'historyDays' | 'onWarning' | 'observer'> {
  path: string
  /** The identities of the files that the event loop has open. */
  identities: FileIdentities
  loaded: Loaded<SqliteCollection>
  onDamage?: (damage: Damage) => void
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

/** How deep lists and objects may be in each other. A value that is too deep, or holds itself, cannot be copied. */
const maxLevels = 100

interface PendingWrite extends PromiseWithResolvers<unknown> {
  name: string
  /** The values of a mutation. */
  values: unknown[]
  /** Whether it was rejected before the thread replied. */
  isRejected: boolean
}

/** Whether a value is of a kind that an input may have. A product may pass on others, such as functions. */
function canBeCopied(value: unknown, levels = maxLevels): boolean {
  const parts = partsOf(value)
  if (parts) return levels > 0 && parts.every((part) => canBeCopied(part, levels - 1))
  return !['function', 'object', 'symbol'].includes(typeof value) || value === null || value instanceof Date
}

const diskHangs = () =>
  new StoreUnavailable('The disk does not respond. Check it, and thaw its file system if it is frozen.', {
    failure: 'hanging',
  })

function threadEnded(cause: unknown): StoreUnavailable {
  const reason = cause instanceof Error ? `: ${cause.message.replace(/\.$/, '')}` : ''
  return new StoreUnavailable(
    `The writer thread ended, or could not be started${reason}. The next write starts it again. Check the memory, and the limits of threads and open files.`,
    { cause },
  )
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
export function createWriter(options: WriterOptions) {
  const { path, identities, loaded, busyTimeout: lockTimeout = defaultBusyTimeout, historyDays } = options
  const { onDamage, onWarning, observer } = options
  let thread: Worker | undefined
  /** The writes that the thread has, the oldest first. */
  const sent: PendingWrite[] = []
  /** The writes of this turn of the event loop. */
  let unsent: Write[] = []
  /** Runs out when the thread has made no progress for half as long as a commit may take. */
  const watchdog = setTimeout(onTimeout, maxCommitTime / 2).unref()
  let isHanging = false
  /** When the thread was started, until it is ready. */
  let startedAt: number | undefined
  let isClosed = false
  let sentCount = 0
  /** How many of them were rejected meanwhile. The thread does not perform those of them that still wait. */
  const rejectedCount = new BigInt64Array(new SharedArrayBuffer(8))
  let lastFailure: { error: Error; at: number } | undefined

  function send(name: string, write: Write, values: unknown[] = []): Promise<unknown> {
    const pending: PendingWrite = { name, values, isRejected: false, ...Promise.withResolvers<unknown>() }
    const refusal = findRefusal()
    if (refusal) reject(pending, refusal)
    else post(pending, write)
    return pending.promise
  }

  function post(pending: PendingWrite, write: Write): void {
    try {
      thread ??= start()
      // One message for all of them: each costs both threads more than its content.
      if (unsent.push(write) === 1) queueMicrotask(sendTogether)
      if (sent.length === 0) watchdog.refresh()
      sent.push(pending)
      sentCount++
    } catch (error) {
      reject(pending, threadEnded(error))
    }
  }

  function sendTogether(): void {
    thread?.postMessage(unsent satisfies WriterMessage)
    unsent = []
  }

  function findRefusal(): Error | undefined {
    if (isClosed) return new ClosedStore()
    // The thread cannot be stopped while it waits for the disk, and gets no more work until it responds.
    if (isHanging) return diskHangs()
    return sent.length < maxSent ? undefined : new StoreUnavailable(tooManyWrites, { failure: 'queue_full' })
  }

  function reject(pending: PendingWrite, error: Error): void {
    if (pending.isRejected) return
    pending.isRejected = true
    pending.reject(error)
    observer?.writeFailed?.(writeFailureOf(error))
  }

  function start(): Worker {
    startedAt = performance.now()
    sentCount = 0
    rejectedCount[0] = 0n
    const data: WriterData = { path, identities, lockTimeout, historyDays, definition: loaded.url, rejectedCount }
    const started = startThread(new URL('writer-thread.ts', import.meta.url), data)
    started.on('message', (reply: Settled) => {
      // Node itself sends these over the same port (`node --watch`).
      if ('watch:import' in reply || 'watch:require' in reply) return
      // The writes of a lost thread are rejected, and the oldest ones now belong to its successor.
      if (thread !== started) return
      startedAt = undefined
      isHanging = false
      watchdog.refresh()
      if (reply.warning !== undefined) onWarning?.(reply.warning)
      const settled = sent.splice(0, reply.outcomes.length)
      const committed = reply.outcomes.filter((outcome) => 'value' in outcome).length
      if (reply.times && committed > 0) observer?.transactionCommitted?.(committed, reply.times)
      for (const [index, pending] of settled.entries()) settle(pending, reply.outcomes[index])
    })
    started.on('error', (cause) => lose(started, cause))
    started.on('exit', () => lose(started, undefined))
    return started
  }

  function settle(pending: PendingWrite, outcome: WriteOutcome | undefined): void {
    if (!outcome) reject(pending, new Error('A write of the batch has no outcome.'))
    else if ('value' in outcome) {
      if (pending.name !== probeWrite) lastFailure = undefined
      pending.resolve(outcome.value)
    } else fail(pending, outcome.failure)
  }

  function fail(pending: PendingWrite, failure: Failure): void {
    if (failure.kind === 'damage') onDamage?.(failure.damage)
    const [collectionName = '', mutationName = ''] = pending.name.split('.')
    const collection = loaded.collections[collectionName]
    const call = { operation: pending.name, mutation: collection?.mutations[mutationName], values: pending.values }
    const tables = Object.values(loaded.collections).map(({ table }) => table)
    const error = (collection && conflictOf(failure, call, collection.table, tables)) ?? storeError(failure)
    const isDoubtful = concernsDatabase(failure) && !isBusy(failure) && pending.name !== probeWrite
    if (isDoubtful) lastFailure = { error, at: performance.now() }
    reject(pending, error)
  }

  /** If the event loop was blocked, the write may have been sent just now, or its reply waits for the next turn. */
  function onTimeout(): void {
    if (startedAt !== undefined && performance.now() - startedAt < maxStartTime) {
      watchdog.refresh()
      return
    }
    const awaited = sent[0]
    const decide = () => {
      if (awaited === undefined || sent[0] !== awaited) return
      isHanging = true
      Atomics.store(rejectedCount, 0, BigInt(sentCount))
      for (const pending of sent) reject(pending, diskHangs())
    }
    setTimeout(() => setImmediate(decide), maxCommitTime / 2).unref()
  }

  function lose(lost: Worker, cause: unknown): void {
    if (thread !== lost) return
    thread = undefined
    isHanging = false
    unsent = []
    for (const pending of sent.splice(0)) reject(pending, threadEnded(cause))
  }

  return {
    /** Runs a mutation. With an idempotency key, at most once. */
    async mutate(operation: string, values: unknown[], idempotency?: IdempotencyKey): Promise<MutationResult> {
      // One message that cannot be copied would fail the writes of a whole turn.
      if (!values.every((value) => canBeCopied(value)))
        throw new TypeError(`A value of ${operation} cannot be copied to the writer thread.`)
      if (idempotency) {
        const write: Write = [idempotentWrite, operation, idempotency.owner, idempotency.key, new Date(), ...values]
        // Safe: see prepareIdempotentWrite.
        return send(operation, write, values) as Promise<MutationResult>
      }
      // Safe: a mutation returns what it has generated.
      const generated = (await send(operation, [operation, ...values], values)) as object | undefined
      return { generated, isReplay: false }
    },
    get queued() {
      return sent.length
    },
    /** Rejects unless a write can reach the disk, and the latest writes did. */
    async probe(): Promise<void> {
      await send(probeWrite, [probeWrite])
      if (lastFailure && performance.now() - lastFailure.at < doubtAfterFailure) throw lastFailure.error
    },
    /** Waits for all writes, unless the disk hangs. */
    async close(): Promise<void> {
      isClosed = true
      await Promise.allSettled(sent.map(({ promise }) => promise))
      const last = thread
      last?.postMessage('close' satisfies WriterMessage)
      // Not `once` of node:events: an error of the thread would reject it.
      if (last && !isHanging) await new Promise((resolve) => last.once('exit', resolve))
    },
  }
}
