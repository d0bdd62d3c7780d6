import type { Worker } from 'node:worker_threads'
import { StoreUnavailable } from '../../collection/errors.ts'
import { type Committed, groupCommit } from '../../collection/group-commit.ts'
import type { IdempotencyKey } from '../../collection/idempotency.ts'
import type { MutationResult } from '../../collection/mutation.ts'
import { partsOf } from '../../collection/row.ts'
import type { Loaded, OpenOptions } from '../../database/loaded.ts'
import type { SqliteCollection } from '../collection.ts'
import { concernsDatabase, conflictOf, type Damage, type Failure, isBusy, storeError } from '../file/failure.ts'
import type { FileIdentities } from '../file/open-file.ts'
import { startThread } from '../thread.ts'
import type { Reply, Settled, Write, WriteOutcome, WriterData, WriterMessage } from './writes.ts'
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

/** How deep lists and objects may be in each other. A value that is too deep, or holds itself, cannot be copied. */
const maxLevels = 100

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

const threadEnded = (cause: unknown) =>
  new StoreUnavailable(
    'The writer thread ended, or could not be started. The next write starts it again. Check the memory, and the limits of threads and open files.',
    { cause },
  )

/** A write, and the name of its mutation: a write with an idempotency key has another one. */
interface NamedWrite {
  name: string
  /** The values of a mutation. */
  values?: unknown[]
  write: Write
}

/**
 * Sends the writes of the store to the writer thread, in batches. They resolve once their transaction is on disk. If the
 * thread ends, or the disk hangs, the writes of its batch are rejected as {@link StoreUnavailable}, because they may or may
 * not have happened.
 *
 * The states of the thread: none, until the first write starts it; running; hanging, when it has not replied for
 * `maxCommitTime`, until it does; none again, when it has ended. A thread that hangs cannot be stopped, and gets no more work.
 */
export function createWriter(options: WriterOptions) {
  const { path, identities, loaded, busyTimeout: lockTimeout = defaultBusyTimeout, historyDays } = options
  const { onDamage, onWarning, observer } = options
  const writes = groupCommit(commit, { observer })
  let thread: Worker | undefined
  /** The batch that the thread has. */
  let sent: PromiseWithResolvers<Settled> | undefined
  let watchdog: NodeJS.Timeout | undefined
  let isHanging = false
  let lastFailure: { error: Error; at: number } | undefined

  async function commit(batch: NamedWrite[]): Promise<Committed<unknown>> {
    const { outcomes, times } = await send(batch.map(({ write }) => write))
    return { outcomes: outcomes.map((outcome, index) => settle(batch[index], outcome)), times }
  }

  function send(batch: Write[]): Promise<Settled> {
    if (isHanging) throw diskHangs()
    const settled = Promise.withResolvers<Settled>()
    sent = settled
    try {
      watch(thread ? maxCommitTime : maxStartTime)
      thread ??= start()
      thread.postMessage(batch satisfies WriterMessage)
    } catch (error) {
      receive(({ reject }) => reject(threadEnded(error)))
    }
    return settled.promise
  }

  /** Gives the thread some milliseconds to reply. */
  function watch(time: number): void {
    const awaited = sent
    const decide = () => {
      if (sent !== awaited) return
      isHanging = true
      sent?.reject(diskHangs())
    }
    clearTimeout(watchdog)
    // If the event loop was blocked, a reply waits for the next turn.
    watchdog = setTimeout(() => setImmediate(decide), time).unref()
  }

  function start(): Worker {
    const data: WriterData = { path, identities, lockTimeout, historyDays, definition: loaded.url }
    const started = startThread(new URL('writer-thread.ts', import.meta.url), data)
    started.on('message', (reply: Reply) => {
      if (thread !== started) return
      if (reply === 'ready') watch(maxCommitTime)
      else if ('warning' in reply) onWarning?.(reply.warning)
      // Node itself sends others over the same port (`node --watch`).
      else if ('outcomes' in reply) receive(({ resolve }) => resolve(reply))
    })
    const lose = (cause: unknown) => {
      if (thread !== started) return
      thread = undefined
      receive(({ reject }) => reject(threadEnded(cause)))
    }
    started.on('error', lose)
    started.on('exit', () => lose(undefined))
    return started
  }

  /** Ends the wait for the thread. The batch may have been rejected meanwhile. */
  function receive(end: (batch: PromiseWithResolvers<Settled>) => void): void {
    clearTimeout(watchdog)
    isHanging = false
    if (sent) end(sent)
    sent = undefined
  }

  function settle({ name, values = [] }: Pick<NamedWrite, 'name' | 'values'> = { name: '' }, outcome: WriteOutcome) {
    if ('failure' in outcome) return { error: errorOf(name, values, outcome.failure) }
    if (name !== probeWrite) lastFailure = undefined
    return outcome
  }

  function errorOf(name: string, values: unknown[], failure: Failure): Error {
    if (failure.kind === 'damage') onDamage?.(failure.damage)
    const [collectionName = '', mutationName = ''] = name.split('.')
    const collection = loaded.collections[collectionName]
    const call = { operation: name, mutation: collection?.mutations[mutationName], values }
    const tables = Object.values(loaded.collections).map(({ table }) => table)
    const error = (collection && conflictOf(failure, call, collection.table, tables)) ?? storeError(failure)
    const isDoubtful = concernsDatabase(failure) && !isBusy(failure) && name !== probeWrite
    if (isDoubtful) lastFailure = { error, at: performance.now() }
    return error
  }

  return {
    /** Runs a mutation. With an idempotency key, at most once. */
    async mutate(operation: string, values: unknown[], idempotency?: IdempotencyKey): Promise<MutationResult> {
      // One message that cannot be copied would fail the writes of a whole batch.
      if (!values.every((value) => canBeCopied(value)))
        throw new TypeError(`A value of ${operation} cannot be copied to the writer thread.`)
      if (idempotency) {
        const write: Write = [idempotentWrite, operation, idempotency.owner, idempotency.key, new Date(), ...values]
        // Safe: see prepareIdempotentWrite.
        return writes.run({ name: operation, values, write }) as Promise<MutationResult>
      }
      // Safe: a mutation returns what it has generated.
      const generated = (await writes.run({ name: operation, values, write: [operation, ...values] })) as
        | object
        | undefined
      return { generated, isReplay: false }
    },
    get queued() {
      return writes.queued
    },
    /** Rejects unless a write can reach the disk, and the latest writes did. */
    async probe(): Promise<void> {
      await writes.run({ name: probeWrite, write: [probeWrite] })
      if (lastFailure && performance.now() - lastFailure.at < doubtAfterFailure) throw lastFailure.error
    },
    /** Waits for all writes, unless the disk hangs. */
    async close(): Promise<void> {
      await writes.close()
      const last = thread
      last?.postMessage('close' satisfies WriterMessage)
      // Not `once` of node:events: an error of the thread would reject it.
      if (last && !isHanging) await new Promise((resolve) => last.once('exit', resolve))
    },
  }
}
