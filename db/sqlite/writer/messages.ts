import type { TransactionTimes } from '../../store.ts'
import type { Failure } from '../file/failure.ts'
import type { Damage } from '../file/file-state.ts'
import type { Write } from './writes.ts'

/** A message to the writer thread. */
export type Order =
  | Write
  /** Closes the files, unless the log is lost and cannot be saved yet. All writes fail until the next permission. */
  | 'release'
  /** Permits to open the files at the path. A descriptor of the database, for {@link HeaderWatch}. */
  | number
  | 'close'

export type Outcome = { value: unknown } | { failure: Failure }

/** The reply of the writer thread to each batch of writes, once its transaction is on disk, and to `release`. */
export interface Settled {
  /** Of the oldest writes without a reply, in their order. */
  outcomes: Outcome[]
  /** Of the transaction, if it was committed. */
  times?: TransactionTimes | undefined
  /** A sentence for the operator. */
  warning?: string | undefined
  /** Set by `release`, and when the thread has closed damaged files by itself. */
  release?: Release | undefined
}

export interface Release {
  /** Whether the thread has closed the files. All connections of the process must be closed before it opens them again. */
  isClosed: boolean
  /** Whether it is the reply to the order `release`. */
  isReply?: boolean
  damage?: Damage
}

/** The `workerData` of the thread. */
export interface WriterData {
  path: string
  /** Milliseconds to wait for another process's lock. */
  lockTimeout: number
  /** The address of the module with the list of resources. */
  resources: string
  /** Shared: how many of the writes that this thread was sent must not be performed any more. */
  rejectedCount: BigInt64Array
}
