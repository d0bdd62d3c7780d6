import { accessSync, constants, existsSync, readdirSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { existingFolder } from '../../../db/ownership.ts'
import { listBackups } from '../../../db/sqlite/backup/inventory.ts'
import { backupFolder } from '../../../db/sqlite/backup/name.ts'
import { describeDuration } from '../duration.ts'
import { describeSize } from '../table.ts'
import { type Finding, failure, ok, runCheck, type Verdict, warning } from './finding.ts'

/** Bytes. SQLite needs room for its log, which is truncated to 64 MiB. */
const minFreeSpace = 64 * 1024 * 1024
/** Bytes. A start after a crash moves the log into the database, at about ten seconds per GiB. */
const maxLog = 128 * 1024 * 1024

/** @param isOwn whether the file is no database of another program. */
export async function examineFiles(path: string, isOwn: boolean, backupEvery: number | undefined): Promise<Finding[]> {
  const folder = existingFolder(realPath(path))
  // The check of the database reports it.
  if (!statSync(folder).isDirectory()) return []
  return [
    await runCheck('permissions', () => checkPermissions(path, folder, isOwn)),
    await runCheck('disk space', () => checkSpace(folder)),
    await runCheck('write-ahead log', () => checkLog(path)),
    await runCheck('backups', () => checkBackups(path, backupEvery)),
  ]
}

function checkPermissions(path: string, folder: string, isOwn: boolean): Verdict {
  const file = realPath(path)
  const existing = ['', '-wal', '-shm'].map((suffix) => file + suffix).filter((name) => existsSync(name))
  const problem =
    refusal(folder, constants.R_OK | constants.W_OK | constants.X_OK) ??
    existing.map((name) => refusal(name, constants.R_OK | constants.W_OK)).find((text) => text !== undefined)
  if (problem !== undefined) return failure(problem)
  const open = isOwn ? openToOthers([...existing, ...backupsOf(path)]) : undefined
  if (open) return open.isWritable ? failure(open.message) : warning(open.message)
  const note =
    process.getuid?.() === 0 ? ' This is root, who may write everywhere: run it as the user of the service.' : ''
  return ok(`This user may write to ${folder}.${note}`)
}

export function checkKeyFile(path: string): Verdict {
  const open = openToOthers([path])
  return open ? warning(open.message) : ok(`Only the owner and the group of ${path} may use it.`)
}

/** The files that users other than the owner and the group may use. Windows has no such permissions. */
function openToOthers(files: string[]): { isWritable: boolean; message: string } | undefined {
  const modes = files.map((file) => ({ file, mode: process.platform === 'win32' ? 0 : statSync(file).mode }))
  const open = modes.filter(({ mode }) => mode & 0o006)
  if (open.length === 0) return undefined
  const isWritable = open.some(({ mode }) => mode & 0o002)
  const names = open.map(({ file }) => file).join(' ')
  const right = isWritable ? 'write' : 'read'
  return {
    isWritable,
    message: `The permissions of files with data or keys let every user ${right} them. Run: chmod o-rwx ${names}`,
  }
}

function backupsOf(database: string): string[] {
  const folder = backupFolder(database)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(database)}-`))
    .map((name) => join(folder, name))
}

function refusal(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    const isReadOnly = error instanceof Error && 'code' in error && error.code === 'EROFS'
    return isReadOnly
      ? `${path} is on a file system that is mounted read-only. Mount it for writing, or change DATABASE_URL.`
      : `This user may not read and write ${path}. Change its owner or its permissions.`
  }
}

function checkSpace(folder: string): Verdict {
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  const free = bavail * bsize
  const message = `${describeSize(free)} are free in ${folder}.`
  if (free < minFreeSpace) return failure(`${message} Free some space: writes fail when the disk is full.`)
  // Some file systems have no fixed number of files and report 0.
  if (files > 0 && ffree === 0) return failure(`No file can be created in ${folder}. Delete some files.`)
  return ok(message)
}

function checkLog(path: string): Verdict {
  const size = statSync(`${realPath(path)}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const message = `The write-ahead log has ${describeSize(size)}.`
  if (size <= maxLog) return ok(message)
  return warning(
    `${message} It grows while a process keeps a read transaction open: end that process. If the service is stopped, start it.`,
  )
}

/** @param interval between backups in milliseconds; undefined if none are scheduled. */
async function checkBackups(path: string, interval: number | undefined): Promise<Verdict> {
  if (interval === undefined) return ok('The service makes no backups, because BACKUP_EVERY is not set.')
  const now = Date.now()
  const newest = (await listBackups(path)).find(({ time, isScheduled }) => isScheduled && time <= now)
  if (!newest)
    return warning('There is no scheduled backup yet. Start the service, and look for "backup failed" in its log.')
  const age = now - newest.time
  const message = `The newest scheduled backup is ${describeDuration(age)} old, and BACKUP_EVERY is ${describeDuration(interval)}.`
  if (age <= 2 * interval) return ok(message)
  return failure(`${message} Check that the service runs, and look for "backup failed" in its log.`)
}

/** The path itself if the file does not exist yet. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync.native(path) : path
}
