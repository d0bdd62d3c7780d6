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

/**
 * The message of a failure while the service runs: one sentence for the operator.
 *
 * @param code the code of the driver, to look it up.
 */
export function runtimeMessage(reason: string, code: string): string {
  return `The database cannot be used: ${reason}${code && ` (${code})`}.`
}

/** The reasons that several modules give. A reason that only one module gives is written there. */
export const reasons = {
  notFile: 'it is not a file; check the path',
  notSqlite: 'it is not an SQLite database; choose another file',
  foreign: 'it belongs to another program; choose another database',
  empty: 'it has no tables yet: start the service, or create an API key, first',
  corrupt: 'it is corrupt; restore an intact backup',
  unreadable: 'the disk cannot read it; check the disk',
  diskFull: 'the disk is full; free some space',
  shared: 'a pooler shares its connections between sessions; use its session mode, or connect to PostgreSQL directly',
  locked: 'another process holds its lock; stop that process, or try again when it has ended',
}

/** @param missing what the database says about a table or a column that is missing. */
export function incomplete(missing: string): string {
  return `${missing}; restore a backup, or put the missing part back`
}
