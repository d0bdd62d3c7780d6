import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { fileTimestamp } from '../backup/name.ts'
import { FileError } from '../file/file-state.ts'
import { identify, identityOf, sizeOf } from '../file/files.ts'

/** What SQLite's index says about the log. */
export interface LogState {
  /** 1 if another connection was changing the index. The other values are then -1. */
  busy: number
  /** Pages in the log; -1 without a log. */
  log: number
  /** Pages of the log that a checkpoint has copied into the database. */
  checkpointed: number
}

/** Reads SQLite's index of the log without a checkpoint. */
export function prepareLogState(connection: Database.Database): Database.Statement<[], LogState> {
  return connection.prepare<[], LogState>('PRAGMA wal_checkpoint(NOOP)').safeIntegers(false)
}

/** Another connection changes the index for microseconds. */
const maxStateReads = 100

// https://sqlite.org/fileformat2.html, section 4.1
const headerLength = 32
const frameHeaderLength = 24

/** A byte of the last commit. A truncation leaves a zero in its place, or nothing. */
interface Witness {
  /** The header's salts, which change whenever SQLite begins again at the start of the log. */
  salts: bigint
  offset: number
  byte: number
}

/**
 * The write-ahead log of a connection, through a descriptor of its own, so that it can be read after it lost its name.
 * Closing the descriptor releases no lock, because SQLite locks the database and the index, but never the log.
 */
export class LogFile {
  readonly #path: string
  /** Undefined without a log: a database that an operator has put in place may have none, which is slower and as durable. */
  readonly #identity: string | undefined
  #descriptor: number | undefined
  readonly #state: Database.Statement<[], LogState>
  readonly #pageSize: number
  /** Bytes at the last check. If the log is shorter now, its size is compared with SQLite's index of it. */
  #size: bigint | undefined
  #witness: Witness | undefined

  /** @param identity of the log before the connection was opened, if there was one. */
  constructor(path: string, identity: string | undefined, connection: Database.Database) {
    this.#path = path
    this.#identity = identity ?? identify(path)
    this.#state = prepareLogState(connection)
    this.#pageSize = Number(connection.pragma('page_size', { simple: true }))
    this.#descriptor = this.#identity === undefined ? undefined : openAs(path, this.#identity)
  }

  isLost(): boolean {
    return this.#identity !== undefined && !this.isAt(this.#path)
  }

  isAt(path: string): boolean {
    return this.#identity !== undefined && identify(path) === this.#identity
  }

  /** A log that became shorter may be truncated, or a checkpoint may have emptied it. */
  findChange(): 'lost' | 'shorter' | undefined {
    if (this.#identity === undefined) return undefined
    const file = statSync(this.#path, { bigint: true, throwIfNoEntry: false })
    if (!file || identityOf(file) !== this.#identity) return 'lost'
    if (this.#size === undefined || file.size < this.#size) return 'shorter'
    this.#size = file.size
    return undefined
  }

  /** Whether the log is shorter than SQLite's index says. Call it outside a transaction. */
  isTruncated(): boolean {
    const length = this.#lengthOf(this.#readState())
    this.#size = statSync(this.#path, { bigint: true, throwIfNoEntry: false })?.size
    return this.#size !== undefined && this.#size < length
  }

  /**
   * Call it after each commit. Detects a truncation that the size does not show, because the commit has written behind a
   * hole. SQLite would not read past the hole, now or at the next start.
   */
  isIntact(): boolean {
    // The second comparison is for another process that emptied or restarted the log during the first one.
    return this.#compareWithWitness() || this.#compareWithWitness()
  }

  #compareWithWitness(): boolean {
    if (this.#descriptor === undefined) return true
    const state = this.#readState()
    const header = read(this.#descriptor, 0, headerLength)
    if (state.log <= 0) {
      this.#witness = undefined
      return true
    }
    if (!isLogHeader(header)) return false
    const salts = header.readBigUInt64BE(16)
    if (!this.#isWitnessed(salts)) return false
    this.#witness = this.#findWitness(salts, this.#lengthOf(state))
    return true
  }

  #isWitnessed(salts: bigint): boolean {
    if (this.#descriptor === undefined || this.#witness?.salts !== salts) return true
    return read(this.#descriptor, this.#witness.offset, 1)[0] === this.#witness.byte
  }

  /** The last byte of the log that is not zero. A frame has such bytes, at least in its header. */
  #findWitness(salts: bigint, end: number): Witness | undefined {
    if (this.#descriptor === undefined) return undefined
    for (const length of [64, frameHeaderLength + this.#pageSize]) {
      const bytes = read(this.#descriptor, end - length, length)
      const index = bytes.findLastIndex((byte) => byte !== 0)
      const byte = bytes[index]
      if (byte !== undefined) return { salts, offset: end - length + index, byte }
    }
    return undefined
  }

  /**
   * Whether another process has begun a log at the path while this one has commits that are not in the database. Each
   * log has pages that the other one does not know, so the database can follow only one of them.
   */
  isForked(): boolean {
    return this.isUnsaved() && sizeOf(this.#path) > 0
  }

  /** Whether commits are in the log, but not in the database. */
  isUnsaved(): boolean {
    const { log, checkpointed } = this.#readState()
    return log > checkpointed
  }

  /**
   * Renames the log at the path if it is an old copy of this one. SQLite would apply it to the database and undo later
   * commits. Returns the new path.
   */
  setAsideOldCopy(): string | undefined {
    if (this.#descriptor === undefined || !this.isLost()) return undefined
    const own = originOf(read(this.#descriptor, 0, headerLength))
    const found = identify(this.#path)
    const descriptor = found === undefined ? undefined : openAs(this.#path, found)
    if (descriptor === undefined) return undefined
    const other = originOf(read(descriptor, 0, headerLength))
    closeSync(descriptor)
    if (own === undefined || own !== other) return undefined
    const kept = `${this.#path}.old-${fileTimestamp()}`
    renameSync(this.#path, kept)
    return kept
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  #readState(): LogState {
    for (let i = 0; i < maxStateReads; i++) {
      const state = this.#state.get()
      if (state && !state.busy) return state
    }
    throw new FileError('index locked')
  }

  #lengthOf({ log }: LogState): number {
    return log > 0 ? headerLength + log * (frameHeaderLength + this.#pageSize) : 0
  }
}

/** Opens the file only if it is this one. */
function openAs(path: string, identity: string): number | undefined {
  const descriptor = openSync(path, 'r')
  if (identityOf(fstatSync(descriptor, { bigint: true })) === identity) return descriptor
  closeSync(descriptor)
  return undefined
}

function read(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position))
}

function isLogHeader(header: Buffer): boolean {
  return header.length === headerLength && (header.readUInt32BE(0) & ~1) === 0x377f0682
}

/**
 * A number that stays the same as long as SQLite uses one log: the first salt and the count of checkpoints grow together.
 */
function originOf(header: Buffer): number | undefined {
  return isLogHeader(header) ? (header.readUInt32BE(16) - header.readUInt32BE(12)) | 0 : undefined
}
