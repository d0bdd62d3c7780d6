import { sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Pool, PoolClient } from 'pg'

/** The connection of a transaction, on which nothing else runs. */
export type Transaction = NodePgDatabase & { $client: PoolClient }

/** "PETS" in ASCII: the first half of each advisory lock, which the program's other locks share a database with. */
const lockSpace = 0x50455453

/** What instances take turns at. The second one is also in the migrations, where the table `pets` takes it by itself. */
export const turns = { migrations: 1, pets: 2, firstApiKey: 3 } as const

/** Waits for this turn, which lasts until the transaction's rows can be seen by all. */
export async function takeTurn(db: NodePgDatabase, turn: keyof typeof turns): Promise<void> {
  await db.execute(sql`SELECT pg_advisory_xact_lock(${lockSpace}, ${turns[turn]})`)
}

/**
 * Runs the work in a transaction on a connection of its own. Drizzle's own `transaction` loses the connection when BEGIN
 * fails, and gives a broken one back to the pool.
 */
export async function inTransaction<T>(pool: Pool, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    // Each statement has to see what was committed before it, also after it has waited for its turn.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    const result = await work(drizzle({ client }))
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // The server undoes what a closed connection leaves.
    client.release(true)
    throw error
  }
}
