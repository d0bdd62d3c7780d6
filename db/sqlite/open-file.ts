import { statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { connect, orClose } from './connection.ts'
import { applicationId } from './schema.ts'

interface OpenOptions {
  readonly: boolean
}

/**
 * A connection to a prepared database that knows whether the files it has open are still the ones at their paths. SQLite
 * goes on writing to a file that was deleted or replaced, and would acknowledge what is lost with it.
 */
export class OpenFile {
  readonly connection: Database.Database
  readonly #path: string
  readonly #options: OpenOptions
  readonly #database: string | undefined
  /** SQLite makes the write-ahead log when it first needs it. */
  #log: string | undefined

  constructor(path: string, options: OpenOptions) {
    this.#path = path
    this.#options = options
    // First, so that it is noticed if another file takes the place meanwhile.
    this.#database = identify(path)
    this.connection = connect(path, { ...options, busyTimeout: 0 })
    this.#log = identify(logOf(path))
    orClose(this.connection, () => this.#checkOwner())
  }

  #checkOwner(): void {
    if (this.connection.pragma('application_id', { simple: true }) !== BigInt(applicationId)) {
      throw new MovedDatabase('The file at the path of the database is another one, and not of this service.')
    }
  }

  /** @throws {MovedDatabase} if a commit on this connection cannot be found at the path of the database. */
  checkPlace(): void {
    const log = identify(logOf(this.#path))
    const isLogLost = this.#log !== undefined && log !== this.#log
    if (identify(this.#path) !== this.#database) throw new MovedDatabase('The database was moved, deleted or replaced.')
    if (isLogLost) {
      // What the lost log holds is saved while somebody still has it open.
      if (!this.#options.readonly) this.connection.pragma('wal_checkpoint(TRUNCATE)')
      throw new MovedDatabase('The write-ahead log of the database was moved, deleted or replaced.')
    }
    this.#log = log
  }

  /** Opens what is at the path now, instead of this. */
  reopen(): OpenFile {
    const isOther = identify(this.#path) !== this.#database
    if (isOther && this.#log !== undefined && identify(logOf(this.#path)) === this.#log) {
      // SQLite would replay the old file's log into the new file, and ruin it.
      throw new MovedDatabase(
        'The database was replaced beside the write-ahead log of the old one: stop the service and use "petstore restore".',
      )
    }
    return new OpenFile(this.#path, this.#options)
  }

  close(): void {
    this.connection.close()
  }
}

class MovedDatabase extends Error {
  override name = 'MovedDatabase'
  /** SQLite's own name of this state, which it only notices without a write-ahead log. */
  readonly code = 'SQLITE_READONLY_DBMOVED'
}

function logOf(path: string): string {
  return `${path}-wal`
}

/** Inode numbers are used again, so the time of birth belongs to it. */
function identify(path: string): string | undefined {
  const file = statSync(path, { throwIfNoEntry: false })
  return file && `${file.dev}:${file.ino}:${file.birthtimeMs}`
}
