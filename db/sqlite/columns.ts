import { sql } from 'drizzle-orm'
import { check, customType, integer } from 'drizzle-orm/sqlite-core'

/** A 64-bit integer. Connections with `safeIntegers` return `bigint`, although Drizzle's type is `number`. */
export function int64(name: string) {
  return integer(name).$type<bigint>()
}

/** A time as ISO 8601 text in UTC, which is readable and sorts chronologically. */
export const timestamp = customType<{ data: Date; driverData: string }>({
  dataType: () => 'text',
  toDriver: (date) => date.toISOString(),
  fromDriver: (iso) => new Date(iso),
})

/**
 * Allows only the format of `toISOString` and only dates that exist: SQLite must convert the text to itself. Without the
 * added `Z`, SQLite would accept `now`.
 */
export function isTimestamp(table: string, column: string) {
  return check(
    `${table}_${column}_iso8601`,
    sql.raw(`${column} IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(${column}, 1, 23) || 'Z')`),
  )
}
