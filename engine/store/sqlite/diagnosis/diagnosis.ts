import { once } from 'node:events'
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { reasons, UnusableDatabase } from '../../errors.ts'
import { checkPagesOf, type PageCheck } from '../file/connection.ts'
import {
  concernsDatabase,
  type Failure,
  isCorrupt,
  mayBeReadError,
  reasonOf,
  toFailure,
  violatesConstraint,
} from '../file/failure.ts'
import { realPathOf } from '../file/files.ts'
import { startThread } from '../thread.ts'

/** Bytes. SQLite extends the index of the log (`-shm`) by half of it. */
const minRoom = 64 * 1024
/** Milliseconds for which requests wait for a check of the pages. */
const maxWait = 2_000
/** Milliseconds for which the result of a check counts, and how often longer than the check itself took. */
const minValidity = 10_000
const validityFactor = 20

/**
 * Converts what the file system or SQLite threw while a database was opened or copied.
 *
 * @param database its path.
 * @throws the error itself if it comes from neither, because it is then a bug.
 */
export function unusable(database: string, error: unknown): UnusableDatabase {
  if (error instanceof UnusableDatabase) return error
  const failure = toFailure(error)
  if (!concernsDatabase(failure) && !violatesConstraint(failure)) throw error
  const reason = reasonOf(findFullDisk(database, verify(database, failure)))
  return new UnusableDatabase(database, reason, { cause: error })
}

/** Runs a step. Errors of the file system and of SQLite become an {@link UnusableDatabase}. */
export function attempt<T>(database: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw unusable(database, error)
  }
}

/** SQLite names a full disk only if a write fails, but not if it cannot create or extend the log or its index. */
export function findFullDisk(database: string, failure: Failure): Failure {
  if (!/^SQLITE_(IOERR|CANTOPEN)/.test(failure.code) || !isDiskFull(database)) return failure
  return { code: 'SQLITE_FULL', message: failure.message }
}

export function isDiskFull(database: string): boolean {
  try {
    const { bavail, bsize, blocks, files, ffree } = statfsSync(dirname(realPathOf(database)))
    // Some file systems count neither blocks nor inodes.
    return (blocks > 0 && bavail * bsize < minRoom) || (files > 0 && ffree === 0)
  } catch {
    return false
  }
}

/** Checks all pages to learn whether the database is corrupt, or whether the disk failed to read a page. */
function verify(database: string, failure: Failure): Failure {
  if (!mayBeReadError(failure)) return failure
  try {
    checkPagesOf(database, 'quick_check')
  } catch (error) {
    if (isFault(error)) return failure
  }
  return asReadError(failure)
}

/** Whether a check of all pages has found a fault in their content. */
function isFault(error: unknown): boolean {
  if (error instanceof UnusableDatabase) return error.reason.startsWith(reasons.corrupt)
  return isCorrupt(toFailure(error))
}

function asReadError({ message }: Failure): Failure {
  return { code: 'SQLITE_IOERR_CORRUPTFS', message }
}

/**
 * Verifies corruption while the service runs. A check of all pages takes about a millisecond per MiB, so it runs in a
 * thread, serves all requests that fail meanwhile, and counts for a while.
 */
export class CorruptionCheck {
  readonly #path: string
  #latest: Promise<boolean> | undefined
  #validUntil = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Until the check has found a fault, the failure counts as one of the disk, which may be transient. */
  async verify(failure: Failure): Promise<Failure> {
    if (!mayBeReadError(failure)) return failure
    const isVerified = await Promise.race([this.#findFault(), wait(maxWait, false, { ref: false })])
    return isVerified ? failure : asReadError(failure)
  }

  #findFault(): Promise<boolean> {
    if (!this.#latest || performance.now() >= this.#validUntil) {
      this.#validUntil = Number.POSITIVE_INFINITY
      this.#latest = this.#check()
    }
    return this.#latest
  }

  async #check(): Promise<boolean> {
    const start = performance.now()
    try {
      await checkPagesInThread(this.#path, 'quick_check')
      return false
    } catch (error) {
      return isFault(error)
    } finally {
      const end = performance.now()
      this.#validUntil = end + Math.max(minValidity, validityFactor * (end - start))
    }
  }
}

/** The `workerData` of the thread. */
export interface PageCheckData {
  path: string
  check: PageCheck
}

/** Calls {@link checkPages} in a thread, because it is one long call into SQLite. The process does not wait for its end. */
export async function checkPagesInThread(path: string, check: PageCheck): Promise<void> {
  const data: PageCheckData = { path, check }
  try {
    await once(startThread(new URL('page-check-thread.ts', import.meta.url), data), 'exit')
  } catch (error) {
    // An error from a thread keeps its properties, but not its class.
    if (error instanceof Error && 'reason' in error) throw new UnusableDatabase(path, String(error.reason))
    throw error
  }
}
