import type Database from 'better-sqlite3'
import { type Failure, toFailure } from './failure.ts'

/** Pages at which SQLite starts a checkpoint after each commit (`wal_autocheckpoint`). SQLite ignores errors of these. */
const autoCheckpoint = 1_000
/** Milliseconds. */
const checkInterval = 1_000
/** MiB of pages in the log. Each further warning comes at twice the size of the last one. */
const firstWarning = 64

interface LogState {
  /** Pages in the log. */
  log: number
  /** Pages of the log that a checkpoint has copied into the database. */
  checkpointed: number
}

/** Reads SQLite's index of the log without a checkpoint. */
export function prepareLogState(connection: Database.Database): Database.Statement<[], LogState> {
  return connection.prepare<[], LogState>('PRAGMA wal_checkpoint(NOOP)').safeIntegers(false)
}

/** Watches the write-ahead log through the connection that writes. A log that cannot be checkpointed fills the disk. */
export class LogWatch {
  /** The error of the last checkpoint, if it failed. */
  checkpointFailure: Failure | undefined
  readonly #connection: Database.Database
  readonly #state: Database.Statement<[], LogState>
  readonly #readMark: Database.Statement
  readonly #pageSize: number
  #nextCheck = 0
  #nextWarning = firstWarning

  constructor(connection: Database.Database) {
    this.#connection = connection
    this.#state = prepareLogState(connection)
    this.#readMark = connection.prepare('PRAGMA schema_version')
    this.#pageSize = Number(connection.pragma('page_size', { simple: true }))
  }

  /** Call it after each commit. Returns a new warning, if there is one. Never throws, because the commit has succeeded. */
  check(): string | undefined {
    try {
      this.#publishReadMark()
      if (performance.now() < this.#nextCheck) return undefined
      this.#nextCheck = performance.now() + checkInterval
      return this.#examine()
    } catch {
      return undefined
    }
  }

  /**
   * The first read after a commit stores a read mark in the mapped `-shm` file. If the file system is frozen, that blocks
   * the thread in a page fault. Here it blocks the writer's thread; readers find the mark and store nothing.
   */
  #publishReadMark(): void {
    this.#readMark.get()
  }

  #examine(): string | undefined {
    const { log, checkpointed } = this.#state.get() ?? { log: 0, checkpointed: 0 }
    const failure = log - checkpointed < autoCheckpoint ? undefined : this.#tryCheckpoint()
    const isNew = failure && !this.checkpointFailure
    this.checkpointFailure = failure
    if (isNew) {
      return `The write-ahead log cannot be moved into the database (${failure.code}: ${failure.message}), so it only grows. Check the disk.`
    }
    return this.#warnOfSize(Math.round((log * this.#pageSize) / 2 ** 20))
  }

  #tryCheckpoint(): Failure | undefined {
    try {
      this.#connection.pragma('wal_checkpoint(PASSIVE)')
      return undefined
    } catch (error) {
      return toFailure(error)
    }
  }

  #warnOfSize(size: number): string | undefined {
    if (size < firstWarning) this.#nextWarning = firstWarning
    if (size < this.#nextWarning) return undefined
    this.#nextWarning = size * 2
    return `The write-ahead log has grown to ${size} MiB. It grows while a process keeps a read transaction open, such as a sqlite3 shell or a copy of the database. End that process.`
  }
}
