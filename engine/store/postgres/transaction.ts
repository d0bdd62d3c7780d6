import type { Pool, PoolClient } from 'pg'
import { concernsDatabase } from './connection/failure.ts'

/**
 * The first number of each advisory lock, because other programs may use locks in the same database. It is "PETS" in ASCII,
 * and stays so for every product: triggers of migrations that were applied take the same lock.
 */
const lockSpace = 0x50455453

/** The second numbers. The triggers that order ids take the lock of inserts, too; its number is in the migrations. */
const locks = { migrations: 1, inserts: 2, probes: 4 } as const

/** Takes an advisory lock, which is held until the transaction ends and its rows are visible to all. */
export function lockStatement(lock: keyof typeof locks): string {
  return `SELECT ${lockCall(lock)}`
}

export function lockCall(lock: keyof typeof locks): string {
  return `pg_advisory_xact_lock(${lockSpace}, ${locks[lock]})`
}

/**
 * Runs the work in a transaction, which first takes the lock of inserts. Drizzle's own `transaction` leaks the connection
 * when BEGIN fails, and returns a broken one to the pool.
 */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    // Each statement must see what was committed before it, also if it has waited for a lock.
    // One message, and so one wait for the server.
    await client.query(`BEGIN ISOLATION LEVEL READ COMMITTED; ${lockStatement('inserts')}`)
    const result = await work(client)
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // A connection that is closed is rolled back by the server.
    const isIntact = !concernsDatabase(error) && (await client.query('ROLLBACK').catch(() => undefined))
    client.release(isIntact ? undefined : error instanceof Error ? error : true)
    throw error
  }
}
