import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { identityOf } from './files.ts'

/** What SQLite's index says about the log. */
export interface LogState {
  /** 1 if another connection was changing the index. The other values are then -1. */
  busy: number
  /** Frames in the log, each with a page; -1 without a log. */
  log: number
  /** Frames that a checkpoint has copied into the database. */
  checkpointed: number
}

/** Another connection changes the index for microseconds. */
const maxLooks = 100

// https://sqlite.org/fileformat2.html, section 4.1
const headerLength = 32
const frameHeaderLength = 24

interface Frame {
  position: number
  bytes: Buffer
}

/**
 * The write-ahead log of a connection, through a descriptor of its own, so that it can be read after it lost its name.
 * Closing the descriptor releases no lock, because SQLite locks the database and the index, but never the log.
 */
export class LogFile {
  readonly #descriptor: number
  readonly #statement: Database.Statement<[], number[]>
  readonly #frameLength: number
  /** The last frame at the last look. */
  #last: Frame | undefined

  constructor(descriptor: number, connection: Database.Database) {
    this.#descriptor = descriptor
    // SQLite compiles it again for each run, after which the driver would compile a function that makes objects of its rows.
    // That takes longer than all the rest.
    this.#statement = connection.prepare<[], number[]>('PRAGMA wal_checkpoint(NOOP)').safeIntegers(false).raw()
    this.#frameLength = frameHeaderLength + Number(connection.pragma('page_size', { simple: true }))
    this.look()
  }

  /**
   * Whether no frame is gone since the last look. Call it after each commit: a commit after a truncation writes behind a hole,
   * past which SQLite would not read at the next start. Runs a statement only if SQLite has begun again at the start of the log.
   */
  isIntact(): boolean {
    return (this.#last !== undefined && this.#isInPlace(this.#last)) || this.look() !== undefined
  }

  /**
   * Reads SQLite's index of the log, without a checkpoint, and notes the last frame for the next check. Call it outside a
   * transaction. Undefined if the log lacks frames of the index.
   */
  look(): LogState | undefined {
    let state = this.#state()
    for (let i = 0; i < maxLooks; i++) {
      if (!state.busy && this.#accept(this.#readFrame(state.log))) return state
      const { busy, log } = state
      state = this.#state()
      // Otherwise another process was changing the log.
      if (!busy && !state.busy && log === state.log) return undefined
    }
    return state
  }

  #state(): LogState {
    const [busy = 1, log = 0, checkpointed = 0] = this.#statement.get() ?? []
    return { busy, log, checkpointed }
  }

  #accept(last: Frame | undefined): boolean {
    const previous = this.#last
    const isTruncated = last && (last.bytes.length < this.#frameLength || last.bytes.readUInt32BE(0) === 0)
    if (isTruncated) return false
    // The salts change whenever SQLite begins again at the start of the log.
    const isSameLog = previous && last && saltsOf(previous) === saltsOf(last)
    if (isSameLog && !this.#isInPlace(previous)) return false
    this.#last = last
    return true
  }

  #isInPlace({ position, bytes }: Frame): boolean {
    return this.#read(position, this.#frameLength).equals(bytes)
  }

  #readFrame(count: number): Frame | undefined {
    if (count <= 0) return undefined
    const position = headerLength + (count - 1) * this.#frameLength
    return { position, bytes: this.#read(position, this.#frameLength) }
  }

  /** Whether commits are in the log, but not in the database. */
  isUnsaved(): boolean {
    const { log, checkpointed } = this.#state()
    return log < 0 || log > checkpointed
  }

  /** Whether the file is an old copy of this log. */
  isCopy(path: string): boolean {
    const descriptor = openSync(path, 'r')
    try {
      const own = originOf(this.#read(0, headerLength))
      return own !== undefined && own === originOf(read(descriptor, 0, headerLength))
    } finally {
      closeSync(descriptor)
    }
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #read(position: number, length: number): Buffer {
    return read(this.#descriptor, position, length)
  }
}

/** Opens the file only if it is this one. */
export function openAs(path: string, identity: string): number | undefined {
  const descriptor = openSync(path, 'r')
  if (identityOf(fstatSync(descriptor, { bigint: true })) === identity) return descriptor
  closeSync(descriptor)
  return undefined
}

function read(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position))
}

function saltsOf({ bytes }: Frame): bigint {
  return bytes.readBigUInt64BE(8)
}

/**
 * A number that stays the same as long as SQLite uses one log: the first salt and the count of checkpoints grow together.
 */
function originOf(header: Buffer): number | undefined {
  const isLog = header.length === headerLength && (header.readUInt32BE(0) & ~1) === 0x377f0682
  return isLog ? (header.readUInt32BE(16) - header.readUInt32BE(12)) | 0 : undefined
}
