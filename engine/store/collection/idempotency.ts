import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { check, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { IdempotencyKeyReused } from './errors.ts'
import { partsOf, textOfStructure, textOfValue } from './row.ts'
import { int64, timestamp, timestampCheck } from './schema.ts'

/**
 * The idempotency key of a mutation that may be retried. Of several mutations with the same key within
 * {@link idempotencyLifetime}, only the first one takes effect, and all get its result. A mutation rejects with
 * {@link IdempotencyKeyReused} if the key was used for another operation, or with another input.
 */
export interface IdempotencyKey {
  /** The owner of the key. Each API key has idempotency keys of its own. */
  owner: bigint
  key: string
}

/** The owner of idempotency keys that belong to no API key: those of imports. No API key has this id. */
export const noApiKey = 0n

/** How long an idempotency key is remembered, in milliseconds. */
const idempotencyLifetime = 24 * 3_600_000

/**
 * The result of each mutation with an idempotency key. The lowest ids are the oldest rows. There is no foreign key to what
 * was created: if that is deleted, a retry still gets the same response.
 */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    id: int64('id').primaryKey(),
    owner: int64('api_key_id').notNull(),
    key: text().notNull(),
    operation: text().notNull(),
    fingerprint: text().notNull(),
    result: text().notNull(),
    createdAt: timestamp('created_at').notNull(),
  },
  (use) => [
    uniqueIndex('idempotency_keys_key').on(use.owner, use.key),
    check('idempotency_keys_key_length', sql`length(key) BETWEEN 1 AND 255`),
    check('idempotency_keys_fingerprint_sha256', sql`length(fingerprint) = 64`),
    timestampCheck(use.createdAt),
  ],
)

/** What a key was used for first, and the result. */
export type Original = Pick<typeof idempotencyKeys.$inferSelect, 'operation' | 'fingerprint' | 'result'>

/** A call with a key, which may be the first one or a retry. */
export interface Attempt {
  /** `<collection>.<mutation>` */
  operation: string
  /** The input in the order of the mutation's fields. */
  values: unknown[]
}

/** SHA-256 of an input in hexadecimal, without unset values at the end: a field that is added later does not change it. */
export function fingerprintOf(values: unknown[]): string {
  // In a list, because a value that is a text could be equal.
  const texts = values.map((value) => (partsOf(value) ? [textOfStructure(value)] : textOfValue(value)))
  const used = texts.slice(0, texts.findLastIndex((text) => text !== null) + 1)
  return createHash('sha256').update(JSON.stringify(used)).digest('hex')
}

/** A {@link Replayable} result, or a part of a row, as JSON: an integer as its digits, a time as an object. */
export function encodeResult(generated: object): string {
  const members = Object.entries(generated).flatMap(([name, value]) =>
    value === undefined ? [] : `${JSON.stringify(name)}:${encodeValue(value)}`,
  )
  return `{${members}}`
}

function encodeValue(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(encodeValue)}]`
  return JSON.stringify(value instanceof Date ? { time: textOfValue(value) } : value)
}

export function decodeResult(text: string): object {
  return JSON.parse(text, (name, value, { source = '' } = {}) => {
    if (typeof value === 'number') return BigInt(source)
    // The result itself has no name.
    return name !== '' && typeof value?.time === 'string' ? new Date(value.time) : value
  })
}

/** Whether a key that was stored at this time still counts. An unreadable time does not. */
export function isRemembered(createdAt: Date, now: Date): boolean {
  return createdAt.getTime() > now.getTime() - idempotencyLifetime
}

/** @throws {IdempotencyKeyReused} if the key was first used for another mutation. */
export function checkReplay(original: Original, { operation, values }: Attempt): void {
  if (original.operation !== operation || original.fingerprint !== fingerprintOf(values))
    throw new IdempotencyKeyReused('The key was used for another operation or another input.')
}

/** Rows that a sweep checks for each new key. With two, the sweep deletes faster than keys are added. */
export const sweepRows = 2

/**
 * Decides about the next rows, at most `limit`, of a sweep through the table by id. The lowest ids are the oldest rows,
 * unless a clock was wrong: rows from the future are passed over. The first row of the last 24 hours ends the round.
 *
 * @returns the ids of the expired rows, and the id after which the next sweep continues: 0 for a new round
 */
export function planSweep(
  rows: { id: bigint; createdAt: Date }[],
  limit: number,
  now: Date,
): { expired: bigint[]; sweptTo: bigint } {
  const remembered = rows.filter(({ createdAt }) => isRemembered(createdAt, now))
  const isRoundOver = rows.length < limit || remembered.some(({ createdAt }) => createdAt <= now)
  return {
    expired: rows.filter((row) => !remembered.includes(row)).map(({ id }) => id),
    sweptTo: isRoundOver ? 0n : (rows.at(-1)?.id ?? 0n),
  }
}
