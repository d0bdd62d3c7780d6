import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { reasons, UnusableDatabase } from '../../collection/errors.ts'
import { isBusy, toFailure } from './failure.ts'
import { realPathOf } from './files.ts'

/**
 * Opens the file with the settings that every connection needs. `synchronous = FULL` is explicit because this build of
 * SQLite uses NORMAL in WAL mode, which acknowledges a commit before it is on disk. 64-bit integers are read as `bigint`.
 *
 * @param options `busyTimeout` in milliseconds, for which a statement waits for the lock of another connection.
 */
export function connect(
  path: string,
  { readonly = false, busyTimeout }: { readonly?: boolean; busyTimeout: number },
): Database.Database {
  const connection = new Database(path, { readonly, timeout: busyTimeout, fileMustExist: true })
  return orClose(connection, () => {
    connection.defaultSafeIntegers()
    connection.pragma('synchronous = FULL')
    connection.pragma('foreign_keys = ON')
    connection.pragma('trusted_schema = OFF')
    connection.pragma('mmap_size = 0')
    // KiB. Enough to keep the interior B-tree pages of ten million rows in memory.
    connection.pragma('cache_size = -8000')
    connection.pragma(`journal_size_limit = ${64 * 1024 * 1024}`)
    return connection
  })
}

/**
 * Opens a database to read it, and leaves its files as they are. If another process uses the database, or was killed, there
 * is a log or a journal, which a read-only connection does not change. Otherwise SQLite creates an empty log, which only a
 * connection that may write removes at the end.
 */
export function connectToRead(path: string, busyTimeout = 5_000): Database.Database {
  const realPath = realPathOf(path)
  const isInUse = ['-wal', '-journal'].some((suffix) => existsSync(realPath + suffix))
  const connection = connect(path, { readonly: isInUse, busyTimeout })
  return orClose(connection, () => {
    connection.pragma('query_only = ON')
    // SQLite checks CHECK constraints in `quick_check` only if the connection may write. It takes nine times as long.
    connection.pragma('ignore_check_constraints = ON')
    return connection
  })
}

/**
 * Locks a database against all other connections until the returned one is closed. Throws SQLITE_BUSY if another one has it
 * open in WAL mode, or uses it in another journal mode
 */
export function lockDatabase(path: string): Database.Database {
  const connection = new Database(path, { timeout: 0, fileMustExist: true })
  return orClose(connection, () => {
    connection.pragma('locking_mode = EXCLUSIVE')
    connection.exec('BEGIN EXCLUSIVE; COMMIT')
    return connection
  })
}

/** Closes the connection if `prepare` throws, because the caller then has nothing to close. */
export function orClose<T>(connection: { close(): unknown }, prepare: () => T): T {
  try {
    return prepare()
  } catch (error) {
    connection.close()
    throw error
  }
}

export function using<T>(connection: Database.Database, use: (connection: Database.Database) => T): T {
  try {
    return use(connection)
  } finally {
    connection.close()
  }
}

/** The size of the database in bytes, including pages that are only in the write-ahead log. */
export function databaseSize(connection: Database.Database): number {
  const numberOf = (pragma: string) => Number(connection.pragma(pragma, { simple: true }))
  return numberOf('page_count') * numberOf('page_size')
}

/** Reads every page; the integrity check also the indexes. Throws UnusableDatabase with SQLite's first finding. */
export function checkPages(connection: Database.Database, check: 'quick_check' | 'integrity_check'): void {
  const finding = String(connection.pragma(`${check}(1)`, { simple: true })).replace(/^\*\*\* .*\n/, '')
  if (finding === 'ok') return
  const reason = isReadError(finding) ? reasons.unreadable : reasons.corrupt
  throw new UnusableDatabase(connection.name, `${reason} (${finding})`)
}

/**
 * SQLite reports a page that it cannot read as corrupt. The low byte of the error code is then SQLITE_IOERR. For a page of
 * the free list or of a long row it gives no code: `failed to get page`.
 */
function isReadError(finding: string): boolean {
  const [, code] = /error code=(\d+)/.exec(finding) ?? []
  return (Number(code) & 0xff) === 10 || finding.includes('failed to get page')
}

const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * Retries each millisecond, up to a time in milliseconds, while another process holds the lock, and blocks the thread.
 * SQLite's own busy timeout retries only ten times a second, which misses the short gaps between transactions of a busy
 * writer.
 */
export function retryWhileBusy<T>(timeout: number, attempt: () => T): T {
  const deadline = performance.now() + timeout
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(toFailure(error)) || performance.now() >= deadline) throw error
      Atomics.wait(pause, 0, 0, 1)
    }
  }
}
