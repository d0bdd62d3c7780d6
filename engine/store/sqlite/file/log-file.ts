import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { identityOf, withDescriptor } from './files.ts'

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

/**
 * The write-ahead log of a connection, through a descriptor of its own, so that it can be read after it lost its name.
 * Closing the descriptor releases no lock, because SQLite locks the database and the index, but never the log.
 */
export function openLogFile(descriptor: number, connection: Database.Database) {
  // SQLite compiles it for each run, and then the driver would compile a function that makes objects of the rows.
  const statement = connection.prepare<[], number[]>('PRAGMA wal_checkpoint(NOOP)').safeIntegers(false).raw()
  const frameLength = frameHeaderLength + Number(connection.pragma('page_size', { simple: true }))
  /** The last frame at the last look, and its number. */
  let last: { number: number; bytes: Buffer } | undefined
  let isTruncated = false

  /** Reads SQLite's index, outside a transaction, and notes the last frame. Undefined if the log lacks frames of it. */
  function look(): LogState | undefined {
    let state = readState()
    for (let i = 0; i < maxLooks; i++) {
      if (!state.busy && accept(state.log)) return state
      const { busy, log } = state
      state = readState()
      // Otherwise another process was changing the log.
      isTruncated ||= !busy && !state.busy && log === state.log
      if (isTruncated) return undefined
    }
    return state
  }

  function readState(): LogState {
    const [busy = 1, log = 0, checkpointed = 0] = statement.get() ?? []
    return { busy, log, checkpointed }
  }

  /** @param number of the last frame; not positive without one */
  function accept(number: number): boolean {
    const found = number > 0 ? { number, bytes: readFrame(number) } : undefined
    if (found && (found.bytes.length < frameLength || found.bytes.readUInt32BE(0) === 0)) return false
    // The salts change whenever SQLite begins again at the start of the log.
    const isSameLog = last && found && saltsOf(last.bytes) === saltsOf(found.bytes)
    if (isSameLog && !hasLast()) return false
    last = found
    return true
  }

  function hasLast(): boolean {
    return last?.bytes.equals(readFrame(last.number)) ?? false
  }

  function readFrame(number: number): Buffer {
    return read(descriptor, headerLength + (number - 1) * frameLength, frameLength)
  }

  look()
  return {
    look,

    /**
     * Whether no frame is gone since the last look. Call it after each commit: a commit after a truncation writes behind
     * a hole, past which SQLite would not read at the next start. Runs a statement only if SQLite has begun again at the
     * start of the log.
     */
    isIntact: () => !isTruncated && (hasLast() || look() !== undefined),

    /** Whether commits are in the log, but not in the database. */
    isUnsaved(): boolean {
      const { log, checkpointed } = readState()
      return log < 0 || log > checkpointed
    },

    /** Whether the file is an old copy of this log. */
    isCopy(path: string): boolean {
      const origin = originOf(read(descriptor, 0, headerLength))
      const other = withDescriptor(openSync(path, 'r'), (file) => originOf(read(file, 0, headerLength)))
      return origin !== undefined && origin === other
    },

    close: () => closeSync(descriptor),
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

function saltsOf(frame: Buffer): bigint {
  return frame.readBigUInt64BE(8)
}

/** Stays the same as long as SQLite uses one log: the first salt and the count of checkpoints grow together. */
function originOf(header: Buffer): number | undefined {
  const isLog = header.length === headerLength && (header.readUInt32BE(0) & ~1) === 0x377f0682
  return isLog ? (header.readUInt32BE(16) - header.readUInt32BE(12)) | 0 : undefined
}
