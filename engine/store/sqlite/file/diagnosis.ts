import { dirname } from 'node:path'
import { UnusableDatabase } from '../../collection/errors.ts'
import { concernsDatabase, type Failure, reasonOf, toFailure, violatesConstraint } from './failure.ts'
import { realPathOf, roomFor } from './files.ts'

/** Bytes. SQLite extends the index of the log (`-shm`) by half of it. */
const minRoom = 64 * 1024

/** Converts what the file system or SQLite threw. Throws any other error itself, because it is then a bug. */
export function unusable(database: string, error: unknown): UnusableDatabase {
  if (error instanceof UnusableDatabase) return error
  const failure = toFailure(error)
  if (!concernsDatabase(failure) && !violatesConstraint(failure)) throw error
  const reason = reasonOf(findFullDisk(database, failure))
  return new UnusableDatabase(database, reason, { cause: error })
}

/** Runs a step, whose errors of the file system and of SQLite become an {@link UnusableDatabase}. */
export function orUnusable<T>(database: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw unusable(database, error)
  }
}

/** SQLite names a full disk only if a write fails, but not if it cannot create or extend the log or its index. */
export function findFullDisk(database: string, failure: Failure): Failure {
  if (!/^SQLITE_(IOERR|CANTOPEN)/.test(failure.code) || !isDiskFull(database)) return failure
  return { kind: 'other', code: 'SQLITE_FULL', message: failure.message }
}

export function isDiskFull(database: string): boolean {
  try {
    const { bytes, files } = roomFor(dirname(realPathOf(database)))
    return bytes < minRoom || files === 0
  } catch {
    return false
  }
}
