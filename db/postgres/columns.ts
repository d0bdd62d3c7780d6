import { sql } from 'drizzle-orm'
import { bigint, check, timestamp } from 'drizzle-orm/pg-core'

/** A 64-bit integer, as `bigint`. */
export function int64(name: string) {
  return bigint(name, { mode: 'bigint' })
}

/** A time in milliseconds, the precision of JavaScript's dates. */
export function time(name: string) {
  return timestamp(name, { withTimezone: true, precision: 3 })
}

/** Allows only times that JavaScript's dates and SQLite's columns can hold: no infinity, no year BC or beyond 9999. */
export function isTimestamp(table: string, column: string) {
  return check(
    `${table}_${column}_in_range`,
    sql.raw(`${column} BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'`),
  )
}
