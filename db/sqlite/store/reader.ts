import { setTimeout as wait } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import type { Loaded } from '../../resource.ts'
import { concernsDatabase, type Failure, isBusy, mayBeReadError, storeError, toFailure } from '../file/failure.ts'
import { Recovery, type RecoveryOptions } from '../recovery/recovery.ts'
import type { Prepare, SqliteResource } from '../resource.ts'
import { prepareReads, type Reads } from './reads.ts'

/** Milliseconds for which a read is retried while the database is locked. */
const busyTimeout = 200
const busyPause = 5

/** Reads on the event loop, on a connection that cannot write. In WAL mode readers rarely wait for a lock. */
export class Reader {
  readonly recovery: Recovery<Reads>
  /** Of every read, in the order in which they were added. */
  readonly #prepares: Prepare<never[], unknown>[] = []
  /** Verifies that the database is corrupt. */
  readonly #verify: (failure: Failure) => Promise<Failure>
  #revision: number | undefined
  #isRevisionKnown = false

  constructor(
    resources: Loaded<SqliteResource>,
    verify: (failure: Failure) => Promise<Failure>,
    options: Omit<RecoveryOptions<Reads>, 'prepare'>,
  ) {
    this.#verify = verify
    const prepare = (connection: Database.Database) => prepareReads(connection, resources, this.#prepares)
    this.recovery = new Recovery({ ...options, prepare })
  }

  /** Adds a read, which is prepared on the open file, and again on each file that is opened later. */
  add<Args extends unknown[], T>(prepare: Prepare<Args, T>): (...args: Args) => Promise<T> {
    const { connection, statements } = this.recovery.file
    statements.reads.push(prepare(connection))
    const index = this.#prepares.push(prepare) - 1
    // Safe: the read at this index was prepared by this function.
    return (...args) => this.run(({ reads }) => (reads[index] as (...args: Args) => T)(...args))
  }

  async run<T>(read: (reads: Reads) => T): Promise<T> {
    let hasRecovered = false
    let hasRepeated = false
    for (const deadline = performance.now() + busyTimeout; ; ) {
      try {
        return read(this.recovery.file.statements)
      } catch (error) {
        const failure = toFailure(this.recovery.explain(error))
        if (isBusy(failure) && performance.now() < deadline) {
          await wait(busyPause)
        } else if (!hasRecovered && concernsDatabase(failure) && (await this.recovery.recover())) {
          hasRecovered = true
        } else if (mayBeReadError(failure) && !hasRepeated) {
          hasRepeated = true
        } else throw storeError(await this.#verify(toFailure(this.recovery.explain(error))))
      }
    }
  }

  /**
   * All writes use other connections, so SQLite counts each of them as a change. The checks of one request run without a
   * pause in between and share one query.
   */
  revision(): number | undefined {
    if (!this.#isRevisionKnown) {
      this.#revision = this.recovery.revision()
      this.#isRevisionKnown = true
      queueMicrotask(() => (this.#isRevisionKnown = false))
    }
    return this.#revision
  }
}
