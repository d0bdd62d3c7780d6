/**
 * The Store port: what the domain needs of a database, in the domain's words.
 * Every method may reject with {@link StoreUnavailable}; nothing else that a database throws crosses this line.
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

/** A page of pets in ascending id: at most `limit` of those whose id is greater than `cursor`. */
export interface PetQuery {
  limit: number
  cursor: bigint
  status?: PetStatus | undefined
}

export interface PetStore {
  list(query: PetQuery): Promise<Pet[]>
  get(id: bigint): Promise<Pet | undefined>
  /** Resolves once the pet is on disk: it then survives the end of the process and of the machine. */
  create(pet: NewPet): Promise<Pet>
  /**
   * The same, but of all creations with one idempotency key within {@link idempotencyLifetime} only the first takes
   * effect. Rejects with {@link IdempotencyKeyReused} if that one was of another pet.
   */
  createOnce(pet: NewPet, key: IdempotencyKey): Promise<Creation>
}

/** What the caller chose to know a creation by, when it has to be repeated. Callers do not share their keys. */
export interface IdempotencyKey {
  apiKeyId: bigint
  key: string
}

/** How long an idempotency key is remembered, in milliseconds. */
export const idempotencyLifetime = 24 * 3_600_000

export interface Creation {
  pet: Pet
  /** Whether an earlier creation with the same key made the pet. */
  isReplay: boolean
}

/** What is kept of an API key: never the key itself, only its SHA-256 (`hash`) and its first characters (`start`). */
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

export interface ApiKeyStore {
  /** The key with this SHA-256, revoked or expired ones included. */
  find(hash: string): Promise<ApiKey | undefined>
  list(): Promise<ApiKey[]>
  /** Rejects with {@link KeyNameTaken} while an unrevoked key has the same name. */
  create(key: NewApiKey): Promise<ApiKey>
  /** Creates the key only in a store that has none; resolves to whether it did. */
  createFirst(key: NewApiKey): Promise<boolean>
  /** Creates the key unless one with the same hash is known; resolves to whether it did. */
  register(key: NewApiKey): Promise<boolean>
  revoke(id: bigint, at: Date): Promise<void>
  /** Revokes one key and creates its successor in one transaction. */
  rotate(id: bigint, successor: NewApiKey): Promise<ApiKey>
  touch(id: bigint, at: Date): Promise<void>
}

export interface Store {
  pets: PetStore
  apiKeys: ApiKeyStore
  /**
   * A number that is another one after each change of the store, whoever made it, this process or any other. What was
   * read under the same number still holds. Undefined if the store cannot tell at once.
   */
  revision(): number | undefined
  /** Resolves if the store can do everything above at this moment, a durable write included. */
  check(): Promise<void>
  /** Waits for the writes under way, then releases the database. */
  close(): Promise<void>
}

/** The database cannot answer now: busy, full, broken or gone. A write that ended so may or may not have happened. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
  /** Whether it may get better without anybody's help, so that it is worth trying again. */
  readonly mayHeal: boolean

  constructor(message: string, { mayHeal = true, cause }: { mayHeal?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.mayHeal = mayHeal
  }
}

/** The key was used in its lifetime for another payload. */
export class IdempotencyKeyReused extends Error {
  override name = 'IdempotencyKeyReused'
}

/** Every id of a table has been given out. No retry helps: a person has to renumber the rows. */
export class IdsExhausted extends Error {
  override name = 'IdsExhausted'
}

/** An API key of this name is in use. The message is for the operator. */
export class KeyNameTaken extends Error {
  override name = 'KeyNameTaken'

  constructor() {
    super('An unrevoked API key already has this name: choose another one, or rotate that key.')
  }
}

/** The API key that was to be changed is revoked already. The message is for the operator. */
export class KeyRevoked extends Error {
  override name = 'KeyRevoked'
}

/** The database cannot be opened as it is; the message says why and what to do, in a clause without a full stop. */
export class UnusableDatabase extends Error {
  override name = 'UnusableDatabase'
}
