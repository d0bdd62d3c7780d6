import type * as postgres from '../../db/postgres/idempotency.ts'
import type * as sqlite from '../../db/sqlite/idempotency.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** The compiler checks that the rows of both databases have the same type. */
export type RowsAreTheSame = [
  Holds<Equal<typeof postgres.idempotencyKeys.$inferSelect, typeof sqlite.idempotencyKeys.$inferSelect>>,
]

type Holds<T extends true> = T
