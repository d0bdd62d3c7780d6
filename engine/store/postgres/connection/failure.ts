import { getTableColumns, getTableName } from 'drizzle-orm'
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import { DatabaseError } from 'pg'
import type { WriteFailure } from '../../collection/base-store.ts'
import {
  IdsExhausted,
  notUnique,
  Refusal,
  reasons,
  refusalOf,
  runtimeMessage,
  StoreUnavailable,
  UnusableDatabase,
} from '../../collection/errors.ts'
import { brokenReference, type RefusedCall } from '../../collection/reference.ts'
import { describeLocation } from '../../database/location.ts'

/**
 * What an error of PostgreSQL means: first for the write that it ended, then for the caller, and last for the operator. The
 * group commit asks which errors concern one call only, and the store maps each error to one of its own. A message is read
 * only where servers and poolers give no code of their own: everything else follows from the code of the error (SQLSTATE).
 */

/** The code of an error of the server (SQLSTATE), empty for any other error. */
export function sqlStateOf(error: unknown): string {
  return error instanceof DatabaseError ? (error.code ?? '') : ''
}

/** The address leads to a server in recovery. Its code is that of a write to such a server (read_only_sql_transaction). */
export class Standby extends Error {
  readonly code = '25006'

  constructor() {
    super('the server is a standby')
  }
}

/** What a mutation has thrown itself, as opposed to the driver, as the cause. */
export class MutationError extends Error {}

/** The driver's errors and those of the network have no class of their own. Defects of the code and the store's rules have. */
const driverErrors: unknown[] = [Error, AggregateError, Standby]

/**
 * Whether the server has refused one write: an invalid value, a violated constraint, a value that is too large for an index,
 * or what a trigger refuses (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
export function concernsOneWrite(error: unknown): boolean {
  return /^(2[23]|54|P0001)/.test(sqlStateOf(error))
}

/** Whether the error concerns the whole database, and not one write only. */
export function concernsDatabase(error: unknown): boolean {
  if (error instanceof DatabaseError) return !concernsOneWrite(error)
  return error instanceof Error && driverErrors.includes(error.constructor)
}

/** Whether the connection was lost, as opposed to a statement that failed. */
export function isConnectionError(error: unknown): boolean {
  // Operator intervention, such as a restart, and connection exceptions. The driver's own errors have no class.
  if (error instanceof DatabaseError) return /^(08|57P)/.test(sqlStateOf(error))
  return concernsDatabase(error)
}

/** The names of the rules of a table, of which indexes are some. */
export function ruleNamesOf(table: PgTable): string[] {
  const { columns, checks, indexes, uniqueConstraints } = getTableConfig(table)
  const named = [...checks, ...uniqueConstraints, ...indexes.map(({ config }) => config)].map(({ name }) => name)
  const unique = columns.filter(({ isUnique }) => isUnique).map(({ uniqueName }) => uniqueName)
  return [...named, ...unique].filter((name) => name !== undefined)
}

export type Failures = ReturnType<typeof failuresOf>

/** @param tables of this release. */
export function failuresOf(tables: PgTable[]) {
  const primaryKeys = new Map<string | undefined, PgTable>(
    tables.map((table) => [`${getTableName(table)}_pkey`, table]),
  )
  const knownRules = new Set<string | undefined>(tables.flatMap(ruleNamesOf))

  /** Maps anything thrown, of a call of a mutation if there is one. */
  function storeError(error: unknown, call?: RefusedCall & { table: PgTable }): Error {
    const isOfMutation = error instanceof MutationError
    const cause = isOfMutation ? error.cause : error
    if (!(cause instanceof Error)) return new Error(String(cause))
    if (cause instanceof Refusal) return refusalOf(cause)
    if (isOfMutation || cause instanceof StoreUnavailable) return cause
    // sequence_generator_limit_exceeded
    if (sqlStateOf(cause) === '2200H') {
      // The name of the sequence is in quotes.
      const table = cause.message.split('"')[1]?.replace(/_id_seq$/, '')
      const remedy = 'Give the rows with the greatest ids lower ones, and restart the sequence.'
      return new IdsExhausted(`${cause.message}. ${remedy}`, table)
    }
    // unique_violation, with the detail: Key (title, shelf)=(Faust, North) already exists.
    if (cause instanceof DatabaseError && cause.code === '23505' && knownRules.has(cause.constraint)) {
      const names = cause.detail?.split(')=(')[0]?.split('(')[1]?.split(', ') ?? []
      // Statements of a product may also write other tables.
      const isOfCall = call && cause.table === getTableName(call.table)
      return notUnique(cause.table, isOfCall ? getTableColumns(call.table) : {}, names)
    }
    // foreign_key_violation, and restrict_violation for ON DELETE RESTRICT
    if (call && /^23(503|001)$/.test(sqlStateOf(cause)))
      return brokenReference(call, call.table, getTableConfig(call.table).foreignKeys)
    const failure = failureOf(cause)
    // Corrupt data, or a schema that this release did not create.
    const needsOperator = failure === 'corrupt' || failure === 'schema'
    if (!concernsDatabase(cause) && !needsOperator && !tableOfTakenId(cause)) return withoutValues(cause)
    const message = runtimeMessage(reasonOf(cause), codeOf(cause))
    return new StoreUnavailable(message, { isRetryable: !needsOperator, failure, cause: withoutValues(cause) })
  }

  function failureOf(error: Error): WriteFailure {
    const isDatabaseError = error instanceof DatabaseError
    if (isDatabaseError && violatesForeignRule(error)) return 'schema'
    // The driver's errors about connections have no class of their own.
    const others = isDatabaseError ? 'other' : 'unreachable'
    return writeFailureByCode.find(([pattern]) => pattern.test(codeOf(error)))?.[1] ?? others
  }

  /** Valid input fits this release's columns and constraints. If it does not, a newer release or a person changed them. */
  function violatesForeignRule(error: DatabaseError): boolean {
    if (tableOfTakenId(error)) return false
    const { code = '', constraint } = error
    if (/^23(505|514|P01)$/.test(code)) return !knownRules.has(constraint)
    return /^(23502|22001|22003|22P02)$/.test(code)
  }

  /** The table in which a row that was inserted or copied with its id has taken the one of a new row. */
  function tableOfTakenId(error: unknown): PgTable | undefined {
    return error instanceof DatabaseError ? primaryKeys.get(error.constraint) : undefined
  }

  return { storeError, tableOfTakenId }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** The messages of data exceptions (class 22) contain the value, which does not belong in the log. */
function withoutValues(error: Error): Error {
  const code = codeOf(error)
  if (!/^22/.test(code)) return error
  return Object.assign(new Error('PostgreSQL refused a value.'), { code })
}

const writeFailureByCode: [RegExp, WriteFailure][] = [
  [/^2[23]/, 'rule'],
  // A lock or a statement took too long, or a deadlock.
  [/^(55P03|57014|40)/, 'busy'],
  [/^XX00[12]$/, 'corrupt'],
  [/^53100$/, 'full'],
  [/^58/, 'io'],
  [/^25006$/, 'read_only'],
  [/^(42|3[DF])/, 'schema'],
  [/^(08|28|57P|53)/, 'unreachable'],
]

/** Converts what the driver or the server threw. Throws any other error itself, because it is then a bug. */
export function unusable(url: string, error: unknown): UnusableDatabase {
  if (error instanceof UnusableDatabase) return error
  if (!concernsDatabase(error) && !concernsOneWrite(error)) throw error
  return new UnusableDatabase(urlWithoutPassword(url), reasonOf(error), { cause: error })
}

/** Runs a step. Errors of the driver and the server become an {@link UnusableDatabase}. */
export async function orUnusable<T>(url: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    throw unusable(url, error)
  }
}

/** The URL without a password, for messages. */
export function urlWithoutPassword(url: string): string {
  return describeLocation({ kind: 'postgres', url })
}

/** Reasons by the code of an error, or by the message of the driver, for which `$message` stands. The first match counts. */
const reasonByError: [RegExp, string][] = [
  [/^ECONNREFUSED/, 'nothing listens there; start PostgreSQL, or correct the address'],
  [/^(ENOTFOUND|EAI_AGAIN)/, 'its host is not known; correct the address'],
  [/^E[A-Z]+ /, '$message; check PostgreSQL and the network'],
  // The driver's error for SCRAM has no code. For other methods the server sends one.
  [
    /client password must be a string|empty password/,
    'it asks for a password; set PGPASSWORD, or put the password into the address',
  ],
  [/^(28P01|28000) /, '$message; correct the address, or allow this user in pg_hba.conf'],
  [/^3D000 /, '$message; create it with CREATE DATABASE, or correct the address'],
  [/^25006 /, '$message; wait until the server accepts writes, or correct the address'],
  [/^42501 /, '$message; GRANT this user the right to create and use tables in its schema'],
  [/^(42P01|42703) /, '$message; put it back, or name another database'],
  [/^42P07 /, reasons.noJournal],
  // A prepared statement is missing, or another session has prepared it.
  [/^(26000|42P05) /, reasons.shared],
  [/^55P03 /, reasons.locked],
  [/^53100 /, reasons.diskFull],
  [/^53300 /, '$message; raise max_connections of PostgreSQL, or lower DATABASE_CONNECTIONS'],
  [/^57014 /, '$message; look for slow queries and locks in pg_stat_activity'],
  [/^57P0[1-3] /, '$message; wait until PostgreSQL has started, or start it'],
  [/^XX00[12] /, reasons.corrupt],
  [/^22/, 'it refused a value that this release accepts; look for changed columns and triggers'],
  [/^23/, '$message; look for changed rules, and for rows that were inserted by hand'],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+) /,
    '$message; name the authority of its certificate with sslrootcert in the address',
  ],
  [/^(CERT_|ERR_TLS_CERT)/, '$message; renew the certificate of PostgreSQL, or correct the host in the address'],
  [/does not support SSL/, 'it does not offer TLS; turn on ssl in PostgreSQL, or change sslmode in the address'],
  [
    /timeout exceeded when trying to connect/,
    'no connection became free in time; look for slow queries in pg_stat_activity, or raise DATABASE_CONNECTIONS',
  ],
  [/^ .*timeout/i, 'it does not respond in time; check PostgreSQL and the network'],
  [/Connection terminated|not queryable/, 'the connection was lost; check PostgreSQL and the network'],
]

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) throw error
  const message = error.message || String(error)
  const known = reasonByError.find(([pattern]) => pattern.test(`${codeOf(error)} ${message}`))
  return (known?.[1] ?? '$message; check PostgreSQL and the address').replace('$message', () => message)
}
