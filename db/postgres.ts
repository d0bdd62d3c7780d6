import { postgresTableOf } from '#store/postgres'
import * as tables from './tables.ts'

/** Every table of PostgreSQL, for drizzle-kit. */

export const apiKeys = postgresTableOf(tables.apiKeys)
export const pets = postgresTableOf(tables.pets)
export const history = postgresTableOf(tables.history)
export const idempotencyKeys = postgresTableOf(tables.idempotencyKeys)
