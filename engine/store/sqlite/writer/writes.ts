import type Database from 'better-sqlite3'
import type { TransactionTimes } from '../../collection/base-store.ts'
import type { SqliteCollection } from '../collection.ts'
import type { Failure } from '../file/failure.ts'
import type { FileIdentities } from '../file/open-file.ts'
import { prepareIdempotentWrite } from '../idempotency.ts'

/** A call of a write, as it is sent to the writer thread: a flat array is copied faster than an object. */
export type Write = [name: string, ...args: unknown[]]

/** The writes by `<collection>.<mutation>`. Whoever sends a name sends the arguments of that write. */
export type Writes = ReadonlyMap<string, (...args: unknown[]) => unknown>

export const idempotentWrite = 'idempotent'
/** Tries whether a write can reach the disk. */
export const probeWrite = 'probe'

/** Prepares every write of every collection. They always run inside a transaction, in which each succeeds or fails alone. */
export function prepareWrites(
  connection: Database.Database,
  collections: Record<string, SqliteCollection>,
  historyDays?: number,
): Writes {
  const writes = new Map<string, (...args: unknown[]) => unknown>()
  for (const [collection, { mutations }] of Object.entries(collections)) {
    for (const [name, prepare] of Object.entries(mutations)) {
      // Inside of a transaction, this is a savepoint. It costs 1.4 µs, and undoes what a write that fails has done before.
      writes.set(`${collection}.${name}`, connection.transaction(prepare(connection, historyDays)))
    }
  }
  writes.set(idempotentWrite, prepareIdempotentWrite(connection, writes) as (...args: unknown[]) => unknown)
  // Writes a page of the database, whose content stays the same.
  const version = () => connection.pragma('user_version', { simple: true })
  writes.set(probeWrite, () => void connection.pragma(`user_version = ${version()}`))
  return writes
}

export type WriterMessage = Write[] | 'close'

export type WriteOutcome = { value: unknown } | { failure: Failure }

/** The reply of the writer thread to each batch of writes, once its transaction is on disk. */
export interface Settled {
  /** The outcomes of the oldest writes without a reply, in their order. */
  outcomes: WriteOutcome[]
  /** The times of the transaction, if it was committed. */
  times?: TransactionTimes | undefined
  /** A sentence for the operator. */
  warning?: string | undefined
}

export interface WriterData {
  path: string
  /** The identities of the files that the event loop has open. */
  identities: FileIdentities
  /** Milliseconds to wait for another process's lock. */
  lockTimeout: number
  historyDays: number | undefined
  /** The address of the module with the definition of the store. */
  definition: string
  /** Shared: how many of the writes that this thread was sent must not be performed any more. */
  rejectedCount: BigInt64Array
}
