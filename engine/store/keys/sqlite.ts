import type Database from 'better-sqlite3'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { toEntity } from '../collection/entity.ts'
import type { SqliteEngine } from '../sqlite/engine.ts'
import { prepareGet, prepareSelect, selectFrom } from '../sqlite/statements.ts'
import type { ApiKey, ApiKeyStore, NewApiKey } from './store.ts'
import { apiKeys } from './table.ts'

export const writes = { create, createFirst, register, revoke, rotate, touch }

export function open({ read, write, revision }: SqliteEngine): ApiKeyStore {
  return {
    find: read(prepareGet(apiKeys, 'hash')),
    list: read((connection) => prepareSelect(connection, apiKeys, sql`${selectFrom(apiKeys)} ORDER BY ${apiKeys.id}`)),
    create: write(create),
    createFirst: write(createFirst),
    register: write(register),
    revoke: write(revoke),
    rotate: write(rotate),
    touch: write(touch),
    revision,
  }
}

function create(connection: Database.Database) {
  const db = drizzle({ client: connection })
  return (key: NewApiKey): ApiKey => toEntity<typeof apiKeys>(db.insert(apiKeys).values(key).returning().get())
}

function createFirst(connection: Database.Database) {
  const any = drizzle({ client: connection }).select({ id: apiKeys.id }).from(apiKeys).limit(1).prepare()
  const createKey = create(connection)
  return (key: NewApiKey): boolean => {
    if (any.get()) return false
    createKey(key)
    return true
  }
}

function register(connection: Database.Database) {
  const db = drizzle({ client: connection })
  return (key: NewApiKey): boolean =>
    db.insert(apiKeys).values(key).onConflictDoNothing({ target: apiKeys.hash }).run().changes > 0
}

function revoke(connection: Database.Database) {
  const db = drizzle({ client: connection })
  return (id: bigint, revokedAt: Date): boolean => {
    const unrevoked = and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt))
    return db.update(apiKeys).set({ revokedAt }).where(unrevoked).run().changes > 0
  }
}

function rotate(connection: Database.Database): (id: bigint, successor: NewApiKey) => boolean {
  const [revokeKey, createKey] = [revoke(connection), create(connection)]
  return connection.transaction((id: bigint, successor: NewApiKey): boolean => {
    if (!revokeKey(id, successor.createdAt)) return false
    createKey(successor)
    return true
  })
}

function touch(connection: Database.Database) {
  const db = drizzle({ client: connection })
  return (id: bigint, lastUsedAt: Date): void => {
    db.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.id, id)).run()
  }
}
