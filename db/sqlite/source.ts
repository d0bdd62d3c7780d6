import { existsSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { refuseOtherRelease, type Source } from '../copy/endpoints.ts'
import { UnusableDatabase } from '../store.ts'
import { connect, orClose } from './connection.ts'
import { corrupt } from './copy-failure.ts'
import { identify } from './files.ts'
import { readHeader } from './header.ts'
import { checkPages } from './integrity.ts'
import { readJournal } from './migrate.ts'
import { readOwnMigrations } from './own-migrations.ts'
import { realPathOf } from './real-path.ts'
import { attemptOn, readableTables } from './tables.ts'

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
      refuseOtherRelease(readJournal(connection), readOwnMigrations())
      checkPages(connection, 'quick_check', corrupt)
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

function refuseForeignFile(path: string): void {
  const { isSqlite, isOurs } = readHeader(path)
  if (!isSqlite) throw new UnusableDatabase('it is not an SQLite database; name another file in --from')
  if (!isOurs) throw new UnusableDatabase('it is the SQLite database of another program; name another file in --from')
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
