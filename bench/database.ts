import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { petStatuses } from '../db/pets/pets.ts'
import { connect } from '../engine/store/sqlite/file/connection.ts'
import { prepareSqlite, prepareWrites } from '../test/support/engines.ts'
import { apiKeyRecord, mintApiKey } from '../test/support/product.ts'

/** The number of pets per transaction. */
const step = 100_000

/**
 * Creates a database of the service with this number of pets, a third of each status, and returns an API key for it.
 *
 * @param onProgress called with the number of pets so far
 */
export function makeDatabase(path: string, pets: number, onProgress: (done: number) => void = () => {}): string {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  prepareSqlite(path)
  const key = mintApiKey()
  const connection = connect(path, { busyTimeout: 0 })
  const writes = prepareWrites(connection)
  writes.get('apiKeys.create')?.(apiKeyRecord(key, 'bench'))
  writes.get('apiKeys.touch')?.(1n, new Date())
  connection.close()

  const database = new Database(path)
  database.pragma('synchronous = OFF')
  const insert = database.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)')
  const add = database.transaction((from: number, to: number) => {
    for (let i = from; i < to; i++) insert.run(`pet ${i}`, i % 50, petStatuses[i % petStatuses.length])
  })
  for (let from = 0; from < pets; from += step) {
    add(from, Math.min(from + step, pets))
    onProgress(Math.min(from + step, pets))
  }
  database.close()
  return key
}
