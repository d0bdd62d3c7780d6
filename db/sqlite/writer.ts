import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { StoreUnavailable } from '../store.ts'
import { concernsDatabase, isBusy, storeError } from './failure.ts'
import { onMessage, startThread } from './thread.ts'
import type { Batch, Outcome, Settled, Write, Writes } from './writes.ts'

export interface WriterOptions {
  path: string
  /** Milliseconds that each write waits for another process's lock. */
  busyTimeout: number
}

interface Events {
  /** Called before the promises of writes settle. */
  onSettled?: () => void
  /** Called when the thread has closed the database because its files were stale: every other connection must be closed, too. */
  onStale?: () => void
  /** Called with a sentence for the operator. */
  onWarning?: (message: string) => void
}

/** Beyond these the disk does not lag but hang: so many writes waiting, or so many milliseconds for one transaction. */
const mostWaiting = 10_000
export const longestCommit = 10_000
/** Milliseconds after a failed write in which a probe proves nothing: a batch of creates may need more room than a probe. */
const doubtAfterFailure = 5_000

interface Pending {
  write: Write
  since: number
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}

/**
 * Group commit: writes that arrive while the thread is busy wait together and share the next transaction, and so one
 * fsync. A write is answered only once its transaction is on disk. If the thread dies, or the disk hangs, the writes it
 * held are rejected as {@link StoreUnavailable}, since nobody knows whether they happened. The first write, and the next
 * one after the end of a thread, starts one.
 */
export class Writer {
  readonly #options: WriterOptions
  readonly #events: Events
  #thread: Worker | undefined
  /** What the thread is at, until it answers; what it took too long for is not in it any more. */
  #inFlight: Pending[] | undefined
  #waiting: Pending[] = []
  #watch: NodeJS.Timeout | undefined
  #isHanging = false
  #closed = false
  #onIdle: (() => void) | undefined
  #lastFailure: { error: Error; at: number } | undefined

  constructor(options: WriterOptions, events: Events = {}) {
    this.#options = options
    this.#events = events
  }

  run<Name extends keyof Writes>(name: Name, ...args: Parameters<Writes[Name]>): Promise<ReturnType<Writes[Name]>> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new StoreUnavailable('The store is closed.'))
      if (this.#isHanging || this.#waiting.length >= mostWaiting)
        return reject(new StoreUnavailable('Too many writes are waiting, or have waited too long.'))
      // The thread runs the write of this name, so its value is that write's; a message cannot carry the type.
      const write = { name, args } as Write
      this.#waiting.push({ write, since: performance.now(), resolve: resolve as (value: unknown) => void, reject })
      this.#flush()
    })
  }

  /** Rejects unless a write can reach the disk, and the latest ones did. */
  async probe(): Promise<void> {
    await this.run('probe')
    const failure = this.#lastFailure
    if (failure && performance.now() - failure.at < doubtAfterFailure) throw failure.error
  }

  /** Makes a thread that runs check the files it has open, and close them if they are stale. */
  async checkFiles(): Promise<void> {
    if (this.#thread) await this.run('probe')
  }

  /** Waits until all is written, unless the disk hangs. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#inFlight && !this.#isHanging) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    const thread = this.#thread
    thread?.postMessage('close')
    if (thread && !this.#isHanging) await once(thread, 'exit')
  }

  #flush(): void {
    if (this.#inFlight) return
    const [oldest] = this.#waiting
    if (!oldest) {
      this.#onIdle?.()
      return
    }
    this.#inFlight = this.#waiting
    this.#waiting = []
    this.#watch = setTimeout(() => this.#giveUp(), longestCommit).unref()
    try {
      this.#thread ??= this.#startThread()
    } catch (cause) {
      this.#settle(() => undefined, cause)
      return
    }
    const patience = Math.max(0, this.#options.busyTimeout - (performance.now() - oldest.since))
    this.#thread.postMessage({ batch: this.#inFlight.map(({ write }) => write), patience } satisfies Batch)
  }

  /** The thread cannot be stopped while it waits for the disk: it is left to it, and no more is asked of it meanwhile. */
  #giveUp(): void {
    const abandoned = [...(this.#inFlight ?? []), ...this.#waiting]
    this.#inFlight = []
    this.#waiting = []
    this.#isHanging = true
    for (const { reject } of abandoned) reject(new StoreUnavailable('The disk does not answer.'))
    this.#onIdle?.()
  }

  #startThread(): Worker {
    const thread = startThread(new URL('writer-thread.ts', import.meta.url), { path: this.#options.path })
    onMessage(thread, ({ outcomes, warning, isStale }: Settled) => {
      if (isStale) this.#events.onStale?.()
      if (warning !== undefined) this.#events.onWarning?.(warning)
      this.#settle((index) => outcomes[index])
    })
    thread.on('error', (cause) => this.#lose(thread, cause))
    thread.on('exit', () => this.#lose(thread, undefined))
    return thread
  }

  #lose(thread: Worker, cause: unknown): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    this.#settle(() => undefined, cause)
  }

  #settle(outcomeOf: (index: number) => Outcome | undefined, cause?: unknown): void {
    const settled = this.#inFlight ?? []
    this.#inFlight = undefined
    this.#isHanging = false
    clearTimeout(this.#watch)
    this.#events.onSettled?.()
    const again: Pending[] = []
    for (const [index, pending] of settled.entries()) {
      const outcome = outcomeOf(index)
      if (outcome && this.#hasTimeLeft(pending, outcome)) again.push(pending)
      else this.#respond(pending, outcome, cause)
    }
    this.#waiting = [...again, ...this.#waiting]
    this.#flush()
  }

  /** The thread waited for a lock only as long as the oldest write of the batch may. Nothing was written. */
  #hasTimeLeft({ since }: Pending, outcome: Outcome): boolean {
    const isLocked = 'failure' in outcome && isBusy(outcome.failure)
    return isLocked && performance.now() - since < this.#options.busyTimeout
  }

  #respond({ write, resolve, reject }: Pending, outcome: Outcome | undefined, cause: unknown): void {
    if (!outcome) {
      reject(new StoreUnavailable('The writer thread ended, or could not be started.', { cause }))
    } else if ('failure' in outcome) {
      const error = storeError(outcome.failure)
      const isFault = concernsDatabase(outcome.failure) && !isBusy(outcome.failure)
      if (isFault && write.name !== 'probe') this.#lastFailure = { error, at: performance.now() }
      reject(error)
    } else {
      if (write.name !== 'probe') this.#lastFailure = undefined
      resolve(outcome.value)
    }
  }
}
