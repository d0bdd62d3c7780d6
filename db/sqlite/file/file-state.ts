import type { WriteFailure } from '../../store.ts'

/**
 * What happened to the files while they were open, the most serious first: of several, the first one decides. A file is
 * lost if the path no longer leads to the one that the connection has open. After any damage, each connection of the process
 * must be closed before one is opened again.
 */
export type Damage =
  | 'database lost'
  | 'database overwritten'
  /** The path leads to the same file under another name, and SQLite names the log after it. */
  | 'database renamed'
  /** Another process has begun a log of its own, so this one cannot be moved into the database. */
  | 'log forked'
  | 'log lost'
  | 'log truncated'
  /** The index of the log (`-shm`), which also holds the locks between processes. */
  | 'index lost'

/** Why the files cannot be used although they are not damaged, or not certainly. */
type Obstacle =
  | 'database foreign'
  /** The files must be examined before the next commit. */
  | 'files changed'
  /** The writer thread has closed the files, and may not open them yet. */
  | 'files released'
  | 'files closed'
  | 'log in use'
  | 'index locked'

/** What the service itself finds out about the files of the database. SQLite does not detect it. */
export type FileState = Damage | Obstacle

/** Sentences for the operator. */
const damages: Record<Damage, string> = {
  'database lost': 'The database was moved, deleted or replaced. Put it back, or restore it.',
  'database overwritten':
    'Another program wrote over the database file while the service had it open. Stop the service and restore a backup with "petstore restore".',
  'database renamed':
    'The database was renamed, and SQLite looks for its log under the new name. The service opens it under that name.',
  'log forked':
    'The write-ahead log was moved or deleted, and another process has written to a new one meanwhile. The service saves a copy of its own commits.',
  'log lost':
    'The write-ahead log of the database was moved, deleted or replaced. The service moves its commits into the database.',
  'log truncated':
    'Another program truncated the write-ahead log of the database. Commits that were only in the log are lost. Restore a backup if you need them.',
  'index lost':
    'The index of the write-ahead log (-shm) was deleted, so other processes do not see the locks of this one. The service opens the files again.',
}

const obstacles: Record<Obstacle, [reason: WriteFailure, message: string]> = {
  'database foreign': [
    'read_only',
    'The file at the path of the database belongs to another program. Put the database back.',
  ],
  'files changed': ['read_only', 'The files of the database have changed.'],
  'files released': ['read_only', 'The files of the database are being opened again. Try again shortly.'],
  'files closed': [
    'io',
    'The database is closed until its files can be opened again. Check that they are in place, or restart the service.',
  ],
  'log in use': [
    'busy',
    'The write-ahead log of the database was lost and cannot be saved yet. End the other processes that read the database.',
  ],
  'index locked': ['busy', 'Another process keeps the index of the write-ahead log locked. End it.'],
}

/** The reason for which a write fails in this state. */
export function writeFailureFor(state: FileState): WriteFailure {
  if (!isDamage(state)) return obstacles[state][0]
  // Counts as corrupt, because a retry cannot succeed.
  return state === 'database overwritten' ? 'corrupt' : 'read_only'
}

export class FileError extends Error {
  override name = 'FileError'
  readonly state: FileState

  /** @param oldLog the path of an old copy of the log that was set aside. */
  constructor(state: FileState, oldLog?: string) {
    const note = oldLog === undefined ? '' : ` An old copy of the log was in its place, and is now ${oldLog}.`
    super((isDamage(state) ? damages[state] : obstacles[state][1]) + note)
    this.state = state
  }
}

/** The damage that the error reports. Undefined for any other error. */
export function damageIn(error: unknown): Damage | undefined {
  return error instanceof FileError && isDamage(error.state) ? error.state : undefined
}

function isDamage(state: FileState): state is Damage {
  return state in damages
}
