import { apiKeys as apiKeysOfSqlite } from '#store/keys'
import { idempotencyKeys as idempotencyKeysOfSqlite, postgresTableOf } from '#store/postgres'
import { pets as petsOfSqlite } from './pets/pets.ts'

/** Every table of PostgreSQL, for drizzle-kit. */

export const apiKeys = postgresTableOf(apiKeysOfSqlite)
export const pets = postgresTableOf(petsOfSqlite)
export const idempotencyKeys = postgresTableOf(idempotencyKeysOfSqlite)
