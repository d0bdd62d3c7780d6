import type { TransactionTimes } from '../../base-store.ts'
import type { Failure } from '../file/failure.ts'
import type { FileIdentities } from '../file/open-file.ts'
import type { Write } from './writes.ts'

/** A message to the writer thread. */
export type Order = Write[] | 'close'

export type Outcome = { value: unknown } | { failure: Failure }

/** The reply of the writer thread to each batch of writes, once its transaction is on disk. */
export interface Settled {
  /** Of the oldest writes without a reply, in their order. */
  outcomes: Outcome[]
  /** Of the transaction, if it was committed. */
  times?: TransactionTimes | undefined
  /** A sentence for the operator. */
  warning?: string | undefined
}

/** The `workerData` of the thread. */
export interface WriterData {
  path: string
  /** Of the files that the event loop has open. */
  identities: FileIdentities
  /** Milliseconds to wait for another process's lock. */
  lockTimeout: number
  /** The address of the module with the definition of the store. */
  definition: string
  /** Shared: how many of the writes that this thread was sent must not be performed any more. */
  rejectedCount: BigInt64Array
}
