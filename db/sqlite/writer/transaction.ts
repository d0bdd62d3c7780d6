import type Database from 'better-sqlite3'
import type { TransactionTimes } from '../../store.ts'
import { retryWhileBusy } from '../file/connection.ts'
import { concernsDatabase, type Failure, toFailure } from '../file/failure.ts'
import { FileError } from '../file/file-state.ts'
import type { Write, Writes } from './writes.ts'

export type Outcome = { value: unknown } | { failure: Failure }

interface TransactionOptions {
  /** Milliseconds to wait for another process's lock. */
  lockTimeout?: number
  /** Called when the transaction has its lock. */
  onBegin?: () => void
  onCommitted?: (times: TransactionTimes) => void
}

/**
 * Runs the writes in one transaction with one fsync, and returns their outcomes in order once the transaction is on disk.
 * A write that violates a constraint fails alone. A failure of the database or of the commit rolls back and fails all.
 *
 * @throws {FileError} if `onBegin` does. Nothing is written then.
 */
export function commitTogether(
  connection: Database.Database,
  writes: Writes,
  batch: Write[],
  { lockTimeout = 0, onBegin, onCommitted }: TransactionOptions = {},
): Outcome[] {
  const startedAt = performance.now()
  let committingAt = startedAt
  const commit = connection.transaction(() => {
    onBegin?.()
    const outcomes = batch.map((write) => perform(writes, write))
    committingAt = performance.now()
    return outcomes
  })
  try {
    const outcomes = retryWhileBusy(lockTimeout, () => commit.immediate())
    onCommitted?.({ startedAt, committingAt, committedAt: performance.now() })
    return outcomes
  } catch (error) {
    if (error instanceof FileError) throw error
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
