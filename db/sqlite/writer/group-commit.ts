import { isUpToDate, type Migration, otherRelease } from '../../migrations.ts'
import type { TransactionTimes } from '../../store.ts'
import { findFullDisk } from '../diagnosis/diagnosis.ts'
import { type Failure, toFailure, violatesConstraint } from '../file/failure.ts'
import { FileError } from '../file/file-state.ts'
import { readJournal } from '../migrate.ts'
import type { Settled } from './messages.ts'
import { commitTogether, type Outcome } from './transaction.ts'
import type { WriterFiles } from './writer-files.ts'
import { probeWrite, type Write } from './writes.ts'

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
      let times: TransactionTimes | undefined
      const file = this.#files.open()
      const outcomes = this.#commitInPlace(file, batch, (committed) => {
        times = committed
      }).map((outcome) => ('failure' in outcome ? { failure: this.#explain(file, outcome.failure) } : outcome))
      file.confirmCommit()
      const { log } = file.statements
      log.publishReadMark()
      const probe = log.checkpointFailure && { failure: log.checkpointFailure }
      return { outcomes: outcomes.map((outcome, i) => (batch[i]?.[0] === probeWrite && probe) || outcome), times }
    } catch (error) {
      const failure = findFullDisk(this.#files.path, toFailure(error))
      return { outcomes: batch.map(() => ({ failure })), release: this.#files.leave(error) }
    }
  }

  #commitInPlace(file: OpenFile, batch: Write[], onCommitted: (times: TransactionTimes) => void): Outcome[] {
    const options = { lockTimeout: this.#lockTimeout, onBegin: () => file.refuseChange(), onCommitted }
    const attempt = () => commitTogether(file.connection, file.statements.writes, batch, options)
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
