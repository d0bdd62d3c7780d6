import {
  type BigIntStats,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import { toFailure } from './failure.ts'
import { forFolder, giveAway, type Ownership } from './ownership.ts'

/** Creates a hard link and overwrites nothing. Calls `fallback` if the file system does not support hard links. */
export function link(path: string, name: string, fallback: () => void): void {
  try {
    linkSync(path, name)
  } catch (error) {
    if (!/^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EXDEV)$/.test(toFailure(error).code)) throw error
    fallback()
  }
}

/** Syncs the entries of the folder, so that a new name survives a loss of power. */
export function syncFolder(path: string): void {
  withDescriptor(openSync(path, 'r'), fsyncSync)
}

/** Creates a file, and calls `write` with its descriptor. Throws EEXIST. */
export function makeFile(path: string, ownership: Ownership, write: (file: number) => void = () => {}): void {
  withDescriptor(openSync(path, 'wx', 0o600), (file) => {
    giveAway(file, ownership)
    write(file)
  })
}

export function withDescriptor<T>(descriptor: number, use: (descriptor: number) => T): T {
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Creates and syncs a folder with its missing parents, except in a parent that this user may not read, and so not sync. */
export function makeFolder(path: string, ownership: Ownership): void {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let folder = resolve(path); folder.length >= resolve(first).length; folder = dirname(folder)) {
    const descriptor = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    withDescriptor(descriptor, () => giveAway(descriptor, forFolder(ownership)))
    try {
      syncFolder(dirname(folder))
    } catch (error) {
      if (toFailure(error).code !== 'EACCES') throw error
    }
  }
}

/** Bytes and files for which the disk of a file has room. Infinity if its file system does not count them. */
export function roomFor(path: string): { bytes: number; totalBytes: number; files: number } {
  const { bavail, bsize, blocks, files, ffree } = statfsSync(path)
  const hasSize = blocks > 0
  return {
    bytes: hasSize ? bavail * bsize : Infinity,
    totalBytes: hasSize ? blocks * bsize : Infinity,
    files: files > 0 ? ffree : Infinity,
  }
}

/** Bytes; 0 if the file does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Identifies a file independently of the path that leads to it. Undefined if the file does not exist. */
export function identify(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file && identityOf(file)
}

/** The birth time is not part of it: without the `statx` system call, Node reports the time of the last change instead. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

/**
 * The path without symbolic links, also if the file, its folder or the target of a link does not exist yet. SQLite derives
 * the names of the log and of the journal from this path.
 */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (toFailure(error).code !== 'ENOENT') throw error
  }
  // `join` would normalise `link/../file`, where the two dots are the parent of the link's target.
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
  if (!isLink) return `${realPathOf(dirname(path))}/${basename(path)}`
  const target = readlinkSync(path)
  return realPathOf(isAbsolute(target) ? target : `${dirname(path)}/${target}`)
}

/** A time in UTC for file names, which then sort by time: `2026-11-21T043000.123Z` */
export function fileTimestamp(time = Date.now()): string {
  return new Date(time).toISOString().replaceAll(':', '')
}
