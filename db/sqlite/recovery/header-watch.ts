import { type BigIntStats, closeSync, fstatSync, openSync } from 'node:fs'
import { identify, identityOf } from '../file/files.ts'
import { readFirstBytes, startsAsSqlite } from '../file/header.ts'

/**
 * Detects that another program has written a different database into the open file (`cp backup.db petstore.db`). SQLite
 * would mix the pages of both and look up API keys in the wrong one.
 *
 * It compares the user version, the change counter and the size, which only grow, with those of the last check. In WAL mode
 * only a checkpoint writes to the file, and it may write the old header again. So compare before each checkpoint.
 */
export class HeaderWatch {
  readonly descriptor: number
  readonly identity: string
  #header: Buffer
  /** Of the file at the last comparison of its header. */
  #writtenAt: bigint | undefined
  #size: bigint | undefined
  #isOpen = true

  /** @param descriptor of the database file. */
  constructor(descriptor: number) {
    this.descriptor = descriptor
    this.identity = identityOf(fstatSync(descriptor, { bigint: true }))
    this.#header = readFirstBytes(descriptor)
  }

  /** Whether the path leads to the watched file. */
  isFor(path: string): boolean {
    return identify(path) === this.identity
  }

  /** Compares the header only if the file was written since the last call. */
  isOverwrittenSince({ mtimeNs, size }: BigIntStats): boolean {
    if (mtimeNs === this.#writtenAt && size === this.#size) return false
    if (this.isOverwritten()) return true
    this.#writtenAt = mtimeNs
    this.#size = size
    return false
  }

  isOverwritten(): boolean {
    // The second read is for a checkpoint that was writing the header during the first one.
    return !this.#accept() && !this.#accept()
  }

  /** Whether the file has no name any more, so that it is gone when the last process closes it. */
  isDeleted(): boolean {
    return fstatSync(this.descriptor).nlink === 0
  }

  /**
   * Closing any descriptor of a file drops all POSIX locks of the process on it, also those of SQLite. Call it only when
   * no connection to the file is open.
   */
  close(): void {
    if (this.#isOpen) closeSync(this.descriptor)
    this.#isOpen = false
  }

  #accept(): boolean {
    const header = readFirstBytes(this.descriptor)
    const isSame = startsAsSqlite(header) && isSuccessor(header, this.#header)
    if (isSame) this.#header = header
    return isSame
  }
}

/** Watches the file at this path. */
export function openHeader(path: string): HeaderWatch {
  return new HeaderWatch(openSync(path, 'r'))
}

function isSuccessor(header: Buffer, previous: Buffer): boolean {
  // The change counter wraps around. SQLite increments it once for each time that a connection reads the first page, so it
  // may be the same although the database has grown.
  const changes = (header.readUInt32BE(24) - previous.readUInt32BE(24)) | 0
  if (changes === 0 && header.readUInt32BE(28) < previous.readUInt32BE(28)) return false
  const [version, previousVersion] = [header.readUInt32BE(60), previous.readUInt32BE(60)]
  // The readiness check of the first release resets the user version to 0.
  return changes >= 0 && (version === previousVersion || version === 0 || previousVersion === 0)
}
