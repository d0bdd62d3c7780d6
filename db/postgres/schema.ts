import { sql } from 'drizzle-orm'
import { bigint, check, index, pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'
import { petStatuses } from '../store.ts'

/** A 64-bit integer, as `bigint`. */
function int64(name: string) {
  return bigint(name, { mode: 'bigint' })
}

/** A time in milliseconds, the precision of JavaScript's dates. */
function time(name: string) {
  return timestamp(name, { withTimezone: true, precision: 3 })
}

/** Allows only times that JavaScript's dates and SQLite's columns can hold: no infinity, no year BC or beyond 9999. */
function isTimestamp(table: string, column: string) {
  return check(
    `${table}_${column}_in_range`,
    sql.raw(`${column} BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'`),
  )
}

// The rules for a pet's name, as in the SQLite schema. PostgreSQL's own character classes depend on the locale.
const whiteSpace = String.raw`\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`
const controlCharacters = String.raw`[\u0001-\u001f\u007f-\u009f]`

export const pets = pgTable(
  'pets',
  {
    id: int64('id').primaryKey().generatedAlwaysAsIdentity(),
    name: text().notNull(),
    categoryId: int64('category_id').notNull(),
    status: text({ enum: petStatuses }).notNull(),
  },
  (table) => [
    index('pets_by_status').on(table.status, table.id),
    check('pets_id_positive', sql`id > 0`),
    check('pets_name_length', sql`length(name) BETWEEN 1 AND 255`),
    check('pets_name_not_blank', sql`btrim(name, E'${sql.raw(whiteSpace)}') <> ''`),
    check('pets_name_no_control_characters', sql`name !~ '${sql.raw(controlCharacters)}'`),
    check('pets_status_known', sql`status IN (${sql.raw(petStatuses.map((status) => `'${status}'`).join(', '))})`),
  ],
)

export const apiKeys = pgTable(
  'api_keys',
  {
    id: int64('id').primaryKey().generatedAlwaysAsIdentity(),
    name: text().notNull(),
    start: text().notNull(),
    hash: text().notNull().unique('api_keys_hash'),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at'),
    revokedAt: time('revoked_at'),
    lastUsedAt: time('last_used_at'),
  },
  (table) => [
    uniqueIndex('api_keys_unrevoked_name').on(table.name).where(sql`revoked_at IS NULL`),
    check('api_keys_hash_sha256', sql`length(hash) = 64`),
    ...['created_at', 'expires_at', 'revoked_at', 'last_used_at'].map((column) => isTimestamp('api_keys', column)),
  ],
)

/** The pet that each idempotency key has created. The lowest ids are the oldest rows. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    id: int64('id').primaryKey().generatedAlwaysAsIdentity(),
    apiKeyId: int64('api_key_id')
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    key: text().notNull(),
    fingerprint: text().notNull(),
    petId: int64('pet_id').notNull(),
    createdAt: time('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('idempotency_keys_key').on(table.apiKeyId, table.key),
    check('idempotency_keys_key_length', sql`length(key) BETWEEN 1 AND 255`),
    check('idempotency_keys_fingerprint_sha256', sql`length(fingerprint) = 64`),
    isTimestamp('idempotency_keys', 'created_at'),
  ],
)
