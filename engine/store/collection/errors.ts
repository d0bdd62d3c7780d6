import type { WriteFailure } from './base-store.ts'

/** The database is busy, full, broken or gone. A write may be stored or not. The message tells the operator what to do. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
  /** Whether a retry can succeed. If not, an operator must repair the database first. */
  readonly isRetryable: boolean
  /** Why, for the metrics of writes that failed. */
  readonly failure: WriteFailure

  constructor(message: string, { isRetryable = true, failure = 'other', cause }: Circumstances = {}) {
    super(message, { cause })
    this.isRetryable = isRetryable
    this.failure = failure
  }
}

interface Circumstances {
  isRetryable?: boolean
  failure?: WriteFailure
  cause?: unknown
}

/** Another release has migrated the database while the service runs. */
export class OtherRelease extends StoreUnavailable {
  constructor({ isRetryable = false }: Pick<Circumstances, 'isRetryable'> = {}) {
    super(
      'Another release has migrated the database. Stop this service and start that release, or restore a backup made before that.',
      { isRetryable, failure: 'schema' },
    )
  }
}

/** The queue of a caller's scans is full, or a scan has waited for too long. A retry can succeed. */
export class TooManySearches extends Error {
  override name = 'TooManySearches'
}

/** The message for the operator if no further write is accepted. */
export const tooManyWrites =
  'Too many writes wait for the database. Check how fast its disk is, and send fewer writes at once.'

/** A call came after {@link BaseStore.close}. */
export class ClosedStore extends StoreUnavailable {
  constructor() {
    super('The database is closed, because the process is stopping.')
  }
}

/**
 * A write breaks a rule of its collection, and fails alone. The message is for the operator. On SQLite, an error of a collection
 * comes from the writer thread with its name, but not as an instance of its class.
 */
export class RuleViolation extends Error {
  /** What the rule is about, such as the name of a table. */
  readonly subject: string

  constructor(message: string, subject = '', options?: ErrorOptions) {
    super(message, options)
    this.subject = subject
  }
}

/**
 * A rule of a product refuses a call, which has no effect. The message is for clients. A subclass can have a name of its own,
 * by which callers recognize it: what reaches them is a plain `Refusal` with this name, because it comes from another thread.
 */
export class Refusal extends RuleViolation {
  override name = 'Refusal'
  /** The code of the response. With `unavailable`, a retry may succeed, and the log has the message, and of procedures and routes the cause. */
  readonly code: 'conflict' | 'not_found' | 'unprocessable' | 'unavailable'

  constructor(message: string, code: Refusal['code'] = 'conflict', options?: ErrorOptions) {
    super(message, '', options)
    this.code = code
  }
}

/** What callers get of a refusal, on both databases alike. */
export function refusalOf({ name, message, code }: Pick<Refusal, 'name' | 'message' | 'code'>): Refusal {
  return Object.assign(new Refusal(message, code), { name })
}

/** Why a write failed, for metrics. */
export function writeFailureOf(error: Error): WriteFailure {
  if (error instanceof StoreUnavailable) return error.failure
  return error instanceof RuleViolation ? 'rule' : 'other'
}

/** A row contradicts another one in the table `subject`. The message is for clients: one of {@link conflicts}, or its own. */
export class RowConflict extends RuleViolation {
  override name = 'RowConflict'
  /** The fields whose values another row has, or that refer to a missing row. Empty if they are not known. */
  readonly fields: string[]
  readonly rule: 'unique' | 'reference'

  constructor(
    message: string,
    subject: string | undefined,
    fields: string[] = [],
    rule: RowConflict['rule'] = 'unique',
  ) {
    super(message, subject)
    this.fields = fields
    this.rule = rule
  }
}

/** The messages for a row that is not unique, refers to a missing row, is still referred to, or one of the latter two. */
export const conflicts = {
  unique: 'A value that must be unique exists already.',
  reference: 'The input refers to something that is missing.',
  referenced: 'Something still refers to it.',
  eitherSide: 'This would leave a reference to something that is missing.',
}

/** @param names the columns, as the database names them. One is unknown if the rule is about an expression. */
export function notUnique(
  table: string | undefined,
  columns: Record<string, { name: string }>,
  names: string[],
): RowConflict {
  const fields = Object.keys(columns).filter((field) => names.includes(String(columns[field]?.name)))
  if (fields.length === 0 || fields.length < names.length) return new RowConflict(conflicts.unique, table)
  return new RowConflict(`Another one has the same ${fields.join(' and ')}.`, table, fields)
}

/** A row is not as the caller has seen it, and stays as it is. The message is for clients, too. */
export class RowChanged extends RuleViolation {
  override name = 'RowChanged'
  readonly fields: string[]

  constructor(fields: string[], subject: string) {
    super(`Changed meanwhile: ${fields.join(', ')}.`, subject)
    this.fields = fields
  }
}

/** The idempotency key was used for another operation or another input within its lifetime. */
export class IdempotencyKeyReused extends RuleViolation {
  override name = 'IdempotencyKeyReused'
}

/** No id is left in the table `subject`. A retry cannot succeed: an operator must renumber the rows. */
export class IdsExhausted extends RuleViolation {
  override name = 'IdsExhausted'
}

/** A database that cannot be used, or not in the way that was asked for. The message is one sentence for the operator. */
export class UnusableDatabase extends Error {
  override name = 'UnusableDatabase'
  /** What is wrong and what to do, as a clause without a full stop. */
  readonly reason: string

  /** @param database its path, or its URL without a password. */
  constructor(database: string, reason: string, options?: ErrorOptions) {
    super(`The database ${database} cannot be used: ${reason}.`, options)
    this.reason = reason
  }
}

/** One sentence for the operator about a failure while the service runs. The code is that of the driver, to look it up. */
export function runtimeMessage(reason: string, code: string): string {
  return `The database cannot be used: ${reason}${code && ` (${code})`}.`
}

/** The database is missing or empty, but its log or a rescued copy exists, and must be restored first. */
export class LostDatabase extends UnusableDatabase {
  override name = 'LostDatabase'
}

/** The reasons that several modules give. A reason that only one module gives is written there. */
export const reasons = {
  notFile: 'it is not a file; check the path',
  notSqlite: 'it is not an SQLite database; choose another file',
  foreign: 'it belongs to another program; choose another database',
  noJournal:
    'it has some of the tables, but no table "migrations"; if another program, such as drizzle-kit push, has dropped that, restore a backup, otherwise choose another database',
  missing: 'it does not exist yet: start the service first, or correct DATABASE_URL',
  empty: 'it has no tables yet: start the service first',
  corrupt: 'it is corrupt; restore an intact backup',
  corruptOrUnreadable: 'it is corrupt, or the disk cannot read it; check the disk, or restore an intact backup',
  unreadable: 'the disk cannot read it; check the disk',
  diskFull: 'the disk is full; free some space',
  shared: 'a pooler shares its connections between sessions; use its session mode, or connect to PostgreSQL directly',
  open: 'a process has it open; stop the service and try again',
  locked: 'another process holds its lock; stop that process, or try again when it has ended',
}

/** @param missing what the database says about a table or a column that is missing. */
export function incomplete(missing: string): string {
  return `${missing}; restore a backup, or put the missing part back, with a migration if it is new`
}
