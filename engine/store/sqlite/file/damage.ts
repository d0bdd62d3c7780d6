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
