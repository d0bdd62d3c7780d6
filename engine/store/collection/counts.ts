import { type Column, getTableName, type SQL, sql, type Table } from 'drizzle-orm'
import type { Names } from './query.ts'
import { textLiteral } from './schema.ts'

/** A number of rows. If it is not exact, it is the limit of what is counted, and there are more rows. */
export interface Count {
  count: number
  isExact: boolean
}

/** The fields whose rows can be counted by value: filters of text that allow only some values. */
export type Counted<T extends Table, F extends Names> = {
  [Name in F[number] & keyof T['$inferSelect']]: T['$inferSelect'][Name] extends string
    ? string extends T['$inferSelect'][Name]
      ? never
      : Name
    : never
}[F[number] & keyof T['$inferSelect']]

/** Returns one row with the numbers of rows with each value, in their order. It stops at one row more than the limit. */
export function countStatement(column: Column, limit: number, select: (value: SQL) => SQL): SQL {
  const counts = valuesOf(column).map(
    (value) =>
      sql`(SELECT count(*) FROM (${select(sql.raw(textLiteral(value)))} LIMIT ${sql.raw(String(limit + 1))}) AS counted)`,
  )
  return sql`SELECT ${sql.join(counts, sql`, `)}`
}

export function toCounts(column: Column, limit: number, row: bigint[] = []): Record<string, Count> {
  const counts = valuesOf(column).map((value, index) => {
    const counted = row[index] ?? 0n
    return [value, { count: Math.min(Number(counted), limit), isExact: counted <= limit }]
  })
  return Object.fromEntries(counts)
}

function valuesOf({ enumValues, name, table }: Column): string[] {
  if (!enumValues) throw new Error(`The column ${name} of ${getTableName(table)} has no list of values to count.`)
  return enumValues
}
