import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { GroupCommit, type Outcome } from '../group-commit.ts'
import { type ApiKeyStore, type PetStore, StoreUnavailable } from '../store.ts'
import { onMessage, startThread } from '../thread.ts'
import { concernsDatabase, isBusy, storeError } from './failure.ts'
import type { Batch, Settled, Outcome as ThreadOutcome, Write, WriterData, Writes } from './writer-thread.ts'

export interface WriterOptions {
  path: string
  /** Milliseconds that each write waits for another process's lock. */
  busyTimeout: number
}

interface Events {
  /** Called when the thread has closed stale files. Every other connection of the process must be closed, too. */
  onStale?: () => void
  /** Called with a sentence for the operator. */
  onWarning?: (message: string) => void
}

/** Milliseconds after which the disk hangs, and is not just slow. */
export const maxCommitTime = 10_000
/** Milliseconds after a failed write in which readiness stays false: a batch of creates may need more room than a probe. */
const doubtAfterFailure = 5_000

type QueuedWrite = Write & { since: number }

/**
 * Sends the batches of a group commit to the writer thread, one at a time. Writes resolve once their transaction is on
 * disk. If the thread ends, or the disk hangs, the writes that the thread holds are rejected as {@link StoreUnavailable},
 * because they may or may not have happened. The first write starts the thread, and so does the next one after it ended.
 */
export class Writer {
  /** The methods of the store that write. */
  readonly pets: Pick<PetStore, 'create' | 'createOnce'> = {
    create: async (pet) => ({ id: await this.run('createPet', pet), ...pet }),
    createOnce: async (pet, key) => {
      const { id, isReplay } = await this.run('createPetOnce', pet, key, new Date())
      return { pet: { id, ...pet }, isReplay }
    },
  }
  readonly apiKeys: Omit<ApiKeyStore, 'find' | 'list' | 'revision'> = {
    create: (key) => this.run('createApiKey', key),
    createFirst: (key) => this.run('createFirstApiKey', key),
    register: (key) => this.run('registerApiKey', key),
    revoke: (id, at) => this.run('revokeApiKey', id, at),
    rotate: (id, successor) => this.run('rotateApiKey', id, successor),
    touch: (id, at) => this.run('touchApiKey', id, at),
  }
  readonly #options: WriterOptions
  readonly #events: Events
  readonly #queue = new GroupCommit<QueuedWrite, unknown>((batch) => this.#commit(batch))
  #thread: Worker | undefined
  /** Settles the batch that the thread is committing. */
  #reply = Promise.withResolvers<Settled>()
  #isHanging = false
  #lastFailure: { error: Error; at: number } | undefined

  constructor(options: WriterOptions, events: Events = {}) {
    this.#options = options
    this.#events = events
  }

  run<Name extends keyof Writes>(name: Name, ...args: Parameters<Writes[Name]>): Promise<ReturnType<Writes[Name]>> {
    // The parameters pair the name with its arguments, which TypeScript cannot follow into the union.
    const write = { name, args, since: performance.now() } as QueuedWrite
    // The thread calls the write of this name, so the value is what that write returns.
    return this.#queue.run(write) as Promise<ReturnType<Writes[Name]>>
  }

  /** Rejects unless a write can reach the disk, and the latest writes did. */
  async probe(): Promise<void> {
    await this.run('probe')
    const failure = this.#lastFailure
    if (failure && performance.now() - failure.at < doubtAfterFailure) throw failure.error
  }

  /** Makes a running thread check its files, and close them if they are stale. */
  async checkFiles(): Promise<void> {
    if (this.#thread) await this.run('probe')
  }

  /** Waits for all writes, unless the disk hangs. */
  async close(): Promise<void> {
    await this.#queue.close()
    const thread = this.#thread
    thread?.postMessage('close')
    if (thread && !this.#isHanging) await once(thread, 'exit')
  }

  async #commit(batch: QueuedWrite[]): Promise<Outcome<unknown>[]> {
    // The thread cannot be stopped while it waits for the disk, and gets no more work until it responds.
    if (this.#isHanging) throw diskHangs()
    const { outcomes, isFinal = false } = await this.#send(batch)
    return batch.map((write, index) => this.#outcomeOf(write, outcomes[index], isFinal))
  }

  /** The thread waits for another process's lock only as long as the oldest write may. */
  async #send(batch: QueuedWrite[]): Promise<Settled> {
    const since = batch[0]?.since ?? 0
    const lockTimeout = Math.max(0, this.#options.busyTimeout - (performance.now() - since))
    this.#reply = Promise.withResolvers()
    const timer = setTimeout(() => {
      this.#isHanging = true
      this.#reply.reject(diskHangs())
    }, maxCommitTime).unref()
    try {
      this.#thread ??= this.#startThread()
      this.#thread.postMessage({ batch, lockTimeout } satisfies Batch)
    } catch (cause) {
      this.#reply.reject(threadEnded(cause))
    }
    return this.#reply.promise.finally(() => clearTimeout(timer))
  }

  #startThread(): Worker {
    const data: WriterData = { writerPath: this.#options.path }
    const thread = startThread(new URL('writer-thread.ts', import.meta.url), data)
    onMessage(thread, (reply: Settled) => {
      this.#isHanging = false
      if (reply.isStale) this.#events.onStale?.()
      if (reply.warning !== undefined) this.#events.onWarning?.(reply.warning)
      this.#reply.resolve(reply)
    })
    thread.on('error', (cause) => this.#lose(thread, cause))
    thread.on('exit', () => this.#lose(thread, undefined))
    return thread
  }

  #lose(thread: Worker, cause: unknown): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    this.#isHanging = false
    this.#reply.reject(threadEnded(cause))
  }

  #outcomeOf({ name, since }: QueuedWrite, outcome: ThreadOutcome | undefined, isFinal: boolean): Outcome<unknown> {
    if (!outcome) return { error: threadEnded(undefined) }
    if ('value' in outcome) {
      if (name !== 'probe') this.#lastFailure = undefined
      return outcome
    }
    const { failure } = outcome
    const isLocked = isBusy(failure)
    if (isLocked && !isFinal && performance.now() - since < this.#options.busyTimeout) return 'retry'
    const error = storeError(failure)
    if (concernsDatabase(failure) && !isLocked && name !== 'probe') this.#lastFailure = { error, at: performance.now() }
    return { error }
  }
}

function diskHangs(): StoreUnavailable {
  return new StoreUnavailable('The disk does not respond.')
}

function threadEnded(cause: unknown): StoreUnavailable {
  return new StoreUnavailable('The writer thread ended, or could not be started.', { cause })
}
