/**
 * The Store port: what the procedures need of a database. Every method may reject with {@link StoreUnavailable}. Other
 * errors of a database driver never leave the store.
 */

export const petStatuses = ['available', 'pending', 'sold'] as const
export type PetStatus = (typeof petStatuses)[number]

/** Identifiers are 64-bit signed integers, always `bigint`. */
export interface Pet {
  id: bigint
  name: string
  categoryId: bigint
  status: PetStatus
}

export type NewPet = Omit<Pet, 'id'>

/** A page of pets in ascending order of id: at most `limit` pets whose id is greater than `cursor`. */
export interface PetQuery {
  limit: number
  cursor: bigint
  status?: PetStatus | undefined
}

/** The greatest number of pets that is counted, because counting takes longer the more there are. */
export const maxCount = 10_000

/** If the count is not exact, it is {@link maxCount} and there are more pets. */
export interface PetCount {
  count: number
  isExact: boolean
}

export type PetCounts = Record<PetStatus, PetCount>

export interface PetStore {
  list(query: PetQuery): Promise<Pet[]>
  get(id: bigint): Promise<Pet | undefined>
  counts(): Promise<PetCounts>
  /** Resolves when the pet is on disk, where it survives a crash of the process and a loss of power. */
  create(pet: NewPet): Promise<Pet>
  /**
   * Creates the pet unless the same idempotency key was used within {@link idempotencyLifetime}. Rejects with
   * {@link IdempotencyKeyReused} if it was used for another pet.
   */
  createOnce(pet: NewPet, key: IdempotencyKey): Promise<CreateResult>
}

/** The key of a create that may be retried. The client chooses it; each API key has its own idempotency keys. */
export interface IdempotencyKey {
  apiKeyId: bigint
  key: string
}

/** How long an idempotency key is remembered, in milliseconds. */
export const idempotencyLifetime = 24 * 3_600_000

export interface CreateResult {
  pet: Pet
  /** Whether an earlier create with the same key inserted the pet. */
  isReplay: boolean
}

/** A stored API key. Of the key itself only the SHA-256 (`hash`) and the first characters (`start`) are stored. */
export interface ApiKey {
  id: bigint
  name: string
  start: string
  hash: string
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
}

export type NewApiKey = Pick<ApiKey, 'name' | 'start' | 'hash' | 'createdAt' | 'expiresAt'>

/**
 * The hash of the record that owns the idempotency keys of `pets import`, which has no API key. It is not hexadecimal, and
 * so no text has it. {@link ApiKeyStore.list} and {@link ApiKeyStore.createFirst} ignore the record.
 */
export const importerHash = 'pets import'.padEnd(64, '-')

export interface ApiKeyStore {
  /** Finds a key by its SHA-256, also a revoked or expired one. */
  find(hash: string): Promise<ApiKey | undefined>
  list(): Promise<ApiKey[]>
  /** Rejects with {@link KeyNameTaken} if an unrevoked key has the same name. */
  create(key: NewApiKey): Promise<ApiKey>
  /** Creates the key if the store has no key. Resolves to whether it did. */
  createFirst(key: NewApiKey): Promise<boolean>
  /** Creates the key unless one with the same hash exists. Resolves to whether it did. */
  register(key: NewApiKey): Promise<boolean>
  revoke(id: bigint, at: Date): Promise<void>
  /** Revokes one key and creates its successor in one transaction. */
  rotate(id: bigint, successor: NewApiKey): Promise<ApiKey>
  touch(id: bigint, at: Date): Promise<void>
  /**
   * Like {@link Store.revision}, for what {@link find} reads: a number that differs after each change of a key. On
   * PostgreSQL a change that another instance makes may take up to two seconds to show.
   */
  revision(): number | undefined
}

export interface Store {
  pets: PetStore
  apiKeys: ApiKeyStore
  /**
   * Version counter that changes with every commit, also of other processes. Data that was read at the same revision is
   * still current. Undefined if the store cannot tell synchronously. Calls without a pause in between may share a value.
   */
  revision(): number | undefined
  /** Resolves if reads and durable writes work at the moment. */
  check(): Promise<void>
  /** What the store does at the moment, for metrics. */
  load(): StoreLoad
  /** What the store occupies, for metrics. Leaves out what cannot be read at the moment. */
  sizes(): Promise<StoreSizes>
  /** Waits for pending writes, then closes the database. */
  close(): Promise<void>
}

export interface StoreLoad {
  /** Writes that have been accepted and have not ended. */
  queuedWrites: number
  /** The pool of PostgreSQL. */
  pool?: ConnectionPool
}

export interface ConnectionPool {
  inUse: number
  idle: number
  /** Requests that wait for a connection. */
  waiting: number
  max: number
  /** Connections that were lost or could not be opened, since the start. */
  errors: number
}

export interface StoreSizes {
  databaseBytes?: number
  /** The write-ahead log of SQLite. */
  logBytes?: number
  /** The finished backups in the default folder of SQLite. */
  backups?: BackupSizes
}

export interface BackupSizes {
  bytes: number
  newestAt: Date | undefined
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

/** Times of a transaction in milliseconds of `performance.now()`, which Node counts from the start of the process in every thread. */
export interface TransactionTimes {
  /** When the work on the transaction began. The wait for locks comes later. */
  startedAt: number
  /** When the COMMIT began. PostgreSQL gives no such time, because most of its transactions are a single statement. */
  committingAt?: number
  committedAt: number
}

/**
 * Is told about writes, for metrics and tracing. The calls are synchronous and must not throw. These are all writes, also
 * those of readiness checks. On PostgreSQL, only creates wait in the queue and share transactions.
 */
export interface StoreObserver {
  /**
   * Called in the asynchronous context of the caller of the write. Calls the returned function when the write has ended;
   * without times if it failed.
   */
  writeQueued?(name: string): (times: TransactionTimes | undefined) => void
  /** @param writes the number of writes that shared the transaction */
  transactionCommitted?(writes: number, times: TransactionTimes): void
  writeFailed?(reason: WriteFailure): void
}

/**
 * The database is busy, full, broken or gone. A write that failed with this error may or may not be stored. The message says
 * what happened and what to do, for the operator.
 */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
  /** Whether a retry can succeed. If not, an operator must repair the database first. */
  readonly isRetryable: boolean

  constructor(message: string, { isRetryable = true, cause }: { isRetryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.isRetryable = isRetryable
  }
}

/** For an operator, if no further write is accepted. */
export const tooManyWrites =
  'Too many writes wait for the database. Check how fast its disk is, and send fewer writes at once.'

/** The idempotency key was used for another pet within its lifetime. */
export class IdempotencyKeyReused extends Error {
  override name = 'IdempotencyKeyReused'
}

/** No id is left in a table. A retry cannot succeed: an operator must renumber the rows. */
export class IdsExhausted extends Error {
  override name = 'IdsExhausted'
}

/** An unrevoked API key has this name. The message is for the operator. */
export class KeyNameTaken extends Error {
  override name = 'KeyNameTaken'

  constructor() {
    super('An unrevoked API key already has this name: choose another one, or rotate that key.')
  }
}

/** The API key is already revoked. The message is for the operator. */
export class KeyRevoked extends Error {
  override name = 'KeyRevoked'
}
