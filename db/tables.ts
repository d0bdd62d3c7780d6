/** Every table, for drizzle-kit. */

export { apiKeys } from '#store/keys'
export { history, idempotencyKeys } from '#store/postgres'
export { pets } from './pets/pets.ts'
