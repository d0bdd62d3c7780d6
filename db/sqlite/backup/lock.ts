import Database from 'better-sqlite3'
import { orClose } from '../connection.ts'

/**
 * Locks a database against all other connections until the returned connection is closed.
 *
 * @throws SQLITE_BUSY if another connection has the database open in WAL mode, or uses it in another journal mode
 */
export function lockDatabase(path: string): Database.Database {
  const connection = new Database(path, { timeout: 0, fileMustExist: true })
  return orClose(connection, () => {
    connection.pragma('locking_mode = EXCLUSIVE')
    connection.exec('BEGIN EXCLUSIVE; COMMIT')
    return connection
  })
}
