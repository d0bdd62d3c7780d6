import { setTimeout as wait } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { ClosedStore, OtherRelease, runtimeMessage, StoreUnavailable } from '../../collection/errors.ts'
import type { Loaded } from '../../database/loaded.ts'
import { isUpToDate } from '../../database/migrations.ts'
import type { Prepare, SqliteCollection } from '../collection.ts'
import { isBusy, mayBeReadError, storeError, toFailure } from '../file/failure.ts'
import { type FileIdentities, OpenFile } from '../file/open-file.ts'
import { findMissingPart, readJournal } from '../migrate.ts'
import { type WatchOptions, watchFiles } from '../rescue/file-watch.ts'

/** Milliseconds for which a read is retried while the database is locked. */
const busyTimeout = 200
const busyPause = 5
/** Milliseconds. */
const checkInterval = 1_000

/** Reads on the event loop: in WAL mode readers rarely wait for a lock. It checks the files each second, until damage. */
export class Reader {
  readonly watch: ReturnType<typeof watchFiles>
  readonly #loaded: Loaded<SqliteCollection>
  readonly #file: OpenFile
  /** Changes with each commit of another connection (https://sqlite.org/pragma.html#pragma_data_version). */
  readonly #dataVersion: Database.Statement<[], number>
  readonly #begin: Database.Statement
  readonly #commit: Database.Statement
  readonly #checks: NodeJS.Timeout
  #revision: number | undefined
  #isRevisionKnown = false
  /** The version of a schema in which nothing is missing. */
  #completeSchema: unknown

  constructor(loaded: Loaded<SqliteCollection>, options: WatchOptions) {
    this.#loaded = loaded
    this.#file = new OpenFile(options.path, { readonly: true })
    this.watch = watchFiles(this.#file, options)
    const { connection } = this.#file
    this.#begin = connection.prepare('BEGIN')
    this.#commit = connection.prepare('COMMIT')
    this.#dataVersion = connection.prepare<[], number>('PRAGMA data_version').pluck().safeIntegers(false)
    this.#checks = setInterval(() => this.#check(), checkInterval).unref()
  }

  get identities(): FileIdentities {
    return this.#file.identities
  }

  /** Makes a function of a read, which must be one statement, and so one snapshot. */
  add<Args extends unknown[], T>(prepare: Prepare<Args, T>): (...args: Args) => Promise<T> {
    const read = prepare(this.#file.connection)
    return (...args) => this.#run(() => read(...args))
  }

  /** Why this release cannot use the schema; undefined if it can. */
  schemaProblem(): Promise<StoreUnavailable | undefined> {
    const { connection } = this.#file
    return this.#run(() => {
      if (!isUpToDate(readJournal(connection), this.#loaded.migrations)) return new OtherRelease()
      // Increases with each change of the schema. The comparison takes milliseconds.
      const version = connection.pragma('schema_version', { simple: true })
      if (version === this.#completeSchema) return undefined
      const missing = findMissingPart(connection, this.#loaded)
      if (missing !== undefined)
        return new StoreUnavailable(runtimeMessage(missing, ''), { isRetryable: false, failure: 'schema' })
      this.#completeSchema = version
      return undefined
    })
  }

  /** See {@link BaseStore}. No event is handled meanwhile, so no response has reported a commit that the reads miss. */
  inOneSnapshot(run: () => void): void {
    if (this.#file.connection.open) this.#begin.run()
    try {
      run()
    } finally {
      this.#endSnapshot()
    }
  }

  #endSnapshot(): void {
    if (this.#file.connection.inTransaction) this.#commit.run()
  }

  async #run<T>(read: () => T): Promise<T> {
    let hasRepeated = false
    for (const deadline = performance.now() + busyTimeout; ; ) {
      try {
        if (this.watch.damage) throw this.watch.damage
        return read()
      } catch (error) {
        if (!this.#file.connection.open) throw new ClosedStore()
        this.#endSnapshot()
        this.#check()
        const failure = toFailure(this.watch.damage ?? error)
        if (isBusy(failure) && performance.now() < deadline) {
          await wait(busyPause)
        } else if (mayBeReadError(failure) && !hasRepeated) {
          hasRepeated = true
        } else throw storeError(failure)
      }
    }
  }

  /** All writes use other connections, so SQLite counts them. The checks of a request have no pause, and share a query. */
  revision(): number | undefined {
    if (!this.#isRevisionKnown) {
      this.#revision = this.#readRevision()
      this.#isRevisionKnown = true
      queueMicrotask(() => (this.#isRevisionKnown = false))
    }
    return this.#revision
  }

  #readRevision(): number | undefined {
    try {
      return this.watch.damage ? undefined : this.#dataVersion.get()
    } catch {
      return undefined
    }
  }

  #check(): void {
    // Stores the read mark for commits of other processes. On a frozen file system a read blocks there: see checkpoints.ts.
    if (!this.watch.check()) this.#readRevision()
  }

  /** Closes the file after it has saved what would be lost. */
  async close(): Promise<void> {
    clearInterval(this.#checks)
    await this.watch.saved()
    this.#file.close()
  }
}
