import type Database from 'better-sqlite3'
import { asc, getTableName, gte } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { unusable } from '../sqlite/failure.ts'
import { apiKeys, idempotencyKeys, pets } from '../sqlite/schema.ts'
import type { Source, SourceTable } from './endpoints.ts'

/** Runs a step; what files and SQLite throw meanwhile becomes a sentence for the operator. */
export type Attempt = <T>(step: () => T) => Promise<T>

export function attemptOn(path: string): Attempt {
  return async (step) => {
    try {
      return step()
    } catch (error) {
      throw unusable(path, error)
    }
  }
}

/** Each table, to be read whole. */
export function readableTables(
  connection: Database.Database,
  attempt: Attempt,
): Pick<Source, 'apiKeys' | 'pets' | 'idempotencyKeys'> {
  const db = drizzle({ client: connection })
  const lastId = connection
    .prepare<[string], bigint>('SELECT coalesce(max(CAST(seq AS INTEGER)), 0) FROM sqlite_sequence WHERE name = ?')
    .pluck()

  function readable<Row>(table: SQLiteTable, read: (from: bigint, limit: number) => Row[]): SourceTable<Row> {
    const name = getTableName(table)
    const count = connection.prepare(`SELECT count(*) FROM ${name}`).pluck()
    return {
      name,
      count: () => attempt(() => Number(count.get())),
      read: (from, limit) => attempt(() => read(from, limit)),
      lastId: () => attempt(() => lastId.get(name) ?? 0n),
    }
  }

  return {
    apiKeys: readable(apiKeys, (from, limit) =>
      db.select().from(apiKeys).where(gte(apiKeys.id, from)).orderBy(asc(apiKeys.id)).limit(limit).all(),
    ),
    pets: readable(pets, (from, limit) =>
      db.select().from(pets).where(gte(pets.id, from)).orderBy(asc(pets.id)).limit(limit).all(),
    ),
    idempotencyKeys: readable(idempotencyKeys, (from, limit) =>
      db
        .select()
        .from(idempotencyKeys)
        .where(gte(idempotencyKeys.id, from))
        .orderBy(asc(idempotencyKeys.id))
        .limit(limit)
        .all(),
    ),
  }
}
