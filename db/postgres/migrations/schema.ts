import { idempotencyKeys as idempotencyKeysOfSqlite } from '../../idempotency.ts'
import { apiKeys as apiKeysOfSqlite } from '../../keys/table.ts'
import { pets as petsOfSqlite } from '../../pets/pets.ts'
import { postgresTableOf } from '../table.ts'

/** Every table of PostgreSQL, for drizzle-kit. */

export const apiKeys = postgresTableOf(apiKeysOfSqlite)
export const pets = postgresTableOf(petsOfSqlite)
export const idempotencyKeys = postgresTableOf(idempotencyKeysOfSqlite)
