import { asc, gt, inArray, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import {
  isRemembered,
  type Original,
  planSweep,
  sweepRows,
  idempotencyKeys as table,
} from '../collection/idempotency.ts'
import { postgresTableOf } from './table.ts'

const idempotencyKeys = postgresTableOf(table)

type KeyName = Pick<typeof idempotencyKeys.$inferSelect, 'owner' | 'key'>

/** Prepares the table of idempotency keys. Call it under the advisory lock of inserts. */
export function prepareIdempotencyKeys() {
  const { id, owner, key, operation, fingerprint, result, createdAt } = idempotencyKeys
  let sweptTo = 0n

  async function remove(db: NodePgDatabase, ids: bigint[]): Promise<void> {
    if (ids.length > 0) await db.delete(idempotencyKeys).where(inArray(id, ids))
  }

  return {
    /** Resolves to the keys that were used before, by {@link nameOf}, and deletes those that have expired. */
    async find(db: NodePgDatabase, keys: KeyName[], now: Date): Promise<Map<string, Original>> {
      const owners = sql.param(keys.map(({ owner }) => owner))
      const texts = sql.param(keys.map(({ key }) => key))
      const rows = await db
        .select({ id, owner, key, operation, fingerprint, result, createdAt })
        .from(idempotencyKeys)
        .where(sql`(${owner}, ${key}) IN (SELECT * FROM unnest(${owners}::bigint[], ${texts}::text[]))`)
      const remembered = rows.filter((row) => isRemembered(row.createdAt, now))
      const expired = rows.filter((row) => !remembered.includes(row)).map((row) => row.id)
      await remove(db, expired)
      return new Map(remembered.map((row) => [nameOf(row), row]))
    },
    async add(db: NodePgDatabase, rows: Omit<typeof idempotencyKeys.$inferSelect, 'id'>[], now: Date): Promise<void> {
      if (rows.length === 0) return
      const limit = sweepRows * rows.length
      const oldest = db.select({ id, createdAt }).from(idempotencyKeys).where(gt(id, sweptTo)).orderBy(asc(id))
      const plan = planSweep(await oldest.limit(limit), limit, now)
      await remove(db, plan.expired)
      sweptTo = plan.sweptTo
      await db.insert(idempotencyKeys).values(rows)
    },
  }
}

export function nameOf({ owner, key }: KeyName): string {
  return `${owner} ${key}`
}
