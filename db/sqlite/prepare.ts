import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import type Database from 'better-sqlite3'
import { pendingMigrations } from '../migrations.ts'
import { UnusableDatabase } from '../store.ts'
import { connect, databaseSize } from './connection.ts'
import { isBusy, isCorrupt, toFailure } from './failure.ts'
import { makeFolder } from './files.ts'
import { readHeader, refuseNonFile } from './header.ts'
import { giveIdentity } from './identity.ts'
import { checkPages } from './integrity.ts'
import { migrate, readJournal } from './migrate.ts'
import { readOwnMigrations } from './own-migrations.ts'
import { patiently } from './patience.ts'
import { realPathOf } from './real-path.ts'
import { applicationId } from './schema.ts'

/** Reading every page costs about a millisecond a MiB, and a start must not take longer than a second. */
const largestFileCheckedAtStart = 256 * 1024 * 1024
/** Bytes. SQLite reads a log that was left behind and moves it into the database, at some ten seconds per GiB. */
const largestLogWithoutWarning = 128 * 1024 * 1024
/** Long enough for a crowd of processes that start at once to take their turns. */
const patience = 10_000

interface PrepareOptions {
  create?: boolean
  /** Called with a sentence for the operator. */
  onWarning?: ((message: string) => void) | undefined
}

/**
 * Checks the file and brings its schema up to date. If the file is missing, it is created, unless `create` is false.
 * A file that is refused is left as it was.
 *
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export function prepareDatabase(given: string, { create = true, onWarning }: PrepareOptions = {}): void {
  try {
    const path = realPathOf(given)
    refuseNonFile(path)
    refuseOrphanedLog(path)
    if (create) createFile(path)
    refuseForeignFile(path)
    warnOfLargeLog(path, onWarning)
    if (sizeOf(path) > 0) checkBeforeWriting(path)
    bringUpToDate(path)
  } catch (error) {
    throw new UnusableDatabase(`The database ${given} cannot be used: ${reason(error)}.`, { cause: error })
  }
}

/**
 * SQLite would throw away the log, and with it what was acknowledged. The log is looked at first, since a process that
 * starts at the same moment fills the database before it.
 */
function refuseOrphanedLog(path: string): void {
  const log = `${path}-wal`
  if (sizeOf(log) > 0 && sizeOf(path) === 0) {
    throw new UnusableDatabase(
      `it is missing, but its write-ahead log ${log} is there: put the database back beside it, or restore a backup`,
    )
  }
}

function warnOfLargeLog(path: string, onWarning: PrepareOptions['onWarning']): void {
  const size = sizeOf(`${path}-wal`)
  if (size < largestLogWithoutWarning) return
  const mebibytes = Math.round(size / 2 ** 20)
  onWarning?.(
    `The write-ahead log has ${mebibytes} MiB. Unless another process has the database open, the log is moved into it first, at some ten seconds per GiB.`,
  )
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function createFile(path: string): void {
  makeFolder(dirname(path))
  closeSync(openSync(path, 'a', 0o600))
}

function refuseForeignFile(path: string): void {
  const { bytes, isSqlite, isOurs } = readHeader(path)
  if (isOurs || bytes.length === 0) return
  // A first start that was cut short may have left blank pages; SQLite undoes it with the journal it left, too.
  if (hasJournal(path) && bytes.every((byte) => byte === 0)) return
  throw new UnusableDatabase(isSqlite ? foreign : 'it is not an SQLite database; name another file in DATABASE_URL')
}

/** The rollback journal of a start that was cut short, or that is under way in another process. */
function hasJournal(path: string): boolean {
  return existsSync(`${path}-journal`)
}

const foreign = 'it is the SQLite database of another program; name another file in DATABASE_URL'

/** Looks without writing, unless SQLite must first undo what a start that was cut short left half done. */
function checkBeforeWriting(path: string): void {
  const connection = connect(path, { readonly: !hasJournal(path), busyTimeout: patience })
  try {
    checkIntegrity(connection)
    // A refusal later would come after the write-ahead log was moved into a file that is to be left as it was.
    const isMigrated = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get()
    if (isMigrated) pendingMigrations(readJournal(connection), readOwnMigrations())
  } finally {
    connection.close()
  }
}

function checkIntegrity(connection: Database.Database): void {
  // Not the size of the file: most pages may still be in the write-ahead log.
  if (databaseSize(connection) <= largestFileCheckedAtStart) checkPages(connection, 'quick_check', corrupt)
  else connection.pragma('schema_version')
}

const corrupt = 'it is corrupt; restore a backup'

function bringUpToDate(path: string): void {
  const connection = connect(path, { busyTimeout: patience })
  try {
    migrate(connection, readOwnMigrations(), () => claim(connection))
    switchToWal(connection)
  } finally {
    connection.close()
  }
}

/** The id is written with the first migration and before WAL, so that the file's first bytes always carry it. */
function claim(connection: Database.Database): void {
  const id = connection.pragma('application_id', { simple: true })
  if (id === BigInt(applicationId)) {
    if (connection.pragma('user_version', { simple: true }) === 0n) giveIdentity(connection)
    return
  }
  const isEmpty = connection.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0n
  if (id !== 0n || !isEmpty) throw new UnusableDatabase(foreign)
  connection.pragma(`application_id = ${applicationId}`)
  giveIdentity(connection)
}

/** SQLite does not wait for other connections here, whatever the busy timeout says. */
function switchToWal(connection: Database.Database): void {
  patiently(patience, () => connection.pragma('journal_mode = WAL'))
}

function reason(error: unknown): string {
  if (error instanceof UnusableDatabase) return error.message
  if (error instanceof Error && 'errno' in error && typeof error.errno === 'number') {
    if ('code' in error && error.code === 'ENOTDIR') return 'a part of its path is a file, not a folder; check the path'
    return `${getSystemErrorMessage(error.errno)}; check the path and its permissions`
  }
  const failure = toFailure(error)
  if (isBusy(failure)) return 'another process holds its lock; stop that process or try again'
  if (isCorrupt(failure)) return corrupt
  if (failure.code.startsWith('SQLITE_'))
    return `${failure.message}; check the disk and the permissions of the file and its folder`
  throw error
}
