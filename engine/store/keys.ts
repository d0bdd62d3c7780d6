import { sql } from 'drizzle-orm'
import { check, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { DerivedMethods } from './collection/derived.ts'
import { RowChanged, RowConflict } from './collection/errors.ts'
import type { Entity } from './collection/row.ts'
import { int64, oneOfCheck, timestamp, timestampCheck } from './collection/schema.ts'
import { type Collection, collectionWith } from './collection.ts'

/** With `write`, a key may also call mutations. */
const accesses = ['read', 'write'] as const

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: int64('id').primaryKey({ autoIncrement: true }),
    name: text().notNull(),
    start: text().notNull(),
    hash: text().notNull().unique('api_keys_hash'),
    createdAt: timestamp('created_at').notNull(),
    expiresAt: timestamp('expires_at'),
    revokedAt: timestamp('revoked_at'),
    lastUsedAt: timestamp('last_used_at'),
    access: text({ enum: accesses }).notNull().default('write'),
  },
  (key) => [
    uniqueIndex('api_keys_unrevoked_name').on(key.name).where(sql`revoked_at IS NULL`),
    oneOfCheck(key.access),
    check('api_keys_hash_sha256', sql`length(hash) = 64`),
    ...[key.createdAt, key.expiresAt, key.revokedAt, key.lastUsedAt].map(timestampCheck),
  ],
)

/** A stored API key. Of the key itself only the SHA-256 (`hash`) and the first characters (`start`) are stored. */
export type ApiKey = Entity<typeof apiKeys>

export type NewApiKey = Pick<ApiKey, 'name' | 'start' | 'hash' | 'createdAt' | 'expiresAt' | 'access'>

export interface ApiKeyStore {
  /** Finds a key by its SHA-256, also a revoked or expired one. */
  find(hash: string): Promise<ApiKey | undefined>
  list(): Promise<ApiKey[]>
  /** Rejects with {@link RowConflict} if an unrevoked key has the same name. */
  create(key: NewApiKey): Promise<ApiKey>
  /** Creates the key if the store has none, and resolves to whether it did. Of several instances with one name, one does. */
  createFirst(key: NewApiKey): Promise<boolean>
  /**
   * Creates the key unless one with the same hash, or an unrevoked one with the same name, exists: that is its successor, or
   * another instance has registered it meanwhile. Resolves to whether it did.
   */
  register(key: NewApiKey): Promise<boolean>
  /** Revokes a key, unless it was revoked or replaced since it was read. Resolves to whether it did. */
  revoke(key: ApiKey, at: Date): Promise<boolean>
  /**
   * Replaces a key by its successor, which keeps the id and so the idempotency keys, the name and the access, unless it was
   * revoked or replaced since it was read. The replaced key stays under another id, as a revoked one. Resolves to whether it
   * did.
   *
   * @param onLost called if the replaced key could not be kept. It is refused, too, but could be registered again.
   */
  rotate(old: ApiKey, successor: NewApiKey, onLost?: (error: Error) => void): Promise<boolean>
  /** Records the use of a key, unless it was replaced since. */
  touch(key: ApiKey, at: Date): Promise<void>
  /** Like {@link BaseStore.revision}, for {@link find}. On PostgreSQL, a change of another instance shows within a second. */
  revision(): number | undefined
}

/** What every service has, whatever its other collections are. */
export interface WithApiKeys {
  apiKeys: ApiKeyStore
}

/** No store has more keys. */
const maxKeys = 2 ** 31 - 1

function methodsOf({ list, getBy, mutations, revision }: DerivedMethods<typeof apiKeys>): ApiKeyStore {
  const { create: add, update: change } = mutations
  const find = getBy('hash')
  return {
    find,
    list: () => list({ limit: maxKeys }),
    create: (key) => add(key),
    async createFirst(key) {
      if ((await list({ limit: 1 })).length > 0) return false
      return unless(RowConflict, add(key))
    },
    register: async (key) => !(await find(key.hash)) && unless(RowConflict, add(key)),
    revoke: ({ id, hash }, revokedAt) =>
      unless(RowChanged, change({ id, set: { revokedAt }, expected: { hash, revokedAt: null } })),
    async rotate({ id, ...old }, { name: _, access: __, expiresAt = null, ...successor }, onLost = () => {}) {
      const set = { ...successor, expiresAt, lastUsedAt: null }
      const expected = { hash: old.hash, revokedAt: null }
      if (!(await unless(RowChanged, change({ id, set, expected })))) return false
      // So that its use is rejected as that of a revoked key. The rotation has succeeded without it.
      await add({ ...old, revokedAt: successor.createdAt }).catch(onLost)
      return true
    },
    async touch({ id, hash }, lastUsedAt) {
      await unless(RowChanged, change({ id, set: { lastUsedAt }, expected: { hash } }))
    },
    revision,
  }
}

/** Whether a change took effect: false if it rejects with this error, or found no row. */
async function unless(Rule: typeof RowChanged | typeof RowConflict, change: Promise<object | undefined>) {
  try {
    return (await change) !== undefined
  } catch (error) {
    if (error instanceof Rule) return false
    throw error
  }
}

export const apiKeyCollection: Collection<ApiKeyStore> = collectionWith(
  { table: apiKeys, mutations: ['create', 'update'] },
  methodsOf,
)
