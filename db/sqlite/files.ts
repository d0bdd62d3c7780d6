import { randomBytes } from 'node:crypto'
import { type BigIntStats, closeSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { toFailure } from './failure.ts'

/** A name in the folder that nobody has, and that a killed process may leave behind. */
export function temporaryPath(folder: string, kind: 'partial' | 'probe'): string {
  return join(folder, `.petstore-${process.pid}-${randomBytes(8).toString('hex')}.${kind}`)
}

/** Takes such a name apart: that of the file, perhaps beside which SQLite put this one, and the number of the process. */
export const temporaryName = /^(\.petstore-(\d+)-[0-9a-f]{16}\.(?:partial|probe))(?:-journal|-wal|-shm)?$/

/** Removes the file and what SQLite may have put beside it. */
export function removeTemporary(path: string): void {
  for (const suffix of ['-journal', '-wal', '-shm', '']) rmSync(path + suffix, { force: true })
}

/** Gives a file a second name, and overwrites nothing. On a file system that knows no second names `instead` is done. */
export function link(path: string, name: string, instead: () => void): void {
  try {
    linkSync(path, name)
  } catch (error) {
    if (!cannotLink(toFailure(error).code)) throw error
    instead()
  }
}

/** Whether an error says that the file system knows no second name for a file. */
export function cannotLink(code: string): boolean {
  return /^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EXDEV)$/.test(code)
}

/** Makes a new name in the folder outlive a loss of power. Windows has no such call and needs none. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/**
 * Makes a folder that only this user may enter, and its missing parents, so that they survive a loss of power. A parent
 * that this user may not read cannot be synced.
 */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let folder = resolve(path); folder.length >= resolve(first).length; folder = dirname(folder)) {
    try {
      syncFolder(dirname(folder))
    } catch (error) {
      if (toFailure(error).code !== 'EACCES') throw error
    }
  }
}

/** Identifies a file, through any path that leads to it; undefined if the file does not exist. */
export function identify(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file && identityOf(file)
}

/** Without the birth time: where the `statx` system call is missing, Node reports the time of the last change instead. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
