import type Database from 'better-sqlite3'
import { retryWhileBusy } from '../file/connection.ts'
import { concernsDatabase, type Failure, toFailure } from '../file/failure.ts'
import { FilesChanged } from '../recovery/open-file.ts'
import type { Write, Writes } from './writes.ts'

export type Outcome = { value: unknown } | { failure: Failure }

interface TransactionEvents {
  /** Called when the transaction has its lock. */
  onBegin?: () => void
  /** Called before the COMMIT. */
  onCommit?: () => void
  onCommitted?: () => void
}

/**
 * Runs the writes in one transaction with one fsync, and returns their outcomes in order once the transaction is on disk.
 * A write that violates a constraint fails alone. A failure of the database or of the commit rolls back and fails all.
 *
 * @param lockTimeout milliseconds to wait for another process's lock.
 * @throws {FilesChanged} if `onBegin` does. Nothing is written then.
 */
export function commitTogether(
  connection: Database.Database,
  writes: Writes,
  batch: Write[],
  lockTimeout = 0,
  { onBegin, onCommit, onCommitted }: TransactionEvents = {},
): Outcome[] {
  const commit = connection.transaction(() => {
    onBegin?.()
    const outcomes = batch.map((write) => perform(writes, write))
    onCommit?.()
    return outcomes
  })
  try {
    const outcomes = retryWhileBusy(lockTimeout, () => commit.immediate())
    onCommitted?.()
    return outcomes
  } catch (error) {
    if (error instanceof FilesChanged) throw error
    return batch.map(() => ({ failure: toFailure(error) }))
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
