import { idempotencyKeys as idempotencyKeysOfSqlite } from '../engine/store/idempotency.ts'
import { apiKeys as apiKeysOfSqlite } from '../engine/store/keys/table.ts'
import { postgresTableOf } from '../engine/store/postgres/table.ts'
import { pets as petsOfSqlite } from './pets/pets.ts'

/** Every table of PostgreSQL, for drizzle-kit. */

export const apiKeys = postgresTableOf(apiKeysOfSqlite)
export const pets = postgresTableOf(petsOfSqlite)
export const idempotencyKeys = postgresTableOf(idempotencyKeysOfSqlite)
