/**
 * Durable typed collections, in one SQLite file or in PostgreSQL: see README.md. In the order of use: define the collections
 * and the store, open it, and handle its errors. The columns and rules of a table are in `#store/schema`.
 */
export {
  type BaseStore,
  type IdempotencyKey,
  noApiKey,
  type StoreLoad,
  type StoreObserver,
  type StoreSizes,
  writeFailures,
} from './base-store.ts'
export { collection, defineStore, type StoreDefinition, type StoreOf, type StoresOf } from './collection.ts'
export type { Entity, NewEntity } from './entity.ts'
export {
  IdempotencyKeyReused,
  IdsExhausted,
  RowConflict,
  RuleViolation,
  StoreUnavailable,
  UnusableDatabase,
} from './errors.ts'
export { describeLocation, type Location } from './location.ts'
export { migrateStore, openStore } from './open.ts'
