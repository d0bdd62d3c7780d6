/** Durable typed collections, in one SQLite file or in PostgreSQL: see README.md. */

// Define the collections and the store. The columns and rules of a table are in `#store/schema`.

export type { Entity, NewEntity } from './collection/entity.ts'
export { collection, defineStore, type StoreDefinition, type StoreOf, type StoresOf } from './collection.ts'
export { ownTables } from './database/migrations.ts'

// Open it.

export type { BaseStore, IdempotencyKey, Searcher } from './collection/base-store.ts'
export type { Location } from './database/location.ts'
export { migrateStore, openStore } from './open.ts'

// Handle its errors.

export {
  ClosedStore,
  IdempotencyKeyReused,
  IdsExhausted,
  LostDatabase,
  OtherRelease,
  RowChanged,
  RowConflict,
  RuleViolation,
  StoreUnavailable,
  TooManySearches,
  UnusableDatabase,
} from './collection/errors.ts'

// Add statements of your own to a collection, with `own`. The type for PostgreSQL is in `#store/postgres`.

export type { SqliteEngine } from './sqlite/collection.ts'

// Report on it.

export {
  noApiKey,
  type StoreLoad,
  type StoreObserver,
  type StoreSizes,
  writeFailures,
} from './collection/base-store.ts'
export { describeLocation } from './database/location.ts'
