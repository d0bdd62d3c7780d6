import type { Entity } from '../collection/entity.ts'
import type { apiKeys } from './table.ts'

/** A stored API key. Of the key itself only the SHA-256 (`hash`) and the first characters (`start`) are stored. */
export type ApiKey = Entity<typeof apiKeys>

export type NewApiKey = Pick<ApiKey, 'name' | 'start' | 'hash' | 'createdAt' | 'expiresAt'>

export interface ApiKeyStore {
  /** Finds a key by its SHA-256, also a revoked or expired one. */
  find(hash: string): Promise<ApiKey | undefined>
  list(): Promise<ApiKey[]>
  /** Rejects with {@link RowConflict} if an unrevoked key has the same name. */
  create(key: NewApiKey): Promise<ApiKey>
  /** Creates the key if the store has no key. Resolves to whether it did. */
  createFirst(key: NewApiKey): Promise<boolean>
  /** Creates the key unless one with the same hash exists. Resolves to whether it did. */
  register(key: NewApiKey): Promise<boolean>
  /** Resolves to whether the key was not revoked before. */
  revoke(id: bigint, at: Date): Promise<boolean>
  /** Revokes one key and creates its successor in one transaction, unless the key was revoked before. Resolves to whether it did. */
  rotate(id: bigint, successor: NewApiKey): Promise<boolean>
  touch(id: bigint, at: Date): Promise<void>
  /**
   * Like {@link BaseStore.revision}, for what {@link find} reads: a number that differs after each change of a key. On
   * PostgreSQL a change that another instance makes takes up to a second to show.
   */
  revision(): number | undefined
}

/** What every service has, whatever its other collections are. */
export interface WithApiKeys {
  apiKeys: ApiKeyStore
}
