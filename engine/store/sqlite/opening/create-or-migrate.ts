import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import { LostDatabase, reasons, UnusableDatabase } from '../../collection/errors.ts'
import { maxSwept } from '../../collection/history.ts'
import type { Loaded, SqliteRelease } from '../../database/loaded.ts'
import { type MigrateOptions, pendingMigrations, refuseOtherRelease } from '../../database/migrations.ts'
import { type SqliteCollection, tablesOf } from '../collection.ts'
import { checkPages, connect, connectToRead, databaseSize, retryWhileBusy } from '../file/connection.ts'
import { isDiskFull, orUnusable } from '../file/diagnosis.ts'
import { toFailure } from '../file/failure.ts'
import { identify, makeFile, makeFolder, realPathOf, sizeOf } from '../file/files.ts'
import { readHeader, refuseForeignFile, refuseMountedFile, refuseNonFile } from '../file/header.ts'
import { ownershipOf } from '../file/ownership.ts'
import { prepareSweep } from '../history.ts'
import { findMissingPart, hasTable, migrate, readApplied } from '../migrate.ts'
import { FilesLost, lostWhileOpening } from '../rescue/rescue.ts'
import { describeRescuedCopies, refuseRescuedCopies } from '../rescue/rescued-copies.ts'

/** Reading every page takes one to two milliseconds per MiB, and a start must not take longer than a second. */
const maxCheckedSize = 256 * 1024 * 1024
/** Milliseconds to wait for other processes that start at the same time. */
const lockTimeout = 10_000

interface FileOptions extends MigrateOptions {
  path: string
  loaded: Loaded<SqliteCollection>
}

/** Creates or migrates the database if necessary. A refused file is not changed. Throws UnusableDatabase or FilesLost. */
export function createOrMigrate(options: FileOptions): void {
  const { path, migrate = true } = options
  const isNew = orUnusable(path, () => findOrCreateFile(options))
  const identities = { database: identify(path), log: identify(`${realPathOf(path)}-wal`) }
  const isInPlace = () => identities.database !== undefined && identify(path) === identities.database
  const connections: Database.Database[] = []
  const open = (connection: Database.Database) => {
    connections.push(connection)
    return connection
  }
  // Kept for later: if the files are lost meanwhile, that is the reason, and a rescue comes first.
  let failure: { error: unknown } | undefined
  try {
    orUnusable(path, () => {
      const checked = sizeOf(path) > 0 ? open(connectToCheck(path)) : undefined
      // Before the first write: a later refusal would come after SQLite has moved the log into the file.
      if (checked) {
        // Not the size of the file, because most pages may still be in the write-ahead log.
        if (databaseSize(checked) <= maxCheckedSize) checkPages(checked, 'quick_check')
        else checked.pragma('schema_version')
        checkSchema(checked, options)
      }
      if (!isNew && !migrate) return
      const connection = open(connect(path, { busyTimeout: lockTimeout }))
      // The last connection to close moves the log into the database, and deletes it and its index, unless it only reads. On a
      // full disk they must stay.
      if (isInPlace() && !isDiskFull(path)) checked?.close()
      migrateFile(connection, options)
    })
  } catch (error) {
    failure = { error }
  }
  const holder = connections.find((connection) => connection.open)
  if (!isNew && !isInPlace()) {
    if (holder) throw new FilesLost({ connection: holder, identities, isSaved: isInPlace })
    throw new UnusableDatabase(path, `${lostWhileOpening}; restore a backup`)
  }
  for (const connection of connections) connection.close()
  if (failure) throw failure.error
}

/** Returns whether the database is new. */
function findOrCreateFile({ path, loaded, create = true, onWarning }: FileOptions): boolean {
  const { program, applicationId } = loaded
  // SQLite names the log and the journal after this path.
  const realPath = realPathOf(path)
  refuseNonFile(path)
  refuseMountedFile(path, realPath)
  refuseOrphanedLog(path, realPath)
  if (!existsSync(path) || isBlank(path, realPath)) refuseRescuedCopies(path, program)
  if (create) createFile(realPath)
  else if (!existsSync(path)) throw new UnusableDatabase(path, reasons.missing)
  const isNew = isBlank(path, realPath)
  if (!isNew) refuseForeignFile(path, { applicationId })
  else if (!create) throw new UnusableDatabase(path, reasons.empty)
  const warning = describeRescuedCopies(path, program)
  if (warning !== undefined) onWarning?.(warning)
  return isNew
}

/**
 * SQLite would delete the log, and with it acknowledged writes. The log is checked first, because another process that
 * starts fills the database before it creates the log.
 */
export function refuseOrphanedLog(path: string, realPath: string): void {
  const log = `${realPath}-wal`
  const reason = `it is missing, but its write-ahead log ${log} exists; put the database back beside it, or restore a backup`
  if (sizeOf(log) > 0 && sizeOf(path) === 0) throw new LostDatabase(path, reason)
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

/** Whether nothing is in the file yet. An interrupted first start may leave blank pages, and a journal that undoes it. */
export function isBlank(path: string, realPath: string): boolean {
  const { bytes } = readHeader(path)
  return bytes.length === 0 || (hasJournal(realPath) && bytes.every((byte) => byte === 0))
}

function hasJournal(realPath: string): boolean {
  return existsSync(`${realPath}-journal`)
}

/** Opens a connection that can write only if SQLite must first roll back an interrupted transaction, or create a log. */
function connectToCheck(path: string): Database.Database {
  return hasJournal(realPathOf(path)) ? connect(path, { busyTimeout: lockTimeout }) : connectToRead(path, lockTimeout)
}

/** Throws unless the migrations that were applied fit those of this release. */
function checkSchema(connection: Database.Database, { path, loaded, migrate = true }: FileOptions): void {
  const applied = readApplied(connection)
  if (applied.length === 0) {
    const tables = tablesOf(loaded.collections).map(getTableName)
    // A database that is being created has neither.
    if (tables.some((table) => hasTable(connection, table))) throw new UnusableDatabase(path, reasons.noJournal)
  } else if (migrate) pendingMigrations(applied, loaded.migrations, path)
  else refuseOtherRelease(applied, loaded, path)
}

/** Checks the schema again, because another process may have created the database meanwhile. */
function migrateFile(connection: Database.Database, options: FileOptions): void {
  const { loaded, migrate: isStart = true, onMigrate, historyDays } = options
  const claimAndCheck = () => {
    claim(connection, loaded)
    checkSchema(connection, options)
  }
  const refuseMissingPart = () => {
    const missing = findMissingPart(connection, loaded)
    if (missing !== undefined) throw new UnusableDatabase(connection.name, missing)
  }
  const applied = migrate(connection, loaded.migrations, claimAndCheck, refuseMissingPart)
  if (applied.length > 0) onMigrate?.(applied, applied.length === loaded.migrations.length)
  // SQLite ignores the busy timeout here.
  retryWhileBusy(lockTimeout, () => connection.pragma('journal_mode = WAL'))
  try {
    if (isStart) prepareSweep(connection, historyDays)(maxSwept.byStart, new Date())
  } catch {
    // A service that can only read, as on a full disk, must start.
  }
}

/** Writes the application id with the first migration and before WAL mode, so that it is always in the file's header. */
function claim(connection: Database.Database, { applicationId }: SqliteRelease): void {
  const id = connection.pragma('application_id', { simple: true })
  if (id === BigInt(applicationId)) return
  const isEmpty = connection.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0n
  if (id !== 0n || !isEmpty) throw new UnusableDatabase(connection.name, reasons.foreign)
  connection.pragma(`application_id = ${applicationId}`)
}
