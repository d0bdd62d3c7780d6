import { DrizzleQueryError } from 'drizzle-orm'
import { getTableConfig } from 'drizzle-orm/pg-core'
import { DatabaseError } from 'pg'
import { IdempotencyKeyReused, IdsExhausted, KeyNameTaken, KeyRevoked, StoreUnavailable } from '../store.ts'
import { apiKeys, idempotencyKeys, pets } from './schema.ts'

/** What the driver said. Drizzle's error around it would carry the values of the statement into the log. */
export function causeOf(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error
}

/**
 * A rule of the schema or a value that cannot be stored concerns one write only (classes 22 and 23 of
 * https://www.postgresql.org/docs/current/errcodes-appendix.html); all else that the server or the network says
 * concerns the database.
 */
export function concernsDatabase(error: unknown): boolean {
  const cause = causeOf(error)
  if (cause instanceof DatabaseError) return !/^2[23]/.test(cause.code ?? '')
  return cause instanceof Error && !isOwn(cause) && !(cause instanceof TypeError || cause instanceof RangeError)
}

function isOwn(error: Error): boolean {
  return [IdempotencyKeyReused, KeyNameTaken, KeyRevoked].some((kind) => error instanceof kind)
}

/** Data that is corrupt, and a schema that is not the one this release made: what only a person can put right. */
function needsPerson(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  return /^(XX00[12]|42|3[DF]000)/.test(error.code ?? '') || breaksUnknownRule(error)
}

/** Valid input always fits this release's columns; if it does not, a newer release or a person has changed them. */
function breaksUnknownRule({ code = '', constraint = '' }: DatabaseError): boolean {
  // A row inserted by hand has taken the id. The next create gets another one.
  if (constraint === 'pets_pkey') return false
  if (/^23(505|514|P01)$/.test(code)) return !ownRules.has(constraint)
  return /^(23502|22001|22003|22P02)$/.test(code)
}

const ownRules = new Set(
  [pets, apiKeys, idempotencyKeys].flatMap((table) => {
    const { checks, indexes, uniqueConstraints } = getTableConfig(table)
    return [...checks, ...uniqueConstraints, ...indexes.map(({ config }) => config)].map(({ name }) => name)
  }),
)

/** Puts anything thrown into the words of the Store port. */
export function storeError(error: unknown): Error {
  const cause = causeOf(error)
  if (!(cause instanceof Error)) return new Error(String(cause))
  if (cause instanceof StoreUnavailable) return cause
  if (cause instanceof DatabaseError && cause.constraint === 'api_keys_unrevoked_name') return new KeyNameTaken()
  // sequence_generator_limit_exceeded
  if (cause instanceof DatabaseError && cause.code === '2200H') return new IdsExhausted(cause.message)
  const code = 'code' in cause && cause.code !== undefined ? `${cause.code}: ` : ''
  const isIdTaken = cause instanceof DatabaseError && cause.constraint === 'pets_pkey'
  if (concernsDatabase(cause) || needsPerson(cause) || isIdTaken)
    return new StoreUnavailable(`${code}${cause.message}`, { isRetryable: !needsPerson(cause), cause })
  return cause
}

/** What the database throws does not cross the port. */
export async function mapErrors<T>(work: PromiseLike<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw storeError(error)
  }
}
