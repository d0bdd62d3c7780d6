import { StoreUnavailable } from '../store.ts'

/** Beyond so many waiting writes the database does not lag but hang. */
const mostWaiting = 10_000

/** What came of one write of a batch: its value, or an error of its own. */
export type Outcome<T> = T | Error

interface Pending<Write, T> {
  write: Write
  resolve: (value: T) => void
  reject: (error: Error) => void
}

/**
 * Group commit: writes that arrive while a batch is under way wait together and share the next one, and so one round to
 * the disk of the database. A batch that fails as a whole fails all of its writes.
 */
export class GroupCommit<Write, T> {
  readonly #commit: (batch: Write[]) => Promise<Outcome<T>[]>
  #waiting: Pending<Write, T>[] = []
  #underWay: Promise<void> | undefined

  constructor(commit: (batch: Write[]) => Promise<Outcome<T>[]>) {
    this.#commit = commit
  }

  run(write: Write): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= mostWaiting) return reject(new StoreUnavailable('Too many writes are waiting.'))
      this.#waiting.push({ write, resolve, reject })
      this.#underWay ??= this.#flush()
    })
  }

  /** Waits until nothing is under way. */
  async idle(): Promise<void> {
    await this.#underWay
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      const outcomes = await this.#commit(batch.map(({ write }) => write)).catch((error: Error) => error)
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes instanceof Error ? outcomes : outcomes[index]
        if (outcome instanceof Error) reject(outcome)
        else if (outcome === undefined) reject(new Error('A write has no outcome.'))
        else resolve(outcome)
      }
    }
    this.#underWay = undefined
  }
}
