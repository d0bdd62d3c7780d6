import type { ClientBase, Pool } from 'pg'
import type { IdempotencyKey } from '../base-store.ts'
import type { MutationResult } from '../entity.ts'
import { type Attempt, checkReplay, decodeResult, encodeResult, fingerprintOf, type Original } from '../idempotency.ts'
import { concernsDatabase, type Failures } from './connection/failure.ts'
import type { AnyMutation } from './engine.ts'
import type { Outcome } from './group-commit.ts'
import { nameOf, prepareIdempotencyKeys } from './idempotency.ts'
import { inTransaction, lockUntilCommit, type Transaction } from './transaction.ts'

/** A call of a mutation. Of the calls with the same key only the first takes effect. */
export interface MutationCall extends Attempt {
  mutation: AnyMutation
  idempotency?: IdempotencyKey | undefined
}

/**
 * Prepares the commit of a batch of mutations, which share one transaction and so one fsync. A mutation that breaks a rule
 * fails alone. A failure of the database rejects the batch.
 */
export function prepareMutations(pool: Pool, failures: Failures) {
  const keys = prepareIdempotencyKeys()

  async function runWithKeys(db: Transaction, batch: MutationCall[], now: Date): Promise<Outcome<MutationResult>[]> {
    // Before the keys are read: otherwise this instance could miss a key that another one is about to commit.
    await lockUntilCommit(db, 'inserts')
    const originals = await keys.find(
      db,
      batch.flatMap(({ idempotency }) => idempotency ?? []),
      now,
    )
    const generated = await runAll(db.$client, chooseFirstUses(batch, originals))
    const rows = [...generated].flatMap(([{ operation, values, idempotency }, result]) => {
      if (!idempotency) return []
      const { owner, key } = idempotency
      const [fingerprint, text] = [fingerprintOf(values), encodeResult(result)]
      return [{ owner, key, operation, fingerprint, result: text, createdAt: now }]
    })
    await keys.add(db, rows, now)
    for (const row of rows) originals.set(nameOf(row), row)
    return batch.map((call) => {
      const result = generated.get(call)
      return result ? { value: { generated: result, isReplay: false } } : replay(call, originals)
    })
  }

  function replay(call: MutationCall, originals: Map<string, Original>): Outcome<MutationResult> {
    const original = call.idempotency && originals.get(nameOf(call.idempotency))
    if (!original) return { error: new Error('A mutation did not run, and its idempotency key was not found.') }
    try {
      checkReplay(original, call)
      return { value: { generated: decodeResult(original.result), isReplay: true } }
    } catch (error) {
      return { error: failures.storeError(error) }
    }
  }

  async function commitTogether(batch: MutationCall[], now: Date): Promise<Outcome<MutationResult>[]> {
    if (batch.some(({ idempotency }) => idempotency)) return inTransaction(pool, (db) => runWithKeys(db, batch, now))
    const [mutation, ...others] = new Set(batch.map(({ mutation }) => mutation))
    const isTransaction = mutation?.isOneStatement && others.length === 0
    const generated = await (isTransaction
      ? runAll(pool, batch)
      : inTransaction(pool, (db) => runAll(db.$client, batch)))
    return batch.map((call) => ({ value: { generated: generated.get(call) ?? {}, isReplay: false } }))
  }

  return async function commit(batch: MutationCall[], now = new Date()): Promise<Outcome<MutationResult>[]> {
    try {
      return await commitTogether(batch, now)
    } catch (error) {
      if (concernsDatabase(error)) throw failures.storeError(error)
      if (batch.length === 1) return [{ error: failures.storeError(error) }]
      const outcomes: Outcome<MutationResult>[] = []
      for (const call of batch) outcomes.push(...(await commit([call], now)))
      return outcomes
    }
  }
}

/** Runs each mutation once with all of its calls, in their order. */
async function runAll(database: Pool | ClientBase, calls: MutationCall[]): Promise<Map<MutationCall, object>> {
  const generated = new Map<MutationCall, object>()
  for (const group of Map.groupBy(calls, ({ operation }) => operation).values()) {
    const mutation = group[0]?.mutation
    const results = await mutation?.run(
      database,
      group.map(({ values }) => values),
    )
    for (const [index, call] of group.entries()) generated.set(call, results?.[index] ?? {})
  }
  return generated
}

/** The calls without a key, and the first one with each new key. */
function chooseFirstUses(batch: MutationCall[], originals: Map<string, Original>): MutationCall[] {
  const used = new Set(originals.keys())
  return batch.filter(({ idempotency }) => {
    if (!idempotency) return true
    const isFirst = !used.has(nameOf(idempotency))
    used.add(nameOf(idempotency))
    return isFirst
  })
}
