import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { startsAsSqlite } from './check-file.ts'
import { identify, identityOf } from './files.ts'

/**
 * Notices when another program writes a database over the one that is open, into the same file (`cp backup.db petstore.db`).
 * SQLite would mix the pages of both, and look for API keys in the wrong one.
 *
 * It compares two numbers in the header (https://sqlite.org/fileformat2.html, section 1.3): the user version, which is
 * random for each database and each copy, and the change counter, which only grows.
 *
 * Closing any descriptor of a file drops all POSIX locks of the process on it, SQLite's included. So call {@link close}
 * only when no connection to the file is open, or when the file is no longer the database.
 */
export class HeaderWatch {
  readonly #descriptor: number
  readonly #database: string
  #header: Buffer
  #isOpen = true

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r')
    this.#database = identityOf(fstatSync(this.#descriptor, { bigint: true }))
    this.#header = this.#read()
  }

  /** Whether the path leads to the watched file. */
  isFor(path: string): boolean {
    return identify(path) === this.#database
  }

  isOverwritten(): boolean {
    // Read twice, because a checkpoint may be writing the header during the first read.
    return !this.#accepts(this.#read()) && !this.#accepts(this.#read())
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor)
    this.#isOpen = false
  }

  #accepts(header: Buffer): boolean {
    const changes = header.readUInt32BE(24) - this.#header.readUInt32BE(24)
    const [version, known] = [header, this.#header].map((bytes) => bytes.readUInt32BE(60))
    const isSame =
      startsAsSqlite(header) &&
      // The counter wraps around.
      (changes | 0) >= 0 &&
      // The first release resets the user version to 0 whenever its readiness is asked for.
      (version === known || version === 0 || known === 0)
    if (isSame) this.#header = header
    return isSame
  }

  #read(): Buffer {
    const header = Buffer.alloc(100)
    readSync(this.#descriptor, header, 0, header.length, 0)
    return header
  }
}

export class DatabaseOverwritten extends Error {
  override name = 'DatabaseOverwritten'
  /** Counts as corrupt: a retry does not help, a person has to restore a backup. */
  readonly code = 'SQLITE_CORRUPT_OVERWRITTEN'

  constructor() {
    super(
      'Another program wrote over the database file while the service had it open: stop the service and restore a backup with "npm run petstore -- restore".',
    )
  }
}
