import { randomInt } from 'node:crypto'
import type Database from 'better-sqlite3'

/** Tells a database from its copies, for HeaderWatch: the user version is in the header, which it reads without SQLite. */
export function giveIdentity(connection: Database.Database): void {
  connection.pragma(`user_version = ${randomInt(1, 2 ** 31)}`)
}
