import { setTimeout as wait } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import type { Loaded } from '../../collection/entity.ts'
import { closedStore, runtimeMessage, StoreUnavailable, UnusableDatabase } from '../../errors.ts'
import { isUpToDate, otherRelease } from '../../migrations.ts'
import { rescueDatabase } from '../backup/backup.ts'
import type { Prepare, SqliteCollection } from '../engine.ts'
import { type Damage, FilesDamaged } from '../file/damage.ts'
import { isBusy, mayBeReadError, storeError, toFailure } from '../file/failure.ts'
import { type FileIdentities, OpenFile } from '../file/open-file.ts'
import { findMissingPart, readJournal } from '../migrate.ts'

/** Milliseconds for which a read is retried while the database is locked. */
const busyTimeout = 200
const busyPause = 5
/** Milliseconds between two checks of the files. */
const checkInterval = 1_000
/** Milliseconds for which a rescue that fails is tried again, because the files are gone when the process ends. */
const maxRescueTime = 60_000
const rescuePause = 1_000

export interface ReaderOptions {
  path: string
  loaded: Loaded<SqliteCollection>
  /** Makes the writer save a lost log and close its connection. */
  closeWriter: () => Promise<void>
  /** Called with a sentence for the operator. */
  onWarning: (message: string) => void
  /** Called once, when the files are damaged and what could be saved is saved. */
  onDamage: (message: string) => void
}

/**
 * Reads on the event loop, on a connection that cannot write. In WAL mode readers rarely wait for a lock. It also checks the
 * files every second. After damage nothing is read or written any more.
 */
export class Reader {
  readonly #options: ReaderOptions
  readonly #file: OpenFile
  /** Changes with each commit of another connection (https://sqlite.org/pragma.html#pragma_data_version). */
  readonly #dataVersion: Database.Statement<[], number>
  readonly #checks: NodeJS.Timeout
  #damage: FilesDamaged | undefined
  #saving: Promise<void> | undefined
  #revision: number | undefined
  #isRevisionKnown = false
  /** The version of a schema in which nothing is missing. */
  #completeSchema: unknown

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#file = new OpenFile(options.path, { readonly: true })
    const { connection } = this.#file
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

  /** Why this release cannot use the schema, as a sentence; undefined if it can. */
  schemaProblem(): Promise<string | undefined> {
    const { connection } = this.#file
    const { loaded } = this.#options
    return this.#run(() => {
      if (!isUpToDate(readJournal(connection), loaded.migrations)) return otherRelease
      // Increases with each change of the schema. The comparison takes milliseconds.
      const version = connection.pragma('schema_version', { simple: true })
      if (version === this.#completeSchema) return undefined
      const missing = findMissingPart(connection, loaded)
      if (missing !== undefined) return runtimeMessage(missing, '')
      this.#completeSchema = version
      return undefined
    })
  }

  async #run<T>(read: () => T): Promise<T> {
    let hasRepeated = false
    for (const deadline = performance.now() + busyTimeout; ; ) {
      try {
        if (this.#damage) throw this.#damage
        return read()
      } catch (error) {
        if (!this.#file.connection.open) throw new StoreUnavailable(closedStore)
        this.#check()
        const failure = toFailure(this.#damage ?? error)
        if (isBusy(failure) && performance.now() < deadline) {
          await wait(busyPause)
        } else if (mayBeReadError(failure) && !hasRepeated) {
          hasRepeated = true
        } else throw storeError(failure)
      }
    }
  }

  /**
   * All writes use other connections, so SQLite counts each of them as a change. The checks of one request run without a
   * pause in between and share one query.
   */
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
      return this.#damage ? undefined : this.#dataVersion.get()
    } catch {
      return undefined
    }
  }

  /** Files that cannot be examined, as on a failing disk, may be in place. */
  #check(): void {
    if (this.#damage || !this.#file.connection.open) return
    try {
      this.#file.refuseDamage()
      // Stores the read mark for commits of other processes. On a frozen file system a read would block there (Checkpoints).
      this.#readRevision()
    } catch (error) {
      if (error instanceof FilesDamaged) this.leave(error.damage)
    }
  }

  /** Call it when the writer has found damage. */
  leave(damage: Damage): void {
    this.#damage ??= new FilesDamaged(damage)
    this.#saving ??= this.#save(this.#damage)
  }

  /** Saves what would be gone with the open files. */
  async #save({ damage }: FilesDamaged): Promise<void> {
    const { closeWriter, onWarning, onDamage } = this.#options
    try {
      const oldLog = this.#file.setAsideOldLog()
      if (oldLog !== undefined) onWarning(`An old copy of the write-ahead log was in its place, and is now ${oldLog}.`)
    } catch (error) {
      onWarning(toFailure(error).message)
    }
    await closeWriter()
    this.#damage = new FilesDamaged(damage, await this.#rescue(damage))
    onDamage(this.#damage.message)
  }

  /** Returns what the operator can do. */
  async #rescue(damage: Damage): Promise<string> {
    if (damage === 'log truncated') return 'what only the log had is lost: restore a backup if you need it'
    let reported: string | undefined
    for (const deadline = performance.now() + maxRescueTime; ; ) {
      try {
        if (this.#file.isSaved) return 'all that it had is in the database: start the service again'
        const copy = await rescueDatabase(this.#file.connection, this.#options.path)
        return `all that it had is saved in ${copy}: restore that file with "${this.#options.loaded.program} restore"`
      } catch (error) {
        const reason = error instanceof UnusableDatabase ? error.reason : toFailure(error).message
        if (performance.now() > deadline) return `what it had could not be saved (${reason}): restore a backup`
        if (reason !== reported) this.#options.onWarning(`The database cannot be saved yet: ${reason}.`)
        reported = reason
        await wait(rescuePause)
      }
    }
  }

  /** Closes the file after it has saved what would be lost. */
  async close(): Promise<void> {
    clearInterval(this.#checks)
    this.#check()
    await this.#saving
    this.#file.close()
  }
}
