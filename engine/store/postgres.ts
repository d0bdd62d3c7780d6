/** The derived tables of PostgreSQL, for drizzle-kit and for statements of your own. */
export { history } from './collection/history.ts'
export { idempotencyKeys } from './collection/idempotency.ts'
export type { PostgresAccess, PostgresMutation } from './postgres/collection.ts'
export { inserterOf } from './postgres/statements.ts'
export { postgresTableOf } from './postgres/table.ts'
