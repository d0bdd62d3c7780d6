import { sql } from 'drizzle-orm'
import { check, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { int64, isOneOf, isTimestamp, timestamp } from '../collection/schema.ts'

/** With `write`, a key may also call mutations. */
const accesses = ['read', 'write'] as const

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: int64('id').primaryKey({ autoIncrement: true }),
    name: text().notNull(),
    start: text().notNull(),
    hash: text().notNull().unique('api_keys_hash'),
    createdAt: timestamp('created_at').notNull(),
    expiresAt: timestamp('expires_at'),
    revokedAt: timestamp('revoked_at'),
    lastUsedAt: timestamp('last_used_at'),
    access: text({ enum: accesses }).notNull().default('write'),
  },
  (key) => [
    uniqueIndex('api_keys_unrevoked_name').on(key.name).where(sql`revoked_at IS NULL`),
    isOneOf(key.access),
    check('api_keys_hash_sha256', sql`length(hash) = 64`),
    ...[key.createdAt, key.expiresAt, key.revokedAt, key.lastUsedAt].map(isTimestamp),
  ],
)
