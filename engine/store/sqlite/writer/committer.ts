import type Database from 'better-sqlite3'
import { OtherRelease } from '../../collection/errors.ts'
import type { Loaded } from '../../database/loaded.ts'
import { isUpToDate } from '../../database/migrations.ts'
import type { SqliteCollection } from '../collection.ts'
import { orClose, retryWhileBusy } from '../file/connection.ts'
import { findFullDisk } from '../file/diagnosis.ts'
import { concernsDatabase, type Failure, FilesDamaged, toFailure, violatesConstraint } from '../file/failure.ts'
import { openFile } from '../file/open-file.ts'
import { readJournal } from '../migrate.ts'
import { prepareCheckpoints } from './checkpoints.ts'
import type { Settled, WriteOutcome, WriterData } from './writes.ts'
import { prepareWrites, probeWrite, type Write, type Writes } from './writes.ts'

/** Commits batches of writes in the thread, and explains failures. The first batch opens the database. */
export function createCommitter(
  { path, identities, historyDays, lockTimeout }: WriterData,
  { collections, migrations }: Loaded<SqliteCollection>,
) {
  let opened: ReturnType<typeof open> | undefined

  function open() {
    const file = openFile(path, { readonly: false, expected: identities })
    const { connection } = file
    return orClose(file, () => {
      const commitTogether = prepareCommit(connection, prepareWrites(connection, collections, historyDays))
      return { file, commitTogether, checkpoints: prepareCheckpoints(file) }
    })
  }

  /** Checks after the commit that the files are still in their places. If not, the whole batch fails. */
  function commitAll(batch: Write[]): Settled {
    try {
      opened ??= open()
      const { file, commitTogether, checkpoints } = opened
      const { outcomes, times } = commitTogether(batch, lockTimeout, () => file.refuseLostFile())
      const explained = outcomes.map((outcome) =>
        'failure' in outcome ? { failure: explain(file.connection, outcome.failure) } : outcome,
      )
      file.refuseDamage()
      checkpoints.publishReadMark()
      const probe = checkpoints.failure && { failure: checkpoints.failure }
      return { outcomes: explained.map((outcome, i) => (batch[i]?.[0] === probeWrite && probe) || outcome), times }
    } catch (error) {
      const failure = findFullDisk(path, toFailure(error))
      return { outcomes: batch.map(() => ({ failure })) }
    }
  }

  /** A violated constraint may be one that another release has added. */
  function explain(connection: Database.Database, failure: Failure): Failure {
    try {
      if (violatesConstraint(failure) && !isUpToDate(readJournal(connection), migrations))
        return toFailure(new OtherRelease())
      return findFullDisk(path, failure)
    } catch {
      // The rest of the batch is committed and must not fail because of this.
      return failure
    }
  }

  return {
    /** Skips the first writes of the batch, up to the number that was rejected. */
    commit(batch: Write[], rejected: number): Settled {
      if (rejected === 0) return commitAll(batch)
      const failure: Failure = { kind: 'other', code: 'SQLITE_INTERRUPT', message: 'rejected' }
      const skipped = batch.slice(0, rejected).map(() => ({ failure }))
      const { outcomes, ...reply } = commitAll(batch.slice(rejected))
      return { ...reply, outcomes: [...skipped, ...outcomes] }
    },

    /** Checkpoints the log if it is long enough. Returns a warning for the operator, if there is a new one. */
    checkpoint(): string | undefined {
      try {
        return opened?.checkpoints.run()
      } catch {
        // The next commit reports it.
        return undefined
      }
    },

    /** Saves a log that the next start would not find. */
    close(): void {
      try {
        opened?.file.saveLostLog()
      } catch {
        // The event loop makes a copy then.
      }
      opened?.file.close()
    },
  }
}

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
      if (!violatesConstraint(failure) || batch.length === 1) return { outcomes: batch.map(() => ({ failure })) }
      const each = batch.map((write) => commitTogether([write], lockTimeout, onBegin))
      const last = each.findLast(({ times }) => times)?.times
      return { outcomes: each.flatMap(({ outcomes }) => outcomes), ...(last && { times: { ...last, startedAt } }) }
    }
  }
}

function perform(writes: Writes, [name, ...args]: Write): WriteOutcome {
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
