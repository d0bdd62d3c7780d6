/** The tables of PostgreSQL, for drizzle-kit. */
export { idempotencyKeys } from './idempotency.ts'
export { postgresTableOf } from './postgres/table.ts'
