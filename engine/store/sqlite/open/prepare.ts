import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type Database from 'better-sqlite3'
import type { Loaded } from '../../collection/entity.ts'
import { reasons, UnusableDatabase } from '../../errors.ts'
import { type AppliedMigration, type PrepareOptions, pendingMigrations, refuseOtherRelease } from '../../migrations.ts'
import { rescuedMark } from '../backup/inventory.ts'
import type { SqliteCollection } from '../engine.ts'
import { checkPages, connect, connectToRead, databaseSize, orClose, retryWhileBusy, using } from '../file/connection.ts'
import { attempt, isDiskFull } from '../file/diagnosis.ts'
import { toFailure } from '../file/failure.ts'
import { makeFile, makeFolder, realPathOf, sizeOf } from '../file/files.ts'
import { applicationId, readHeader, refuseForeignFile, refuseMountedFile, refuseNonFile } from '../file/header.ts'
import { ownershipOf } from '../file/ownership.ts'
import { findMissingPart, migrate, readApplied } from '../migrate.ts'

/** Reading every page takes one to two milliseconds per MiB, and a start must not take longer than a second. */
const maxCheckedSize = 256 * 1024 * 1024
/** Milliseconds to wait for other processes that start at the same time. */
const lockTimeout = 10_000

/**
 * Checks the file, and creates or migrates the database if necessary. A file that is refused is not changed.
 *
 * @throws {UnusableDatabase}
 */
export function prepareDatabase(path: string, loaded: Loaded<SqliteCollection>, options: PrepareOptions = {}): void {
  const { create = true, migrate = true, onMigrate, onWarning } = options
  attempt(path, () => {
    // SQLite names the log and the journal after this path.
    const realPath = realPathOf(path)
    refuseNonFile(path)
    refuseMountedFile(path, realPath)
    refuseOrphanedLog(path, realPath)
    if (create) createFile(realPath)
    const isNew = isBlank(path, realPath)
    if (!isNew) refuseForeignFile(path)
    else if (!create) throw new UnusableDatabase(path, reasons.empty)
    warnOfRescuedCopy(path, realPath, loaded.program, onWarning)
    const checkSchema: CheckSchema = (applied) => {
      if (migrate) pendingMigrations(applied, loaded.migrations, path)
      else refuseOtherRelease(applied, loaded, path)
    }
    const checked = sizeOf(path) > 0 ? checkBeforeWriting(path, realPath, checkSchema) : undefined
    // The last connection to close moves the log into the database, and deletes it and its index, unless it only reads. On a
    // full disk they must stay.
    if (!isDiskFull(path)) checked?.close()
    try {
      if (isNew || migrate) migrateFile(path, loaded, checkSchema, onMigrate)
    } finally {
      checked?.close()
    }
  })
}

/** Throws unless the migrations that were applied fit those of this release. */
type CheckSchema = (applied: AppliedMigration[]) => void

/**
 * SQLite would delete the log, and with it acknowledged writes. The log is checked first, because another process that
 * starts at the same moment fills the database before it creates the log.
 */
export function refuseOrphanedLog(path: string, realPath: string): void {
  const log = `${realPath}-wal`
  if (sizeOf(log) > 0 && sizeOf(path) === 0) {
    throw new UnusableDatabase(
      path,
      `it is missing, but its write-ahead log ${log} exists; put the database back beside it, or restore a backup`,
    )
  }
}

/** A process whose files were damaged has saved them, and the database at the path may lack what the copy has. */
function warnOfRescuedCopy(
  path: string,
  realPath: string,
  program: string,
  onWarning: PrepareOptions['onWarning'],
): void {
  const copy = rescuedCopiesOf(realPath).toSorted().at(-1)
  if (copy === undefined) return
  onWarning?.(
    `A process saved the database ${path} as ${copy} when its files were lost. Restore that file with "${program} restore", or move it to another folder.`,
  )
}

/** Nothing if this user may not list the folder. */
function rescuedCopiesOf(realPath: string): string[] {
  const [folder, start] = [dirname(realPath), basename(realPath) + rescuedMark]
  try {
    const names = readdirSync(folder).filter((name) => name.startsWith(start))
    return names.map((name) => join(folder, name))
  } catch {
    return []
  }
}

function createFile(realPath: string): void {
  if (existsSync(realPath)) return
  const ownership = ownershipOf(realPath)
  makeFolder(dirname(realPath), ownership)
  try {
    makeFile(realPath, ownership)
  } catch (error) {
    // Another process has created it meanwhile.
    if (toFailure(error).code !== 'EEXIST') throw error
  }
}

/**
 * Whether nothing is in the file yet. An interrupted first start may leave blank pages and a rollback journal, with which
 * SQLite then undoes it.
 */
export function isBlank(path: string, realPath: string): boolean {
  const { bytes } = readHeader(path)
  return bytes.length === 0 || (hasJournal(realPath) && bytes.every((byte) => byte === 0))
}

function hasJournal(realPath: string): boolean {
  return existsSync(`${realPath}-journal`)
}

/**
 * Checks the pages and the journal of migrations before the first write: a later refusal would come after SQLite has
 * moved the log into the file. The connection can write only if SQLite must first roll back an interrupted transaction, or
 * create a log.
 */
function checkBeforeWriting(path: string, realPath: string, checkSchema: CheckSchema): Database.Database {
  const connection = hasJournal(realPath)
    ? connect(path, { busyTimeout: lockTimeout })
    : connectToRead(path, lockTimeout)
  return orClose(connection, () => {
    // Not the size of the file, because most pages may still be in the write-ahead log.
    if (databaseSize(connection) <= maxCheckedSize) checkPages(connection, 'quick_check')
    else connection.pragma('schema_version')
    checkJournal(connection, checkSchema)
    return connection
  })
}

/** A database that is being created has no journal yet. */
function checkJournal(connection: Database.Database, checkSchema: CheckSchema): void {
  const applied = readApplied(connection)
  if (applied.length > 0) checkSchema(applied)
}

/** Checks the schema again, because another process may have created the database meanwhile. */
function migrateFile(
  path: string,
  loaded: Loaded<SqliteCollection>,
  checkSchema: CheckSchema,
  onMigrate: PrepareOptions['onMigrate'],
): void {
  using(connect(path, { busyTimeout: lockTimeout }), (connection) => {
    const claimAndCheckJournal = () => {
      claim(connection)
      checkJournal(connection, checkSchema)
    }
    const refuseMissingPart = () => {
      const missing = findMissingPart(connection, loaded)
      if (missing !== undefined) throw new UnusableDatabase(connection.name, missing)
    }
    const applied = migrate(connection, loaded.migrations, claimAndCheckJournal, refuseMissingPart)
    if (applied.length > 0) onMigrate?.(applied, applied.length === loaded.migrations.length)
    // SQLite ignores the busy timeout here.
    retryWhileBusy(lockTimeout, () => connection.pragma('journal_mode = WAL'))
  })
}

/** Writes the application id with the first migration and before WAL mode, so that it is always in the file's header. */
function claim(connection: Database.Database): void {
  const id = connection.pragma('application_id', { simple: true })
  if (id === BigInt(applicationId)) return
  const isEmpty = connection.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0n
  if (id !== 0n || !isEmpty) throw new UnusableDatabase(connection.name, reasons.foreign)
  connection.pragma(`application_id = ${applicationId}`)
}
