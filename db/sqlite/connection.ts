import Database from 'better-sqlite3'

interface ConnectionOptions {
  readonly?: boolean
  /** How long a statement waits, in milliseconds, for another connection's lock before it fails as busy. */
  busyTimeout: number
}

/**
 * Opens the file with the settings every connection needs.
 *
 * `synchronous = FULL` is explicit because this build of SQLite treats WAL as NORMAL, which would acknowledge a commit
 * before it is on disk. 64-bit integers arrive as `bigint`.
 */
export function connect(path: string, { readonly = false, busyTimeout }: ConnectionOptions): Database.Database {
  const connection = new Database(path, { readonly, timeout: busyTimeout, fileMustExist: true })
  return orClose(connection, () => {
    connection.defaultSafeIntegers()
    connection.pragma('synchronous = FULL')
    connection.pragma('foreign_keys = ON')
    connection.pragma('trusted_schema = OFF')
    connection.pragma('mmap_size = 0')
    // Room for the upper levels of the trees of ten million pets, which else make way for the rows.
    connection.pragma('cache_size = -8000')
    connection.pragma(`journal_size_limit = ${64 * 1024 * 1024}`)
    return connection
  })
}

/** The size of the database in bytes, with the pages that are only in its write-ahead log. */
export function databaseSize(connection: Database.Database): number {
  return numberOf(connection, 'page_count') * numberOf(connection, 'page_size')
}

function numberOf(connection: Database.Database, pragma: string): number {
  return Number(connection.pragma(pragma, { simple: true }))
}

/** Runs what makes a fresh connection usable. If that fails nobody else could close it, and its file would stay open. */
export function orClose<T>(connection: { close(): unknown }, prepare: () => T): T {
  try {
    return prepare()
  } catch (error) {
    connection.close()
    throw error
  }
}
