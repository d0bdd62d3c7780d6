import type Database from 'better-sqlite3'
import {
  checkReplay,
  decodeResult,
  encodeResult,
  fingerprintOf,
  isRemembered,
  type Original,
  planSweep,
  sweepRows,
} from '../collection/idempotency.ts'
import type { MutationResult } from '../collection/mutation.ts'

interface KeyRow {
  id: bigint
  createdAt: string
}

/** Prepares the mutation with an idempotency key. What it writes and the key are stored together or not at all. */
export function prepareIdempotentWrite(
  connection: Database.Database,
  mutations: ReadonlyMap<string, (...values: unknown[]) => unknown>,
): (operation: string, owner: bigint, key: string, now: Date, ...values: unknown[]) => MutationResult {
  const find = connection.prepare<[bigint, string], Original & KeyRow>(`
    SELECT id, operation, fingerprint, result, created_at AS createdAt FROM idempotency_keys WHERE api_key_id = ? AND key = ?`)
  const remove = connection.prepare<[bigint]>('DELETE FROM idempotency_keys WHERE id = ?')
  const insert = connection.prepare<unknown[]>(`
    INSERT INTO idempotency_keys (api_key_id, key, operation, fingerprint, result, created_at) VALUES (?, ?, ?, ?, ?, ?)`)
  const nextRows = connection.prepare<[bigint], KeyRow>(`
    SELECT id, created_at AS createdAt FROM idempotency_keys WHERE id > ? ORDER BY id LIMIT ${sweepRows}`)
  let sweptTo = 0n

  function sweep(now: Date): void {
    const rows = nextRows.all(sweptTo).map(({ id, createdAt }) => ({ id, createdAt: new Date(createdAt) }))
    const plan = planSweep(rows, sweepRows, now)
    for (const id of plan.expired) remove.run(id)
    sweptTo = plan.sweptTo
  }

  function write(operation: string, owner: bigint, key: string, now: Date, ...values: unknown[]): MutationResult {
    const mutate = mutations.get(operation)
    if (!mutate) throw new Error(`There is no mutation ${operation}.`)
    const original = find.get(owner, key)
    if (original && isRemembered(new Date(original.createdAt), now)) {
      checkReplay(original, { operation, values })
      return { generated: decodeResult(original.result), isReplay: true }
    }
    if (original) remove.run(original.id)
    sweep(now)
    // Safe: a mutation returns what it has generated.
    const generated = mutate(...values) as object | undefined
    if (generated) insert.run(owner, key, operation, fingerprintOf(values), encodeResult(generated), now.toISOString())
    return { generated, isReplay: false }
  }

  return connection.transaction(write)
}
