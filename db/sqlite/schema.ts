import { type Placeholder, sql } from 'drizzle-orm'
import { check, customType, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { petStatuses } from '../store.ts'

/** Identifies the files of this service (`PRAGMA application_id`): "PETS" in ASCII. */
export const applicationId = 0x50455453

/** A 64-bit integer. Connections with `safeIntegers` return `bigint`, although Drizzle's type is `number`. */
function int64(name: string) {
  return integer(name).$type<bigint>()
}

/** A time as ISO 8601 text in UTC, which is readable and sorts chronologically. */
const timestamp = customType<{ data: Date; driverData: string }>({
  dataType: () => 'text',
  toDriver: (date) => date.toISOString(),
  fromDriver: (iso) => new Date(iso),
})

/**
 * Allows only the format of `toISOString` and only dates that exist: SQLite must convert the text to itself. Without the
 * added `Z`, SQLite would accept `now`.
 */
function isTimestamp(table: string, column: string) {
  return check(
    `${table}_${column}_iso8601`,
    sql.raw(`${column} IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(${column}, 1, 23) || 'Z')`),
  )
}

// The rules for names are constraints too, so that a row that is inserted by hand follows them.
// White space is that of `\\s` in JavaScript without the control characters, which have their own rule.
const whiteSpace = [
  32, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288, 65279,
]
const controlCharacters = `'*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*'`

export const pets = sqliteTable(
  'pets',
  {
    id: int64('id').primaryKey({ autoIncrement: true }),
    name: text().notNull(),
    categoryId: int64('category_id').notNull(),
    status: text({ enum: petStatuses }).notNull(),
  },
  (table) => [
    // Each index entry ends with the rowid, which is the id. So this index serves the filter and the keyset pagination.
    index('pets_by_status').on(table.status),
    check('pets_id_positive', sql`id > 0`),
    check('pets_name_length', sql`length(name) BETWEEN 1 AND 255`),
    check('pets_name_not_blank', sql`trim(name, ${sql.raw(`char(${whiteSpace.join(', ')})`)}) <> ''`),
    check(
      'pets_name_no_control_characters',
      sql`instr(name, char(0)) = 0 AND name NOT GLOB ${sql.raw(controlCharacters)}`,
    ),
    check('pets_status_known', sql`status IN (${sql.raw(petStatuses.map((status) => `'${status}'`).join(', '))})`),
  ],
)

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
  },
  (table) => [
    uniqueIndex('api_keys_unrevoked_name').on(table.name).where(sql`revoked_at IS NULL`),
    check('api_keys_hash_sha256', sql`length(hash) = 64`),
    ...['created_at', 'expires_at', 'revoked_at', 'last_used_at'].map((column) => isTimestamp('api_keys', column)),
  ],
)

/**
 * The result of each create with an idempotency key. The lowest ids are the oldest rows. There is no foreign key to the
 * pet: if the pet is deleted, a retry still gets the same response.
 */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    id: int64('id').primaryKey(),
    apiKeyId: int64('api_key_id')
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    key: text().notNull(),
    fingerprint: text().notNull(),
    petId: int64('pet_id').notNull(),
    createdAt: timestamp('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('idempotency_keys_key').on(table.apiKeyId, table.key),
    check('idempotency_keys_key_length', sql`length(key) BETWEEN 1 AND 255`),
    check('idempotency_keys_fingerprint_sha256', sql`length(fingerprint) = 64`),
    isTimestamp('idempotency_keys', 'created_at'),
  ],
)

/**
 * A LIMIT that is bound when the statement runs. If a parameter alone is the LIMIT, SQLite compiles the statement again
 * each time it is bound, because its planner uses the value (`sqlite3VdbeSetVarmask`). That takes as long as ten rows.
 */
export function boundLimit(name: string): Placeholder {
  // Safe: Drizzle puts any SQL in this place. Its type allows only a number or a placeholder.
  return sql`${sql.placeholder(name)} + 0` as unknown as Placeholder
}
