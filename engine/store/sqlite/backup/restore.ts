import { copyFileSync, existsSync, fsyncSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type Database from 'better-sqlite3'
import { reasons, UnusableDatabase } from '../../collection/errors.ts'
import type { SqliteRelease } from '../../database/loaded.ts'
import { verifyChecksum } from '../file/checksum.ts'
import { lockDatabase } from '../file/connection.ts'
import { orUnusable } from '../file/diagnosis.ts'
import { isBusy, isCorrupt, toFailure } from '../file/failure.ts'
import { fileTimestamp, identify, link, makeFile, makeFolder, realPathOf, sizeOf, syncFolder } from '../file/files.ts'
import { readHeader, refuseCopyWithoutLog, refuseForeignFile } from '../file/header.ts'
import { type Ownership, ownershipOf } from '../file/ownership.ts'
import { type OnProgress, withSnapshot } from './snapshot.ts'

/**
 * Replaces a database by a checked copy of a backup, and keeps the old one beside it. If the process is killed meanwhile,
 * either the old or the new database is in place, whole.
 *
 * @param file the backup, which is only read.
 * @param options `force` accepts a copy without its log.
 * @returns the path of the old database, `shop.db.before-restore-<time>`, if there was one, and whether the backup had a
 * checksum, which it matched.
 * @throws {UnusableDatabase}, having changed nothing.
 */
export async function restoreDatabase(
  database: string,
  release: SqliteRelease,
  file: string,
  { force = false, onProgress }: { force?: boolean | undefined; onProgress?: OnProgress | undefined } = {},
) {
  // A rename would replace a symbolic link.
  const path = orUnusable(database, () => realPathOf(database))
  orUnusable(file, () => refuseForeignFile(file, release))
  if (identify(path) === identify(file))
    throw new UnusableDatabase(file, 'it is the database itself; choose a backup of it')
  const isVerified = await verifyChecksum(file)
  const kept = `${path}.before-restore-${fileTimestamp()}`
  const wasMissing = !existsSync(path)
  const ownership = orUnusable(database, () => ownershipOf(path))
  let isKept = false
  let lock = orUnusable(database, () => lockCurrent(path, release))
  try {
    const folder = dirname(path)
    orUnusable(database, () => makeFolder(folder, ownership))
    const request = { ...release, source: file, target: database, folder, ownership, onProgress }
    const refuse = async () => void (force || refuseCopyWithoutLog(file))
    await withSnapshot(request, refuse, (copy) => {
      // The service may have created a database meanwhile.
      if (wasMissing) lock = lockCurrent(path, release)
      try {
        removeUnfinished(path)
        if (lock) moveLogIn(lock)
        isKept = keepBeside(path, kept, ownership)
        renameSync(copy, path)
      } catch (error) {
        // The log is in the database by now, so only the second name has to be undone.
        if (lock) removeUnfinished(path)
        throw error
      }
    })
  } finally {
    lock?.close()
  }
  return { kept: isKept ? kept : undefined, isVerified }
}

/** Keeps other processes out. Returns `undefined` for a database that is missing, or too damaged for SQLite to lock it. */
function lockCurrent(path: string, release: SqliteRelease): Database.Database | undefined {
  // SQLite opens a log, and takes the lock, before it reads the first page of the database.
  const isLockable = existsSync(path) && sizeOf(`${path}-wal`) > 0
  try {
    if (existsSync(path)) {
      // A file that is not an SQLite database may be a damaged one.
      const { isSqlite, applicationId } = readHeader(path)
      if (isSqlite && applicationId !== release.applicationId) throw new UnusableDatabase(path, reasons.foreign)
      return lockDatabase(path)
    }
  } catch (error) {
    const failure = toFailure(error)
    if (isBusy(failure)) throw new UnusableDatabase(path, reasons.open)
    if (!isCorrupt(failure)) throw error
  }
  // A service that still has the old file open would delete the log of the new one.
  if (isLockable || !existsSync(`${path}-shm`)) return undefined
  const remedy = `stop the service, delete ${path}-shm and try again`
  throw new UnusableDatabase(path, `it is missing or damaged, but a process may have it open; ${remedy}`)
}

/** Makes the database one file. If its tables cannot be read, SQLite moves the log when the connection is closed. */
function moveLogIn(lock: Database.Database): void {
  try {
    lock.pragma('journal_mode = DELETE')
    // Exclusive locking mode keeps the rollback journal of the last change.
    lock.pragma('locking_mode = NORMAL')
    lock.exec('BEGIN EXCLUSIVE; COMMIT; BEGIN EXCLUSIVE')
  } catch (error) {
    if (!isCorrupt(toFailure(error))) throw error
    lock.close()
  }
}

/**
 * Gives the database and its log, if it has one, a second name. Then removes the first name of the log, because SQLite
 * would apply the log to the new database. At each moment, one of the names has all of it.
 */
function keepBeside(path: string, kept: string, ownership: Ownership): boolean {
  const present = ['', '-wal', '-journal'].filter((suffix) => existsSync(path + suffix))
  for (const suffix of present) {
    const [from, to] = [path + suffix, kept + suffix]
    link(from, to, () => {
      makeFile(to, ownership, (file) => {
        copyFileSync(from, to)
        fsyncSync(file)
      })
    })
  }
  syncFolder(dirname(path))
  for (const suffix of ['-wal', '-journal', '-shm']) rmSync(path + suffix, { force: true })
  syncFolder(dirname(path))
  return present.length > 0
}

/** A restore that did not finish left a second name of the database, under which it would change. */
function removeUnfinished(path: string): void {
  if (!existsSync(path)) return
  for (const name of readdirSync(dirname(path))) {
    const other = join(dirname(path), name)
    if (name.startsWith(`${basename(path)}.before-restore-`) && identify(path) === identify(other)) rmSync(other)
  }
}
