import { type Pool, types } from 'pg'
import { type CountRow, countStatement, toPetCounts } from '../counts.ts'
import type { Pet, PetQuery, PetStatus, PetStore } from '../store.ts'
import { batchReads } from './batch-reads.ts'
import { mapErrors } from './failure.ts'

const columns = 'id, name, category_id, status'

const getStatement = { name: 'get_pets', text: `SELECT ${columns} FROM pets WHERE id = ANY ($1::bigint[])` }

const listStatement = { name: 'list_pets', text: selectPages('id > query.after ORDER BY id') }

const listByStatusStatement = {
  name: 'list_pets_by_status',
  text: selectPages(rangeOf('query.wanted', 'query.after')),
}

const countsStatement = {
  name: 'count_pets',
  text: countStatement((status) => `SELECT id FROM pets WHERE ${rangeOf(`'${status}'`, '0')}`),
}

/**
 * The pets of a status after an id, as a range of the index by status: for `status = …` PostgreSQL may walk past all pets
 * of the other statuses.
 */
function rangeOf(status: string, after: string): string {
  return `(status, id) > (${status}, ${after}) AND status <= ${status} ORDER BY status, id`
}

/** Selects many pages. `place` numbers them from 1. */
function selectPages(condition: string): string {
  return `SELECT page.*, place::int
    FROM unnest($1::bigint[], $2::int[], $3::text[]) WITH ORDINALITY AS query (after, size, wanted, place)
    CROSS JOIN LATERAL (
      SELECT ${columns} FROM pets WHERE ${condition} LIMIT query.size
    ) AS page
    ORDER BY place, id`
}

/** The methods of the {@link PetStore} that only read. */
export function prepareReads(pool: Pool): Omit<PetStore, 'create' | 'createOnce'> {
  const listAll = batchPages(pool, listStatement)
  const listByStatus = batchPages(pool, listByStatusStatement)
  return {
    list: async (query) => (await (query.status ? listByStatus : listAll)(query)) ?? [],
    get: batchReads(
      (id: bigint) => id,
      async (ids) => {
        const rows = await select<PetRow>(pool, getStatement, [ids])
        return new Map(rows.map((row) => [row[0], toPet(row)]))
      },
    ),
    async counts() {
      const [row] = await select<CountRow>(pool, countsStatement, [])
      // Safe: a SELECT without FROM returns one row.
      return toPetCounts(row as CountRow)
    },
  }
}

function batchPages(pool: Pool, statement: Statement) {
  return batchReads(keyOf, async (queries: PetQuery[]) => {
    const rows = await select<PageRow>(pool, statement, [
      queries.map(({ cursor }) => cursor),
      queries.map(({ limit }) => limit),
      queries.map(({ status }) => status),
    ])
    const pages = queries.map((query): [string, Pet[]] => [keyOf(query), []])
    for (const row of rows) pages[row[4] - 1]?.[1].push(toPet(row))
    return new Map(pages)
  })
}

function keyOf({ status, cursor, limit }: PetQuery): string {
  return `${status} ${cursor} ${limit}`
}

type PetRow = [id: bigint, name: string, categoryId: bigint, status: PetStatus]
type PageRow = [...pet: PetRow, place: number]
type Statement = { name: string; text: string }

/** Bypasses Drizzle: its mapping of rows would take longer than everything else on this side. */
async function select<Row extends unknown[]>(pool: Pool, statement: Statement, values: unknown[]): Promise<Row[]> {
  const { rows } = await mapErrors(
    pool.query<Row>({ ...statement, values, rowMode: 'array', types: { getTypeParser } }),
  )
  return rows
}

/** The driver returns 64-bit integers as text by default. */
function getTypeParser(type: number): (text: string) => unknown {
  if (type === types.builtins.INT8) return BigInt
  return type === types.builtins.INT4 ? Number : String
}

function toPet([id, name, categoryId, status]: PetRow | PageRow): Pet {
  return { id, name, categoryId, status }
}
