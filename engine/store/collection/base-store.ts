/**
 * The Store port: what the procedures need of a database. Every method may reject with {@link StoreUnavailable}. If
 * something else refuses a valid value, such as a trigger of another program, the error is one that no caller expects.
 */

/** What every store has, whatever its collections are. */
export interface BaseStore {
  /**
   * Version counter that changes with every commit, also of other processes. Data that was read at the same revision is
   * still current. Undefined if the store cannot tell synchronously. Calls without a pause in between may share a value.
   */
  revision(): number | undefined
  /** Reads that `run` calls without a pause see one snapshot, which spares SQLite the lock of its index for each. */
  inOneSnapshot(run: () => void): void
  /** Resolves if reads and durable writes work at the moment. */
  check(): Promise<void>
  /** What the store does at the moment, for metrics. */
  load(): StoreLoad
  /** What the store occupies, for metrics. Leaves out what cannot be read at the moment. */
  sizes(): Promise<StoreSizes>
  /** Resolves when what would be lost with the files of SQLite is saved. It waits until the disk has room for that. */
  saved(): Promise<void>
  /** Waits for pending writes, then closes the database. */
  close(): Promise<void>
}

export interface StoreLoad {
  /** Writes that have been accepted and have not ended. */
  queuedWrites: number
  /** Connections to PostgreSQL. */
  pool?: {
    inUse: number
    idle: number
    /** Requests that wait for a connection. */
    waiting: number
    max: number
    /** Connections that were lost or could not be opened, since the start. */
    errors: number
  }
}

export interface StoreSizes {
  databaseBytes?: number
  /** The write-ahead log of SQLite. */
  logBytes?: number
  /** The file system of SQLite's database: what this user may still use, and its size. */
  disk?: { freeBytes: number; bytes: number }
  /** The finished backups in the default folder of SQLite. */
  backups?: BackupSizes
}

export interface BackupSizes {
  bytes: number
  newestAt: Date | undefined
}

/** Who searches. */
export interface Searcher {
  /** Scans of different callers take turns. */
  id: unknown
  /** Aborted when the client has closed its connection. */
  signal: AbortSignal
}

/** Why a write failed. `rule` means that the write broke a rule, such as a reused idempotency key. */
export const writeFailures = [
  'busy',
  'corrupt',
  'full',
  'hanging',
  'io',
  'other',
  'queue_full',
  'read_only',
  'rule',
  'schema',
  'unreachable',
] as const
export type WriteFailure = (typeof writeFailures)[number]

/** Milliseconds of `performance.now()`, which counts from the start of the process in every thread. */
export interface TransactionTimes {
  /** When the work on the transaction began. The wait for locks comes later. */
  startedAt: number
  /** When the COMMIT began. PostgreSQL gives no such time, because most of its transactions are a single statement. */
  committingAt?: number
  committedAt: number
}

/**
 * Is told about writes, for metrics. The calls are synchronous and must not throw. On SQLite, these are all writes, also
 * those of readiness checks. On PostgreSQL, these are mutations, and the failures of other writes.
 */
export interface StoreObserver {
  /** @param writes the number of writes that shared the transaction */
  transactionCommitted?(writes: number, times: TransactionTimes): void
  writeFailed?(reason: WriteFailure): void
}
