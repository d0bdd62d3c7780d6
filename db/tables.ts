import { apiKeys } from '#store'
import { history, idempotencyKeys, postgresTableOf } from '#store/postgres'
import { pets } from './pets/pets.ts'

/** Every table, for drizzle-kit, which takes those of its own database. */
export { apiKeys, history, idempotencyKeys, pets }

export const apiKeysOnPostgres = postgresTableOf(apiKeys)
export const historyOnPostgres = postgresTableOf(history)
export const idempotencyKeysOnPostgres = postgresTableOf(idempotencyKeys)
export const petsOnPostgres = postgresTableOf(pets)
