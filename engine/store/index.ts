/** Durable typed collections, in one SQLite file or in PostgreSQL: see README.md. */

// Define the collections and the store, with the columns and the rules of their tables.

export type { Entity, Generated, NewEntity } from './collection/row.ts'
export { int64, lineChecks, oneOfCheck, positiveCheck, timestamp, timestampCheck } from './collection/schema.ts'
export { collection, defineStore, type StoreDefinition, type StoresOf } from './collection.ts'
export { engineTables } from './database/migrations.ts'

// The API keys, which `#service` needs.

export { type ApiKey, type ApiKeyStore, apiKeyCollection, apiKeys, type NewApiKey, type WithApiKeys } from './keys.ts'

// Open it.

export type { BaseStore, Searcher } from './collection/base-store.ts'
export type { Caller } from './collection/mutation.ts'
export type { Location } from './database/location.ts'
export { migrateStore, openStore } from './open.ts'

// Handle its errors.

export {
  ClosedStore,
  IdempotencyKeyReused,
  IdsExhausted,
  LostDatabase,
  OtherRelease,
  Refusal,
  RowChanged,
  RowConflict,
  RuleViolation,
  StoreUnavailable,
  TooManySearches,
  UnusableDatabase,
} from './collection/errors.ts'

// Add statements of your own to a collection, with `statements`. `#store/postgres` has the same for PostgreSQL.

export type { SqliteAccess, SqliteMutation } from './sqlite/collection.ts'
export { inserterOf } from './sqlite/statements.ts'

// Report on it.

export { type StoreLoad, type StoreObserver, type StoreSizes, writeFailures } from './collection/base-store.ts'
export { noApiKey } from './collection/idempotency.ts'
export { describeLocation } from './database/location.ts'
