import { randomInt } from 'node:crypto'
import type Database from 'better-sqlite3'

/** Makes a database distinguishable from its copies. The user version is part of the header, which is read without SQLite. */
export function giveIdentity(connection: Database.Database): void {
  connection.pragma(`user_version = ${randomInt(1, 2 ** 31)}`)
}
