import { getTableColumns, sql } from 'drizzle-orm'
import {
  isRemembered,
  type Original,
  planSweep,
  sweepRows,
  idempotencyKeys as table,
} from '../collection/idempotency.ts'
import { type Entity, listOf } from '../collection/row.ts'
import type { Queries } from './collection.ts'
import { entityMapper, insertInto, parameter, prepared } from './statements.ts'
import { postgresTableOf } from './table.ts'

const idempotencyKeys = postgresTableOf(table)
type Row = Entity<typeof idempotencyKeys>
type KeyName = Pick<Row, 'owner' | 'key'>

const { id, owner, key } = idempotencyKeys
const select = sql`SELECT ${listOf(Object.values(getTableColumns(idempotencyKeys)))} FROM ${idempotencyKeys}`
const used = prepared(
  sql`${select} WHERE (${owner}, ${key})
    IN (SELECT * FROM unnest(${parameter('owners', 'bigint[]')}, ${parameter('keys', 'text[]')}))`,
  ['owners', 'keys'],
)
const oldest = prepared(
  sql`${select} WHERE ${id} > ${parameter('after', 'bigint')} ORDER BY ${id} LIMIT ${parameter('limit', 'int')}`,
  ['after', 'limit'],
)
const removal = prepared(sql`DELETE FROM ${idempotencyKeys} WHERE ${id} = ANY (${parameter('ids', 'bigint[]')})`, [
  'ids',
])
const insertion = insertInto(idempotencyKeys)
const toRow = entityMapper(idempotencyKeys)

/** Prepares the table of idempotency keys. Call it under the advisory lock of inserts. */
export function prepareIdempotencyKeys() {
  let sweptTo = 0n

  async function remove(client: Queries, ids: bigint[]): Promise<void> {
    if (ids.length > 0) await client.query({ ...removal, values: [ids] })
  }

  return {
    /** Resolves to the keys that were used before, by {@link nameOf}, and deletes those that have expired. */
    async find(client: Queries, keys: KeyName[], now: Date): Promise<Map<string, Original>> {
      const values = [keys.map(({ owner }) => owner), keys.map(({ key }) => key)]
      const rows = (await client.query<unknown[]>({ ...used, values, rowMode: 'array' })).rows.map(toRow)
      const remembered = rows.filter((row) => isRemembered(row.createdAt, now))
      const expired = rows.filter((row) => !remembered.includes(row)).map((row) => row.id)
      await remove(client, expired)
      return new Map(remembered.map((row) => [nameOf(row), row]))
    },
    async add(client: Queries, rows: Omit<Row, 'id'>[], now: Date): Promise<void> {
      if (rows.length === 0) return
      const limit = sweepRows * rows.length
      const first = await client.query<unknown[]>({ ...oldest, values: [sweptTo, limit], rowMode: 'array' })
      const plan = planSweep(first.rows.map(toRow), limit, now)
      await remove(client, plan.expired)
      sweptTo = plan.sweptTo
      await insertion.run(
        client,
        rows.map((row) => insertion.fields.map((field) => row[field])),
      )
    },
  }
}

export function nameOf({ owner, key }: KeyName): string {
  return `${owner} ${key}`
}
