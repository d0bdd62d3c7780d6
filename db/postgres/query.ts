import type { SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import type { ClientBase } from 'pg'

const dialect = new PgDialect()

/**
 * Runs a statement with its values. Returns rows as arrays.
 *
 * @param name of a prepared statement.
 */
export async function query<Row extends unknown[]>(client: ClientBase, statement: SQL, name?: string): Promise<Row[]> {
  const { sql: text, params: values } = dialect.sqlToQuery(statement)
  return (await client.query<Row>({ text, values, rowMode: 'array', name })).rows
}
