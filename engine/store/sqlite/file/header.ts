import { existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { reasons, UnusableDatabase } from '../../collection/errors.ts'
import type { SqliteRelease } from '../../database/loaded.ts'
import { connect, using } from './connection.ts'
import { realPathOf, sizeOf, withDescriptor } from './files.ts'

/**
 * Reads the header (https://sqlite.org/fileformat2.html, 1.3) without SQLite, because opening a database can change it: 100
 * bytes, or fewer if the file is shorter. The application id is 0 without one.
 */
export function readHeader(path: string) {
  refuseNonFile(path)
  return withDescriptor(openSync(path, 'r'), (file) => {
    const buffer = Buffer.alloc(100)
    const bytes = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0))
    const isSqlite = bytes.length === 100 && bytes.toString('latin1', 0, 16) === 'SQLite format 3\0'
    return { bytes, isSqlite, applicationId: isSqlite ? bytes.readUInt32BE(68) : 0 }
  })
}

/** @throws {UnusableDatabase} if the file is not a database of this product. */
export function refuseForeignFile(path: string, { applicationId }: Pick<SqliteRelease, 'applicationId'>): void {
  const { bytes, isSqlite, applicationId: found } = readHeader(path)
  if (found === applicationId) return
  if (!isSqlite) throw new UnusableDatabase(path, reasons.notSqlite)
  // In WAL mode, or with a journal, even a connection that only reads would change files.
  const isAtRest = bytes[18] === 1 && !existsSync(`${realPathOf(path)}-journal`)
  const lacksId = found === 0 && isAtRest && hasOurJournal(path)
  const withoutId = `it has no application id, which .dump and .clone do not copy; if it is a copy of your database, run PRAGMA application_id = ${applicationId} on it`
  throw new UnusableDatabase(path, lacksId ? withoutId : reasons.foreign)
}

function hasOurJournal(path: string): boolean {
  const named = `SELECT 1 FROM sqlite_schema WHERE name = 'migrations' AND sql LIKE '%"hash" text NOT NULL, "applied_at"%'`
  try {
    return using(connect(path, { readonly: true, busyTimeout: 0 }), (file) => file.prepare(named).all().length > 0)
  } catch {
    return false
  }
}

/** Opening a named pipe would block until another process opens its other end. */
export function refuseNonFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new UnusableDatabase(path, reasons.notFile)
}

/** Refuses a copy of an open database without its log: it lacks what was only there. A backup is not in WAL mode. */
export function refuseCopyWithoutLog(path: string): void {
  // Bytes 18 and 19: the versions of the format that a writer and a reader need. 2 is WAL mode.
  if (readHeader(path).bytes[18] === 2 && sizeOf(`${realPathOf(path)}-wal`) === 0)
    throw new UnusableDatabase(
      path,
      'it is a copy of a database in use without its log, so it may lack the newest rows; restore a backup that the command backup made, or this copy with restore --force',
    )
}

/** Refuses a file that is a mount point, as in a container: its log would be elsewhere, and lost with the container. */
export function refuseMountedFile(path: string, realPath: string): void {
  // Only Linux has it. A comparison of devices would not find a bind mount, and would refuse files of some overlays.
  const mounts = existsSync('/proc/self/mountinfo') ? readFileSync('/proc/self/mountinfo', 'utf8') : ''
  const escaped = realPath.replaceAll(
    /[ \t\n\\]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  )
  if (existsSync(realPath) && mounts.split('\n').some((line) => line.split(' ')[4] === escaped))
    throw new UnusableDatabase(path, 'only the file is mounted, so its write-ahead log would be lost; mount its folder')
}
