import { getSystemErrorMessage } from 'node:util'
import {
  IdempotencyKeyReused,
  IdsExhausted,
  KeyNameTaken,
  KeyRevoked,
  StoreUnavailable,
  type WriteFailure,
} from '../store.ts'
import { reasons, UnusableDatabase } from '../unusable-database.ts'

/** The part of an error that can be sent between threads. */
export interface Failure {
  /** The code of SQLite or of the file system, otherwise the name of the error. */
  code: string
  message: string
}

export function toFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return { code, message: error.message }
}

/** Whether the database is busy, full, broken or gone. Any other error, such as a violated constraint, affects one write. */
export function concernsDatabase({ code }: Failure): boolean {
  return (code.startsWith('SQLITE_') && !code.startsWith('SQLITE_CONSTRAINT')) || isSystemError(code)
}

/** An error code of the file system, such as ENOENT. */
function isSystemError(code: string): boolean {
  return /^E[A-Z0-9]+$/.test(code)
}

/** Whether a constraint is violated other than the one that becomes KeyNameTaken. */
export function violatesConstraint(failure: Failure): boolean {
  return failure.code.startsWith('SQLITE_CONSTRAINT') && !isKeyNameTaken(failure)
}

function isKeyNameTaken({ code, message }: Failure): boolean {
  return code === 'SQLITE_CONSTRAINT_UNIQUE' && message.includes('api_keys.name')
}

/** Whether another connection holds the lock. */
export function isBusy({ code }: Failure): boolean {
  return code.startsWith('SQLITE_BUSY')
}

/** Whether an operator must repair the database. */
export function isCorrupt({ code }: Failure): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(code)
}

const writeFailureByCode: [RegExp, WriteFailure][] = [
  [/^SQLITE_CONSTRAINT|^(IdempotencyKeyReused|IdsExhausted|KeyRevoked)$/, 'rule'],
  [/^SQLITE_BUSY/, 'busy'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'corrupt'],
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)$/, 'full'],
  [/^SQLITE_IOERR|^EIO$/, 'io'],
  [/^SQLITE_READONLY|^(EROFS|EACCES|EPERM)$/, 'read_only'],
  [/^SQLITE_SCHEMA/, 'schema'],
]

export function writeFailureOf({ code }: Failure): WriteFailure {
  return writeFailureByCode.find(([pattern]) => pattern.test(code))?.[1] ?? 'other'
}

/** Converts a failure to an error of the Store port. */
export function storeError(failure: Failure): Error {
  const { code, message } = failure
  const text = `${code}: ${message}`
  if (isKeyNameTaken(failure)) return new KeyNameTaken()
  if (code === 'IdempotencyKeyReused') return new IdempotencyKeyReused(message)
  if (code === 'IdsExhausted') return new IdsExhausted(message)
  if (code === 'KeyRevoked') return new KeyRevoked(message)
  if (concernsDatabase(failure)) return new StoreUnavailable(text, { isRetryable: !isCorrupt(failure) })
  return new Error(text)
}

/**
 * Converts what the file system or SQLite threw while a database was opened or copied.
 *
 * @param database its path.
 * @throws the error itself if it comes from neither, because it is then a bug.
 */
export function unusable(database: string, error: unknown): UnusableDatabase {
  return error instanceof UnusableDatabase ? error : new UnusableDatabase(database, reasonOf(error), { cause: error })
}

function reasonOf(error: unknown): string {
  const failure = toFailure(error)
  const { code, message } = failure
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL)$/.test(code)) return reasons.diskFull
  if (code === 'EIO') return reasons.unreadable
  if (code === 'ENOTDIR') return 'a part of its path is a file, not a folder; check the path'
  if (isSystemError(code)) return `${systemMessage(error) ?? message}; check the path and its permissions`
  if (isBusy(failure)) return reasons.locked
  if (isCorrupt(failure)) return reasons.corrupt
  if (code.startsWith('SQLITE_')) return `${message}; check the disk and the permissions of the file and its folder`
  throw error
}

function systemMessage(error: unknown): string | undefined {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number'
    ? getSystemErrorMessage(error.errno)
    : undefined
}
