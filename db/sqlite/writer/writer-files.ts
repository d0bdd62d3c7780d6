import type Database from 'better-sqlite3'
import { damageIn, FileError } from '../file/file-state.ts'
import { HeaderWatch } from '../recovery/header-watch.ts'
import { OpenFile } from '../recovery/open-file.ts'
import type { SqliteResource } from '../resource.ts'
import { LogWatch } from './log-watch.ts'
import type { Release } from './messages.ts'
import { prepareWrites } from './writes.ts'

type WriterFile = OpenFile<ReturnType<typeof prepare>>

function prepare(connection: Database.Database, resources: Record<string, SqliteResource>) {
  return { writes: prepareWrites(connection, resources), log: new LogWatch(connection) }
}

/**
 * The files of the writer thread. It opens them only with a permission, and closes them when they are damaged: then all
 * connections of the process must be closed before it gets the next permission.
 */
export class WriterFiles {
  readonly path: string
  readonly #resources: Record<string, SqliteResource>
  /** Undefined until the first permission. */
  #header: HeaderWatch | undefined
  #file: WriterFile | undefined
  /** Why the files are closed, until the next permission. */
  #closedFor: unknown

  constructor(path: string, resources: Record<string, SqliteResource>) {
    this.path = path
    this.#resources = resources
  }

  permit(headerDescriptor: number): void {
    try {
      this.#header = new HeaderWatch(headerDescriptor)
      this.#closedFor = undefined
    } catch (error) {
      this.#closedFor = error
    }
  }

  /** @throws {FileError} unless the files may be used. */
  open(): WriterFile {
    if (this.#closedFor) throw this.#closedFor
    const header = this.#header
    if (!header?.isFor(this.path)) throw new FileError('database lost')
    const options = {
      readonly: false,
      prepare: (connection: Database.Database) => prepare(connection, this.#resources),
      header,
    }
    this.#file ??= new OpenFile(this.path, options)
    return this.#file
  }

  /** Checkpoints the log if it is long enough. Returns a warning for the operator, if there is a new one. */
  checkpoint(): string | undefined {
    return this.#file?.statements.log.checkpoint(() => {
      if (this.#header?.isOverwritten()) throw new FileError('database overwritten')
    })
  }

  /** Closes the files, unless the log is lost and cannot be saved yet. */
  release(): Release {
    try {
      this.#file?.check()
    } catch (error) {
      return this.leave(error) ?? { isClosed: false }
    }
    this.#closedFor ??= new FileError('files released')
    this.close()
    return { isClosed: true }
  }

  /**
   * Closes the files if the error reports that they are damaged. The event loop still has the database open, so SQLite
   * neither checkpoints the log nor deletes it.
   *
   * @returns undefined if they are not, or if they were closed for this error before.
   */
  leave(error: unknown): Release | undefined {
    const damage = damageIn(error)
    if (damage === undefined || error === this.#closedFor) return undefined
    this.#closedFor = error
    this.close()
    return { isClosed: true, damage }
  }

  close(): void {
    this.#file?.close()
    this.#file = undefined
  }
}
