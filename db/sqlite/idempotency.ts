import type Database from 'better-sqlite3'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { check, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import {
  checkReplay,
  decodeResult,
  encodeResult,
  fingerprintOf,
  isRemembered,
  planSweep,
  sweepRows,
} from '../idempotency.ts'
import type { MutationResult } from '../resource.ts'
import { boundLimit, int64, isTimestamp, timestamp } from './columns.ts'

/**
 * The result of each mutation with an idempotency key. The lowest ids are the oldest rows. There is no foreign key to what
 * was created: if that is deleted, a retry still gets the same response.
 */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    id: int64('id').primaryKey(),
    apiKeyId: int64('api_key_id').notNull(),
    key: text().notNull(),
    operation: text().notNull(),
    fingerprint: text().notNull(),
    result: text().notNull(),
    createdAt: timestamp('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('idempotency_keys_key').on(table.apiKeyId, table.key),
    check('idempotency_keys_key_length', sql`length(key) BETWEEN 1 AND 255`),
    check('idempotency_keys_fingerprint_sha256', sql`length(fingerprint) = 64`),
    isTimestamp('idempotency_keys', 'created_at'),
  ],
)

/**
 * Prepares the mutation with an idempotency key. What it writes and the key are stored together or not at all.
 *
 * @param mutations by the names of their operations.
 */
export function prepareOnce(
  connection: Database.Database,
  mutations: ReadonlyMap<string, (...values: unknown[]) => unknown>,
) {
  const db = drizzle({ client: connection })
  const { id, apiKeyId, key, operation, fingerprint, result, createdAt } = idempotencyKeys
  const find = db
    .select({ id, operation, fingerprint, result, createdAt })
    .from(idempotencyKeys)
    .where(and(eq(apiKeyId, sql.placeholder('apiKeyId')), eq(key, sql.placeholder('key'))))
    .prepare()
  const remove = db
    .delete(idempotencyKeys)
    .where(eq(id, sql.placeholder('id')))
    .prepare()
  const insert = db
    .insert(idempotencyKeys)
    .values({
      apiKeyId: sql.placeholder('apiKeyId'),
      key: sql.placeholder('key'),
      operation: sql.placeholder('operation'),
      fingerprint: sql.placeholder('fingerprint'),
      result: sql.placeholder('result'),
      createdAt: sql.placeholder('createdAt'),
    })
    .prepare()
  const nextRows = db
    .select({ id, createdAt })
    .from(idempotencyKeys)
    .where(gt(id, sql.placeholder('sweptTo')))
    .orderBy(asc(id))
    .limit(boundLimit('rows'))
    .prepare()
  let sweptTo = 0n

  function sweep(now: Date): void {
    const plan = planSweep(nextRows.all({ sweptTo, rows: sweepRows }), sweepRows, now)
    for (const id of plan.expired) remove.run({ id })
    sweptTo = plan.sweptTo
  }

  return function once(
    operation: string,
    apiKeyId: bigint,
    key: string,
    now: Date,
    ...values: unknown[]
  ): MutationResult {
    const mutate = mutations.get(operation)
    if (!mutate) throw new Error(`There is no mutation ${operation}.`)
    const original = find.get({ apiKeyId, key })
    if (original && isRemembered(original.createdAt, now)) {
      checkReplay(original, { operation, values })
      return { generated: decodeResult(original.result), isReplay: true }
    }
    return db.transaction(() => {
      if (original) remove.run({ id: original.id })
      sweep(now)
      // Safe: a mutation returns what it has generated.
      const generated = mutate(...values) as object
      const fingerprint = fingerprintOf(values)
      insert.run({ apiKeyId, key, operation, fingerprint, result: encodeResult(generated), createdAt: now })
      return { generated, isReplay: false }
    })
  }
}
