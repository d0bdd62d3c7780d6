import { getTableColumns, getTableName } from 'drizzle-orm'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { WriteFailure } from '../../collection/base-store.ts'
import {
  IdempotencyKeyReused,
  IdsExhausted,
  notUnique,
  OtherRelease,
  Refusal,
  RowChanged,
  RowConflict,
  RuleViolation,
  reasons,
  refusalOf,
  runtimeMessage,
  StoreUnavailable,
} from '../../collection/errors.ts'
import { brokenReference, type RefusedCall } from '../../collection/reference.ts'

/** What SQLite does not detect on the files of an open database. A file is lost if another one, or none, is in its place. */
export type Damage =
  | 'database lost'
  /** Or its index (`-shm`), which also holds the locks between processes. */
  | 'log lost'
  | 'log truncated'

const descriptions: Record<Damage, string> = {
  'database lost': 'The database was deleted, moved or replaced while it was open',
  'log lost': 'The write-ahead log of the database, or its index, was deleted, moved or replaced while it was open',
  'log truncated': 'The write-ahead log of the database was truncated while it was open',
}

/** Nothing may be acknowledged any more. The process must end: its next start uses the files that are in place by then. */
export class FilesDamaged extends Error {
  override name = 'FilesDamaged'
  readonly damage: Damage

  /** @param remedy what the operator can do. It is known when the files are saved. */
  constructor(damage: Damage, remedy = 'the process saves what it had, and ends') {
    super(`${descriptions[damage]}; ${remedy}.`)
    this.damage = damage
  }
}

/** An error as it is sent between threads, which do not keep its class: {@link storeError} makes one from it again. */
export type Failure = {
  /** What SQLite or the file system calls the error, otherwise the name of its class. */
  code: string
  message: string
} & (
  | { kind: 'refusal'; responseCode: Refusal['code'] }
  | { kind: 'conflict'; subject: string; fields: string[]; rule: RowConflict['rule'] }
  | { kind: 'changed'; subject: string; fields: string[] }
  | { kind: 'rule'; subject: string }
  /** The message is a sentence for the operator. */
  | { kind: 'damage'; damage: Damage }
  | { kind: 'release' }
  /** A call of the system has failed: an error of the program may have a code like ENOENT, too. */
  | { kind: 'system' }
  /** The stack says where a defect is. */
  | { kind: 'other'; stack?: string | undefined }
)

export function toFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { kind: 'other', code: 'UNKNOWN', message: String(error) }
  const { name, message, stack } = error
  const failure = { code: 'code' in error && typeof error.code === 'string' ? error.code : name, message }
  if (error instanceof Refusal) return { ...failure, kind: 'refusal', code: name, responseCode: error.code }
  if (error instanceof RowConflict)
    return { ...failure, kind: 'conflict', subject: error.subject, fields: error.fields, rule: error.rule }
  if (error instanceof RowChanged) return { ...failure, kind: 'changed', subject: error.subject, fields: error.fields }
  if (error instanceof RuleViolation) return { ...failure, kind: 'rule', code: name, subject: error.subject }
  if (error instanceof FilesDamaged) return { ...failure, kind: 'damage', damage: error.damage }
  if (error instanceof OtherRelease) return { ...failure, kind: 'release', code: 'SQLITE_SCHEMA' }
  return 'syscall' in error ? { ...failure, kind: 'system' } : { ...failure, kind: 'other', stack }
}

/** Whether the database is busy, full, broken or gone. Any other error, such as a violated constraint, affects one write. */
export function concernsDatabase({ kind, code }: Failure): boolean {
  return ['damage', 'release', 'system'].includes(kind) || (kind === 'other' && /^SQLITE_(?!CONSTRAINT)/.test(code))
}

export function violatesConstraint({ code }: Failure): boolean {
  return code.startsWith('SQLITE_CONSTRAINT')
}

/** The error if a write breaks a uniqueness or a reference. Statements of a product may also write other tables. */
export function conflictOf(
  { code, message }: Failure,
  call: RefusedCall,
  table: SQLiteTable,
  others: SQLiteTable[] = [],
): RowConflict | undefined {
  const { name, foreignKeys } = getTableConfig(table)
  const isOfOther = (other: SQLiteTable) => hasUnique(other) && message.includes(`: ${getTableName(other)}.`)
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' && (hasUnique(table) || others.some(isOfOther)))
    // UNIQUE constraint failed: books.title, books.shelf
    return notUnique(
      name,
      getTableColumns(table),
      message
        .replace(/^[^:]*: /, '')
        .replaceAll(`${name}.`, '')
        .split(', '),
    )
  // SQLite implements ON DELETE RESTRICT as a trigger.
  const isReference = code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || message === 'FOREIGN KEY constraint failed'
  return isReference ? brokenReference(call, table, foreignKeys) : undefined
}

function hasUnique(table: SQLiteTable): boolean {
  const { columns, indexes, uniqueConstraints } = getTableConfig(table)
  return (
    [...columns.map(({ isUnique }) => isUnique), ...indexes.map(({ config }) => config.unique)].includes(true) ||
    uniqueConstraints.length > 0
  )
}

/** Whether another connection holds the lock. */
export function isBusy(failure: Failure): boolean {
  return causeOf(failure) === 'busy'
}

/** Whether the database is corrupt, as far as SQLite knows (see {@link mayBeReadError}). */
export function isCorrupt(failure: Failure): boolean {
  return causeOf(failure) === 'corrupt'
}

/** SQLite also reports a page that the disk could not read with this code. Its other codes of corruption are certain. */
export function mayBeReadError({ code }: Failure): boolean {
  return code === 'SQLITE_CORRUPT'
}

/** Why a write fails, for a failure that concerns the database. */
function causeOf({ kind, code }: Failure): WriteFailure {
  if (kind === 'damage') return 'io'
  return known.find(([pattern]) => pattern.test(code))?.[1] ?? 'other'
}

export function storeError(failure: Failure): Error {
  const { kind, code, message } = failure
  if (kind === 'refusal') return refusalOf({ name: code, message, code: failure.responseCode })
  if (kind === 'conflict') return new RowConflict(message, failure.subject, failure.fields, failure.rule)
  if (kind === 'changed') return new RowChanged(failure.fields, failure.subject)
  if (kind === 'rule') {
    const Rule = [IdempotencyKeyReused, IdsExhausted].find(({ name }) => name === code) ?? RuleViolation
    return Object.assign(new Rule(message, failure.subject), { name: code })
  }
  // A retry may reach an instance of the other release.
  if (kind === 'release') return new OtherRelease({ isRetryable: true })
  if (kind === 'other' && !concernsDatabase(failure))
    return Object.assign(new Error(`${code}: ${message}`), failure.stack === undefined ? {} : { stack: failure.stack })
  return new StoreUnavailable(kind === 'damage' ? message : runtimeMessage(reasonOf(failure), code), {
    isRetryable: !isCorrupt(failure) || mayBeReadError(failure),
    failure: causeOf(failure),
  })
}

/** What is wrong and what to do, as a clause. */
export function reasonOf({ code, message }: Failure): string {
  const [, , reason] = known.find(([pattern]) => pattern.test(code)) ?? []
  return reason?.replace('$message', () => systemMessage(message)) ?? `${message}; look up ${code} on sqlite.org`
}

const checkPath = '$message; check the path and its permissions'
const checkTables = '$message; check whether another program has changed its tables'

/**
 * Why a write fails, and the reason, in which `$message` stands for the message of the system or of SQLite. The first pattern
 * that matches counts.
 */
const known: [RegExp, WriteFailure, string][] = [
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)$/, 'full', reasons.diskFull],
  [/^(EIO|SQLITE_IOERR_(CORRUPTFS|READ|SHORT_READ|FSTAT))$/, 'io', reasons.unreadable],
  [/^(EMFILE|ENFILE)$/, 'other', 'no file descriptor is left; raise the limit (ulimit -n, or LimitNOFILE of systemd)'],
  [/^ENOTDIR$/, 'io', 'a part of its path is a file, not a folder; check the path'],
  [/^(EROFS|SQLITE_READONLY)/, 'read_only', '$message; check that its file system and its files can be written'],
  [/^(EACCES|EPERM)$/, 'read_only', checkPath],
  [/^(ENOENT|ENXIO|ESTALE)$/, 'io', checkPath],
  [/^(E[A-Z0-9]+$|Unknown system error)/, 'other', checkPath],
  [/^SQLITE_BUSY/, 'busy', reasons.locked],
  [/^SQLITE_CORRUPT$/, 'corrupt', reasons.corruptOrUnreadable],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'corrupt', reasons.corrupt],
  [/^SQLITE_IOERR/, 'io', '$message; check the disk, its quota, and the permissions of the file and its folder'],
  [/^SQLITE_CANTOPEN/, 'io', '$message; check the permissions of the file and its folder, and the limit of open files'],
  [/^SQLITE_NOMEM/, 'other', '$message; give the process more memory'],
  [/^SQLITE_SCHEMA/, 'schema', checkTables],
  [/^SQLITE_(ERROR|CONSTRAINT)/, 'other', checkTables],
]

/** Node's own message repeats the code, the system call and the path: `EACCES: permission denied, open '…'`. */
function systemMessage(message: string): string {
  return /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message
}
