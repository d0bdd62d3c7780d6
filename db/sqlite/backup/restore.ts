import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { isBusy, isCorrupt, toFailure } from '../failure.ts'
import { identify, makeFolder, realPathOf } from '../files.ts'
import { readHeader } from '../header.ts'
import { attempt, CopyFailed } from './copy-failure.ts'
import { isInUse } from './in-use.ts'
import { keepBeside } from './keep.ts'
import { type OnProgress, withPartialCopy } from './partial.ts'

interface RestoreRequest {
  /** The backup, which is only read. */
  file: string
  database: string
  /** Ends the name of what was there before: `petstore.db.before-restore-<stamp>`. */
  stamp: string
  onProgress?: OnProgress | undefined
}

/**
 * Puts a checked copy of a backup in the place of the database, and keeps what was there beside it. A process that is
 * killed meanwhile leaves the one or the other in place, whole.
 *
 * @returns the path of the database that was kept, if there was one.
 * @throws {CopyFailed}, having changed nothing.
 */
export async function restoreDatabase(request: RestoreRequest): Promise<string | undefined> {
  const { file, database, stamp, onProgress } = request
  // A rename would replace a link.
  const path = attempt('target', () => realPathOf(database))
  const [folder, kept] = [dirname(path), `${path}.before-restore-${stamp}`]
  attempt('source', () => readHeader(file))
  if (existsSync(path)) refuseCurrent(path, file)
  attempt('target', () => makeFolder(folder))
  let isKept = false
  await withPartialCopy({ source: file, isSourceReadonly: true, folder, onProgress }, (partial) => {
    isKept = attempt('target', () => replace(path, partial, kept))
  })
  return isKept ? kept : undefined
}

/** What can be known before the work begins. */
function refuseCurrent(path: string, file: string): void {
  if (identify(path) === identify(file))
    throw new CopyFailed('source', 'it is the database itself; name a backup of it')
  const { isSqlite, isOurs } = attempt('target', () => readHeader(path))
  if (isSqlite && !isOurs) {
    throw new CopyFailed('target', 'it belongs to another program; name another file in DATABASE_URL')
  }
  if (attempt('target', () => isInUse(path))) throw inUse()
}

function inUse(): CopyFailed {
  return new CopyFailed('target', 'a process has it open; stop the service and try again')
}

/** Returns whether there was anything to keep. */
function replace(path: string, partial: string, kept: string): boolean {
  const lock = existsSync(path) ? lockWhole(path) : refuseOrphanedLog(path)
  try {
    removeUnfinished(path)
    const isKept = keepBeside(path, kept)
    // Windows does not rename over an open file.
    if (process.platform === 'win32') lock?.close()
    renameSync(partial, path)
    return isKept
  } catch (error) {
    // Its log is in the database by now, so the second name is all there is to undo.
    if (lock) removeUnfinished(path)
    throw error
  } finally {
    lock?.close()
  }
}

/**
 * Moves the log into the database, which makes it one file, and keeps every other process out until the connection is
 * closed. For a database that is too damaged for this, there is no lock.
 */
function lockWhole(path: string): Database.Database | undefined {
  const connection = new Database(path, { timeout: 0 })
  try {
    // This fails as busy while any other connection is open, but does not hold the lock.
    connection.pragma('journal_mode = DELETE')
    connection.exec('BEGIN EXCLUSIVE')
    if (connection.pragma('journal_mode', { simple: true }) === 'delete') return connection
    throw inUse()
  } catch (error) {
    connection.close()
    const failure = toFailure(error)
    if (isBusy(failure) || (isCorrupt(failure) && isInUse(path))) throw inUse()
    if (isCorrupt(failure)) return undefined
    throw error
  }
}

/** A service whose file was deleted under it still has its log, and would delete that of the restored database. */
function refuseOrphanedLog(path: string): undefined {
  if (existsSync(`${path}-shm`)) {
    throw new CopyFailed(
      'target',
      `it is gone, but a process may still have it open; stop the service, delete ${path}-shm and try again`,
    )
  }
}

/** A restore that did not reach its end leaves the database with a second name, under which it must not change. */
function removeUnfinished(path: string): void {
  if (!existsSync(path)) return
  for (const name of readdirSync(dirname(path))) {
    const other = join(dirname(path), name)
    if (name.startsWith(`${basename(path)}.before-restore-`) && identify(path) === identify(other)) rmSync(other)
  }
}
