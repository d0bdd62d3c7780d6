import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { existingFolder } from '../../../db/ownership.ts'
import { backupFolder } from '../../../db/sqlite/backup/name.ts'
import { describeSize } from '../table.ts'
import { failure, ok, type Verdict, warning } from './finding.ts'
import type { Machine } from './machine.ts'

/** Bytes. SQLite needs room for its log, which is truncated to 64 MiB. */
const minFreeSpace = 64 * 1024 * 1024
/** Bytes. A start after a crash moves the log into the database, at about ten seconds per GiB. */
const maxLog = 128 * 1024 * 1024

/** File systems of other machines. SQLite's log needs memory that all of its processes share. */
const networkType =
  /^(nfs|cifs|smb|ncpfs|afs|9p|ceph|lustre|gpfs|beegfs|glusterfs|fuse\.(sshfs|glusterfs|ceph|s3fs|rclone|nfs))/

export function checkPermissions(path: string): Verdict {
  const file = realPath(path)
  const existing = ['', '-wal', '-shm'].map((suffix) => file + suffix).filter((name) => existsSync(name))
  const folder = existingFolder(file)
  const problem =
    refusal(folder, constants.R_OK | constants.W_OK | constants.X_OK) ??
    existing.map((name) => refusal(name, constants.R_OK | constants.W_OK)).find((text) => text !== undefined)
  if (problem !== undefined) return failure(problem)
  const open = openToOthers([...existing, ...backupsOf(path)])
  if (open) return open.isWritable ? failure(open.message) : warning(open.message)
  const note =
    process.getuid?.() === 0 ? ' This is root, who may write everywhere: run it as the user of the service.' : ''
  return ok(`This user may write to ${folder}.${note}`)
}

export function checkKeyFile(path: string): Verdict {
  const open = openToOthers([path])
  return open ? warning(open.message) : ok(`Other users may not read ${path}.`)
}

/** The files that users other than the owner and the group may use. Windows has no such permissions. */
function openToOthers(files: string[]): { isWritable: boolean; message: string } | undefined {
  const modes = files.map((file) => ({ file, mode: process.platform === 'win32' ? 0 : statSync(file).mode }))
  const open = modes.filter(({ mode }) => mode & 0o006)
  if (open.length === 0) return undefined
  const isWritable = open.some(({ mode }) => mode & 0o002)
  const names = open.map(({ file }) => file).join(' ')
  const right = isWritable ? 'write' : 'read'
  return { isWritable, message: `Every user may ${right} files with data or keys. Run: chmod o-rwx ${names}` }
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

export function checkSpace(path: string): Verdict {
  const folder = existingFolder(realPath(path))
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  const free = bavail * bsize
  const message = `${describeSize(free)} are free in ${folder}.`
  if (free < minFreeSpace) return failure(`${message} Free some space: writes fail when the disk is full.`)
  // Some file systems have no fixed number of files and report 0.
  if (files > 0 && ffree === 0) return failure(`No file can be created in ${folder}. Delete some files.`)
  return ok(message)
}

export function checkFileSystem(path: string, { mountTable }: Machine): Verdict {
  const folder = existingFolder(realPath(path))
  const type = typeOf(folder, mountTable)
  if (type === undefined) return ok('This system shows no table of mounted file systems.')
  if (!networkType.test(type)) return ok(`${folder} is on a local file system (${type}).`)
  return failure(
    `${folder} is on a network file system (${type}), where SQLite may lose data. Move the database to a local disk, or use PostgreSQL.`,
  )
}

/** The type of the file system with the longest mount point above the folder. Later mounts hide earlier ones. */
function typeOf(folder: string, mountTable: string): string | undefined {
  if (!existsSync(mountTable)) return undefined
  const mounts = readFileSync(mountTable, 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .map(([, point = '', type]) => ({ point: unescapeOctal(point), type }))
    .filter(({ point }) => point !== '' && `${folder}/`.startsWith(point.endsWith('/') ? point : `${point}/`))
  return mounts.toReversed().sort((a, b) => b.point.length - a.point.length)[0]?.type
}

/** The table has a space as `\040`. */
function unescapeOctal(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_sequence, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

export function checkLog(path: string): Verdict {
  const size = statSync(`${realPath(path)}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const message = `The write-ahead log has ${describeSize(size)}.`
  if (size <= maxLog) return ok(message)
  return warning(
    `${message} It grows while a process keeps a read transaction open: end that process. If the service is stopped, start it.`,
  )
}

/** The path itself if the file does not exist yet. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync.native(path) : path
}
