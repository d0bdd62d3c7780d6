import type Database from 'better-sqlite3'
import { OtherRelease } from '../../collection/errors.ts'
import type { Loaded } from '../../database/loaded.ts'
import { isUpToDate } from '../../database/migrations.ts'
import type { SqliteCollection } from '../collection.ts'
import { orClose, retryWhileBusy } from '../file/connection.ts'
import { FilesDamaged } from '../file/damage.ts'
import { findFullDisk } from '../file/diagnosis.ts'
import { concernsDatabase, type Failure, toFailure, violatesConstraint } from '../file/failure.ts'
import { OpenFile } from '../file/open-file.ts'
import { readJournal } from '../migrate.ts'
import { Checkpoints } from './checkpoints.ts'
import type { Outcome, Settled, WriterData } from './writes.ts'
import { prepareWrites, probeWrite, type Write, type Writes } from './writes.ts'

interface Opened {
  file: OpenFile
  commitTogether: CommitTogether
  checkpoints: Checkpoints
}

/** Commits batches of writes in the thread, and explains failures. The first batch opens the database. */
export class Committer {
  readonly #data: WriterData
  readonly #loaded: Loaded<SqliteCollection>
  #opened: Opened | undefined

  constructor(data: WriterData, loaded: Loaded<SqliteCollection>) {
    this.#data = data
    this.#loaded = loaded
  }

  #open(): Opened {
    const { path, identities, historyDays } = this.#data
    const file = new OpenFile(path, { readonly: false, identities })
    const { connection } = file
    return orClose(file, () => {
      const writes = prepareWrites(connection, this.#loaded.collections, historyDays)
      return { file, commitTogether: prepareCommit(connection, writes), checkpoints: new Checkpoints(file) }
    })
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
      this.#opened ??= this.#open()
      const { file, commitTogether, checkpoints } = this.#opened
      const { outcomes, times } = commitTogether(batch, this.#data.lockTimeout, () => file.refuseLostFile())
      const explained = outcomes.map((outcome) =>
        'failure' in outcome ? { failure: this.#explain(file.connection, outcome.failure) } : outcome,
      )
      file.refuseDamage()
      checkpoints.publishReadMark()
      const probe = checkpoints.failure && { failure: checkpoints.failure }
      return { outcomes: explained.map((outcome, i) => (batch[i]?.[0] === probeWrite && probe) || outcome), times }
    } catch (error) {
      const failure = findFullDisk(this.#data.path, toFailure(error))
      return { outcomes: batch.map(() => ({ failure })) }
    }
  }

  /** A violated constraint may be one that another release has added. */
  #explain(connection: Database.Database, failure: Failure): Failure {
    try {
      if (violatesConstraint(failure) && !isUpToDate(readJournal(connection), this.#loaded.migrations))
        return toFailure(new OtherRelease())
      return findFullDisk(this.#data.path, failure)
    } catch {
      // The rest of the batch is committed and must not fail because of this.
      return failure
    }
  }

  /** Checkpoints the log if it is long enough. Returns a warning for the operator, if there is a new one. */
  checkpoint(): string | undefined {
    try {
      return this.#opened?.checkpoints.run()
    } catch {
      // The next commit reports it.
      return undefined
    }
  }

  /** Saves a log that the next start would not find. */
  close(): void {
    try {
      this.#opened?.file.saveLostLog()
    } catch {
      // The event loop makes a copy then.
    }
    this.#opened?.file.close()
  }
}

type CommitTogether = ReturnType<typeof prepareCommit>

/**
 * Makes the function that runs writes in one transaction with one fsync, and returns their outcomes once it is on disk. A
 * write that violates a constraint fails alone: if the commit finds it, each write gets a transaction of its own. Another
 * failure of the database or of the commit rolls back and fails all. The function takes the milliseconds to wait for another
 * process's lock, and what it calls when it has the lock: if that throws {@link FilesDamaged}, so does the function, and
 * nothing is written.
 */
export function prepareCommit(connection: Database.Database, writes: Writes) {
  const commit = connection.transaction((batch: Write[], onBegin: () => void) => {
    onBegin()
    return { outcomes: batch.map((write) => perform(writes, write)), committingAt: performance.now() }
  })
  return function commitTogether(batch: Write[], lockTimeout = 0, onBegin: () => void = () => {}): Settled {
    const startedAt = performance.now()
    try {
      const { outcomes, committingAt } = retryWhileBusy(lockTimeout, () => commit.immediate(batch, onBegin))
      return { outcomes, times: { startedAt, committingAt, committedAt: performance.now() } }
    } catch (error) {
      if (error instanceof FilesDamaged) throw error
      const failure = toFailure(error)
      // A deferred constraint is checked by the commit, which does not say whose write violates it.
      const isOfOne = violatesConstraint(failure) && batch.length > 1
      return {
        outcomes: batch.flatMap((write) =>
          isOfOne ? commitTogether([write], lockTimeout, onBegin).outcomes : { failure },
        ),
      }
    }
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
