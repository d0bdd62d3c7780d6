import { existsSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { checkPages, refuseForeignFile } from '../sqlite/check-file.ts'
import { connect, orClose } from '../sqlite/connection.ts'
import { identify } from '../sqlite/files.ts'
import { readJournal } from '../sqlite/migrate.ts'
import { readOwnMigrations } from '../sqlite/own-migrations.ts'
import { realPathOf } from '../sqlite/real-path.ts'
import { refuseOtherRelease, type Source } from './endpoints.ts'
import { attemptOn, readableTables } from './sqlite-tables.ts'

/**
 * Opens a database to copy from, which may be in use, in one read transaction.
 *
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export async function openSource(path: string): Promise<Source> {
  const attempt = attemptOn(path)
  return attempt(() => {
    refuseForeignFile(path)
    const connection = connectToRead(path)
    return orClose(connection, () => {
      connection.exec('BEGIN')
      refuseOtherRelease(readJournal(connection), readOwnMigrations(), path)
      checkPages(connection, 'quick_check')
      return {
        identity: identify(path) ?? '',
        ...readableTables(connection, attempt),
        async close() {
          connection.close()
        },
      }
    })
  })
}

/**
 * A read-only connection leaves an empty log behind where there was none, and any other one moves a log that a killed
 * process left into the database.
 */
function connectToRead(path: string): Database.Database {
  const file = realPathOf(path)
  const hasLog = ['-wal', '-journal'].some((suffix) => existsSync(file + suffix))
  const connection = connect(file, { readonly: hasLog, busyTimeout: 5_000 })
  return orClose(connection, () => {
    connection.pragma('query_only = ON')
    return connection
  })
}
