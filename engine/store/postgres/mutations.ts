import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Pool, QueryConfig } from 'pg'
import type { WithKind } from '../collection/derived.ts'
import {
  type Attempt,
  checkReplay,
  decodeResult,
  encodeResult,
  fingerprintOf,
  type IdempotencyKey,
  type Original,
} from '../collection/idempotency.ts'
import type { MutationResult } from '../collection/mutation.ts'
import { columnOf } from '../collection/row.ts'
import type { BatchMutation, Queries } from './collection.ts'
import { concernsDatabase, concernsOneWrite, type Failures, MutationError, sqlStateOf } from './connection/failure.ts'
import type { Outcome } from './group-commit.ts'
import { prepareIdempotencyKeys, textOfKey } from './idempotency.ts'
import { query, sequenceOf } from './statements.ts'
import { inTransaction } from './transaction.ts'

/**
 * Commits the mutations that arrived together: one transaction for all, and one statement for the calls of each mutation. It
 * answers a repeated key with the first result, and repeats the batch in parts if the database refuses a call. Calls of
 * different mutations may run in another order than they came: no caller has a response yet that another could depend on.
 */

/** Milliseconds. */
const deadlockPause = 100

/**
 * The maximum number of calls in a transaction that is tried in parts. Each that is refused takes a few statements, and a
 * connection that is in use for too long is closed, as is one of another instance that waits for the lock for too long.
 */
const maxPart = 20

/** A call of a mutation. Of the calls with the same key only the first that succeeds takes effect. */
interface MutationCall extends Attempt {
  mutation: WithKind<BatchMutation>
  table: PgTable
  idempotency?: IdempotencyKey | undefined
}

/** What each call has generated, undefined if it found no row to change, or why it failed. */
type Results = Map<MutationCall, object | undefined | Error>

/** The first uses of keys, by {@link textOfKey}. */
type Originals = Map<string, Original>

/** Runs calls, and adds their keys to the table and to the originals. */
type Perform = (client: Queries, calls: MutationCall[], originals: Originals, now: Date) => Promise<Results>

/** Prepares the commit of a batch. A call that breaks a rule fails alone. A failure of the database rejects the batch. */
export function prepareMutations(pool: Pool, failures: Failures, historyDays?: number) {
  const keys = prepareIdempotencyKeys()

  /** A create without a key is a transaction by itself. In another one, its rate is 0.55 times as high. */
  async function commitTogether(batch: MutationCall[], now: Date): Promise<Outcome<MutationResult>[]> {
    const isOneStatement = batch.every(({ mutation, idempotency }) => mutation.isOneStatement && !idempotency)
    if (!isOneStatement || new Set(batch.map(({ mutation }) => mutation)).size > 1)
      return inTransaction(pool, (client) => runBatch(client, batch, now, performTogether))
    const results = await runAll(pool, batch).catch((error: Error): Results => {
      if (concernsOneWrite(error) || concernsDatabase(error)) throw error
      // The statement may have taken effect, so the calls must not run again.
      return new Map(batch.map((call) => [call, error]))
    })
    return batch.map((call) => outcomeOf(call, results))
  }

  async function commitInParts(batch: MutationCall[], now: Date): Promise<Outcome<MutationResult>[]> {
    return inTransaction(pool, async (client) => {
      // Otherwise the commit would fail for all calls.
      await client.query('SET CONSTRAINTS ALL IMMEDIATE')
      return runBatch(client, batch, now, performInParts)
    })
  }

  /**
   * Call it under the advisory lock of inserts, which is the first lock of every batch: otherwise two instances could wait for
   * each other's rows, and this one could miss a key that another is about to commit.
   */
  async function runBatch(client: Queries, batch: MutationCall[], now: Date, perform: Perform) {
    const used = batch.flatMap(({ idempotency }) => idempotency ?? [])
    const originals: Originals = used.length > 0 ? await keys.find(client, used, now) : new Map()
    const outcomes: Outcome<MutationResult>[] = []
    while (outcomes.length < batch.length) {
      const calls = callsUntilNewKeyRecurs(batch.slice(outcomes.length), originals)
      const known = calls.map(({ idempotency }) => idempotency && originals.get(textOfKey(idempotency)))
      const fresh = calls.filter((_, index) => !known[index])
      const results: Results = fresh.length > 0 ? await perform(client, fresh, originals, now) : new Map()
      for (const [index, call] of calls.entries()) {
        const original = known[index]
        outcomes.push(original ? replay(call, original) : outcomeOf(call, results))
      }
    }
    return outcomes
  }

  /** Runs each mutation once with all of its calls, in their order: see {@link BatchMutation.run}. */
  async function runAll(client: Queries, calls: MutationCall[]): Promise<Results> {
    const results: Results = new Map()
    for (const group of Map.groupBy(calls, ({ mutation }) => mutation.run).values()) {
      const rows = group.map(({ values }) => values)
      const outcomes = await (group[0] && runMutation(group[0].mutation, client, rows, historyDays))
      for (const [index, call] of group.entries()) results.set(call, outcomes?.[index])
    }
    return results
  }

  const performTogether: Perform = async (client, calls, originals, now) => {
    const results = await runAll(client, calls)
    const rows = [...results].flatMap(([{ operation, values, idempotency }, generated]) => {
      if (!idempotency || !generated || generated instanceof Error) return []
      const { owner, key } = idempotency
      const [fingerprint, result] = [fingerprintOf(values), encodeResult(generated)]
      return [{ owner, key, operation, fingerprint, result, createdAt: now }]
    })
    await keys.add(client, rows, now)
    for (const row of rows) originals.set(textOfKey(row), row)
    return results
  }

  /** If a constraint refuses the calls, each half of them is tried, so that one that is refused fails alone. */
  const performInParts: Perform = async (client, calls, ...context) => {
    await client.query('SAVEPOINT part')
    try {
      const results = await performTogether(client, calls, ...context)
      await client.query('RELEASE SAVEPOINT part')
      return results
    } catch (error) {
      if (concernsDatabase(error)) throw error
      await client.query('ROLLBACK TO SAVEPOINT part')
      const [first, ...others] = calls
      if (first && others.length === 0) {
        // The id may be that of an entry of the history.
        const table = failures.tableOfTakenId(error)
        if (table && (await moveSequence(client, table))) return performInParts(client, calls, ...context)
        return new Map([[first, error instanceof Error ? error : new Error(String(error))]])
      }
      const middle = Math.ceil(calls.length / 2)
      const half = await performInParts(client, calls.slice(0, middle), ...context)
      return new Map([...half, ...(await performInParts(client, calls.slice(middle), ...context))])
    }
  }

  function replay(call: MutationCall, original: Original): Outcome<MutationResult> {
    try {
      checkReplay(original, call)
      return { value: { generated: decodeResult(original.result), isReplay: true } }
    } catch (error) {
      return { error: failures.storeError(error) }
    }
  }

  function outcomeOf(call: MutationCall, results: Results): Outcome<MutationResult> {
    const generated = results.get(call)
    if (generated instanceof Error) return { error: failures.storeError(generated, call) }
    return { value: { generated, isReplay: false } }
  }

  /** Tries again after a deadlock: another program locks rows in another order, and gets them first. */
  async function afterDeadlock<T>(commitOnce: () => Promise<T>): Promise<T> {
    return commitOnce().catch(async (error) => {
      if (sqlStateOf(error) !== '40P01') throw error
      await wait(deadlockPause)
      return commitOnce()
    })
  }

  return async function commit(batch: MutationCall[], now = new Date()): Promise<Outcome<MutationResult>[]> {
    try {
      return await afterDeadlock(() => commitTogether(batch, now))
    } catch (error) {
      if (concernsDatabase(error)) throw failures.storeError(error)
    }
    const outcomes: Outcome<MutationResult>[] = []
    while (outcomes.length < batch.length) {
      const part = batch.slice(outcomes.length, outcomes.length + maxPart)
      const failAll = (error: unknown) =>
        batch.slice(outcomes.length).map(() => ({ error: failures.storeError(error) }))
      outcomes.push(...(await afterDeadlock(() => commitInParts(part, now)).catch(failAll)))
    }
    return outcomes
  }
}

/**
 * Runs a mutation. What a statement throws is thrown also if the mutation catches it, because then the transaction cannot be
 * committed. It is told apart from what the mutation throws by where it comes from: the driver's errors have no class.
 */
async function runMutation(mutation: BatchMutation, client: Queries, rows: unknown[][], historyDays?: number) {
  let failed: { error: unknown } | undefined
  async function query(statement: QueryConfig) {
    try {
      return await client.query(statement)
    } catch (error) {
      failed ??= { error }
      throw error
    }
  }
  try {
    // Safe: it returns what the client does.
    const outcomes = await mutation.run({ query: query as Queries['query'] }, rows, historyDays)
    if (!failed) return outcomes
  } catch (cause) {
    if (!failed) throw new MutationError('', { cause })
  }
  throw failed.error
}

/** Moves the sequence to the greatest id, as after a copy, under the lock of inserts. Returns whether the next is free. */
async function moveSequence(client: Queries, table: PgTable): Promise<boolean> {
  const sequence = sequenceOf(table)
  const rows = await query(
    client,
    sql`SELECT setval(${sequence}, newest)
    FROM (SELECT max(${columnOf(table, 'id')}) AS newest FROM ${table}) AS rows
    WHERE newest >= pg_sequence_last_value(${sequence}::regclass)`,
  )
  return rows.length > 0
}

/** The first calls, up to the second one with a new key, which waits for the first: if that fails, it frees its key. */
function callsUntilNewKeyRecurs(calls: MutationCall[], originals: Originals): MutationCall[] {
  const used = new Set<string>()
  const end = calls.findIndex(({ idempotency }) => {
    if (!idempotency || originals.has(textOfKey(idempotency))) return false
    const isUsed = used.has(textOfKey(idempotency))
    used.add(textOfKey(idempotency))
    return isUsed
  })
  return end < 0 ? calls : calls.slice(0, end)
}
