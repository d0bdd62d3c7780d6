import { asc, getTableName, gte, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { PgTable } from 'drizzle-orm/pg-core'
import { concernsDatabase } from '../postgres/failure.ts'
import { apiKeys, idempotencyKeys, pets } from '../postgres/schema.ts'
import { unusable } from '../postgres/unusable.ts'
import type { Source, SourceTable } from './endpoints.ts'

/** Runs a step; what the server and the network say meanwhile becomes a sentence for the operator. */
export type Attempt = <T>(step: () => Promise<T>) => Promise<T>

export function attemptOn(url: string): Attempt {
  return async (step) => {
    try {
      return await step()
    } catch (error) {
      if (!concernsDatabase(error)) throw error
      throw unusable(url, error)
    }
  }
}

/** Each table, to be read whole. */
export function readableTables(
  db: NodePgDatabase,
  attempt: Attempt,
): Pick<Source, 'apiKeys' | 'pets' | 'idempotencyKeys'> {
  function readable<Row>(table: PgTable, read: (from: bigint, limit: number) => Promise<Row[]>): SourceTable<Row> {
    const name = getTableName(table)
    return {
      name,
      count: () => attempt(() => db.$count(table)),
      read: (from, limit) => attempt(() => read(from, limit)),
      lastId: () => attempt(() => lastId(db, name)),
    }
  }

  return {
    apiKeys: readable(apiKeys, async (from, limit) =>
      db.select().from(apiKeys).where(gte(apiKeys.id, from)).orderBy(asc(apiKeys.id)).limit(limit),
    ),
    pets: readable(pets, async (from, limit) =>
      db.select().from(pets).where(gte(pets.id, from)).orderBy(asc(pets.id)).limit(limit),
    ),
    idempotencyKeys: readable(idempotencyKeys, async (from, limit) =>
      db
        .select()
        .from(idempotencyKeys)
        .where(gte(idempotencyKeys.id, from))
        .orderBy(asc(idempotencyKeys.id))
        .limit(limit),
    ),
  }
}

/** The sequence is not part of any snapshot, and so never behind the rows. */
async function lastId(db: NodePgDatabase, table: string): Promise<bigint> {
  const { rows: names } = await db.execute<{ name: string }>(sql`SELECT pg_get_serial_sequence(${table}, 'id') AS name`)
  const { rows } = await db.execute<{ last: string }>(
    sql`SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS last FROM ${sql.raw(names[0]?.name ?? '')}`,
  )
  return BigInt(rows[0]?.last ?? 0)
}
