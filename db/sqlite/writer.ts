import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { StoreUnavailable } from '../store.ts'
import { storeError } from './failure.ts'
import { onMessage, startThread } from './thread.ts'
import type { Outcome, Write, Writes } from './writes.ts'

export interface WriterOptions {
  path: string
  /** Milliseconds to wait for another process's lock. */
  busyTimeout: number
}

/** Beyond these the disk does not lag but hang: so many writes waiting, or so many milliseconds for one transaction. */
const mostWaiting = 10_000
export const longestCommit = 10_000

interface Pending {
  write: Write
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
  readonly #onSettled: () => void
  #thread: Worker | undefined
  /** What the thread is at, until it answers; what it took too long for is not in it any more. */
  #inFlight: Pending[] | undefined
  #waiting: Pending[] = []
  #watch: NodeJS.Timeout | undefined
  #isHanging = false
  #closed = false
  #onIdle: (() => void) | undefined

  /** @param onSettled called before writes are answered */
  constructor(options: WriterOptions, onSettled: () => void) {
    this.#options = options
    this.#onSettled = onSettled
  }

  run<Name extends keyof Writes>(name: Name, ...args: Parameters<Writes[Name]>): Promise<ReturnType<Writes[Name]>> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new StoreUnavailable('The store is closed.'))
      if (this.#isHanging || this.#waiting.length >= mostWaiting)
        return reject(new StoreUnavailable('Too many writes are waiting, or have waited too long.'))
      // The thread runs the write of this name, so its value is that write's; a message cannot carry the type.
      this.#waiting.push({ write: { name, args } as Write, resolve: resolve as (value: unknown) => void, reject })
      this.#flush()
    })
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
    if (this.#waiting.length === 0) {
      this.#onIdle?.()
      return
    }
    this.#inFlight = this.#waiting
    this.#waiting = []
    this.#watch = setTimeout(() => this.#giveUp(), longestCommit).unref()
    this.#thread ??= this.#startThread()
    this.#thread.postMessage(this.#inFlight.map(({ write }) => write))
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
    const thread = startThread('writer-thread.ts', this.#options)
    onMessage(thread, (outcomes: Outcome[]) => this.#settle((index) => outcomes[index]))
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
    this.#onSettled()
    for (const [index, { resolve, reject }] of settled.entries()) {
      const outcome = outcomeOf(index)
      if (!outcome) reject(new StoreUnavailable('The writer thread ended before it answered.', { cause }))
      else if ('failure' in outcome) reject(storeError(outcome.failure))
      else resolve(outcome.value)
    }
    this.#flush()
  }
}
