import type Database from 'better-sqlite3'
import { isUpToDate, type Migration, otherRelease } from '../../migrations.ts'
import { findFullDisk } from '../diagnosis/diagnosis.ts'
import { retryWhileBusy } from '../file/connection.ts'
import { concernsDatabase, type Failure, toFailure, violatesConstraint } from '../file/failure.ts'
import { FileError } from '../file/file-state.ts'
import { readJournal } from '../migrate.ts'
import type { Outcome, Settled } from './messages.ts'
import type { WriterFiles } from './writer-files.ts'
import { probeWrite, type Write, type Writes } from './writes.ts'

type OpenFile = ReturnType<WriterFiles['open']>

/** Commits batches of writes in the thread, and explains failures. */
export class GroupCommit {
  readonly #files: WriterFiles
  readonly #migrations: Migration[]
  /** Milliseconds to wait for another process's lock. */
  readonly #lockTimeout: number

  constructor(files: WriterFiles, migrations: Migration[], lockTimeout: number) {
    this.#files = files
    this.#migrations = migrations
    this.#lockTimeout = lockTimeout
  }

  /** Skips the first writes of the batch, up to the number that was rejected. */
  commit(batch: Write[], rejected: number): Settled {
    if (rejected === 0) return this.#commit(batch)
    const skipped = batch.slice(0, rejected).map(() => ({ failure: { code: 'SQLITE_INTERRUPT', message: 'rejected' } }))
    const { outcomes, ...reply } = this.#commit(batch.slice(rejected))
    return { ...reply, outcomes: [...skipped, ...outcomes] }
  }

  /** Checks after the commit that the files are still in their places. If not, the whole batch fails. */
  #commit(batch: Write[]): Settled {
    try {
      const file = this.#files.open()
      const { outcomes, times } = this.#commitInPlace(file, batch)
      const explained = outcomes.map((outcome) =>
        'failure' in outcome ? { failure: this.#explain(file, outcome.failure) } : outcome,
      )
      file.confirmCommit()
      const { log } = file.statements
      log.publishReadMark()
      const probe = log.checkpointFailure && { failure: log.checkpointFailure }
      return { outcomes: explained.map((outcome, i) => (batch[i]?.[0] === probeWrite && probe) || outcome), times }
    } catch (error) {
      const failure = findFullDisk(this.#files.path, toFailure(error))
      return { outcomes: batch.map(() => ({ failure })), release: this.#files.leave(error) }
    }
  }

  #commitInPlace(file: OpenFile, batch: Write[]): Settled {
    const attempt = () =>
      commitTogether(file.connection, file.statements.writes, batch, this.#lockTimeout, () => file.refuseChange())
    try {
      return attempt()
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      // Throws unless the change is harmless, such as a checkpoint of another process.
      file.check()
      return attempt()
    }
  }

  /** A violated constraint may be one that another release has added. */
  #explain(file: OpenFile, failure: Failure): Failure {
    try {
      if (violatesConstraint(failure) && !isUpToDate(readJournal(file.connection), this.#migrations)) {
        return { code: 'SQLITE_SCHEMA', message: otherRelease }
      }
      return findFullDisk(this.#files.path, failure)
    } catch {
      // The rest of the batch is committed and must not fail because of this.
      return failure
    }
  }

  /** Returns what the event loop must learn about the checkpoint, if there is anything. */
  checkpoint(): Settled | undefined {
    try {
      const warning = this.#files.checkpoint()
      return warning === undefined ? undefined : { outcomes: [], warning }
    } catch (error) {
      const release = this.#files.leave(error)
      return release && { outcomes: [], release }
    }
  }
}

/**
 * Runs the writes in one transaction with one fsync, and returns their outcomes in order once the transaction is on disk.
 * A write that violates a constraint fails alone. A failure of the database or of the commit rolls back and fails all.
 *
 * @param lockTimeout milliseconds to wait for another process's lock.
 * @param onBegin called when the transaction has its lock.
 * @throws {FileError} if `onBegin` does. Nothing is written then.
 */
export function commitTogether(
  connection: Database.Database,
  writes: Writes,
  batch: Write[],
  lockTimeout = 0,
  onBegin: () => void = () => {},
): Settled {
  const startedAt = performance.now()
  let committingAt = startedAt
  const commit = connection.transaction(() => {
    onBegin()
    const outcomes = batch.map((write) => perform(writes, write))
    committingAt = performance.now()
    return outcomes
  })
  try {
    const outcomes = retryWhileBusy(lockTimeout, () => commit.immediate())
    return { outcomes, times: { startedAt, committingAt, committedAt: performance.now() } }
  } catch (error) {
    if (error instanceof FileError) throw error
    return { outcomes: batch.map(() => ({ failure: toFailure(error) })) }
  }
}

function perform(writes: Writes, [name, ...args]: Write): Outcome {
  try {
    const write = writes.get(name)
    if (!write) throw new Error(`There is no write ${name}.`)
    return { value: write(...args) }
  } catch (error) {
    const failure = toFailure(error)
    if (concernsDatabase(failure)) throw error
    return { failure }
  }
}
