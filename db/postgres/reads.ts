import { asc, eq, gt, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { type Pool, types } from 'pg'
import type { Pet, PetQuery, PetStatus, PetStore } from '../store.ts'
import { coalesceReads } from './coalesce.ts'
import { mapErrors } from './failure.ts'
import { pets } from './schema.ts'

/** The methods of the {@link PetStore} that only read. */
export function prepareReads(pool: Pool): Omit<PetStore, 'create' | 'createOnce'> {
  const db = drizzle({ client: pool })
  const { id, name, categoryId, status } = pets
  const selectPets = () => db.select({ id, name, categoryId, status }).from(pets)
  const [cursor, limit] = [sql.placeholder('cursor'), sql.placeholder('limit')]
  const listAll = prepareRows<[cursor: bigint, limit: number]>(
    pool,
    'list_pets',
    selectPets().where(gt(id, cursor)).orderBy(asc(id)).limit(limit),
  )
  // As a range of the index by status: for `status = …` PostgreSQL may walk past all pets of the other statuses.
  const listByStatus = prepareRows<[status: PetStatus, cursor: bigint, status: PetStatus, limit: number]>(
    pool,
    'list_pets_by_status',
    selectPets()
      .where(
        sql`(${status}, ${id}) > (${sql.placeholder('status')}, ${cursor}) AND ${status} <= ${sql.placeholder('status')}`,
      )
      .orderBy(asc(status), asc(id))
      .limit(limit),
  )
  const getPet = prepareRows<[id: bigint]>(pool, 'get_pet', selectPets().where(eq(id, sql.placeholder('id'))))

  return {
    // Many clients list the same page.
    list: coalesceReads(
      ({ status, cursor, limit }: PetQuery) => `${status} ${cursor} ${limit}`,
      ({ status, cursor, limit }) => (status ? listByStatus(status, cursor, status, limit) : listAll(cursor, limit)),
    ),
    async get(id) {
      const [pet] = await getPet(id)
      return pet
    },
  }
}

type PetRow = [id: bigint, name: string, categoryId: bigint, status: PetStatus]

/** Drizzle writes the statement. The rows bypass it: its mapping would take longer than everything else on this side. */
function prepareRows<Parameters extends unknown[]>(pool: Pool, name: string, query: { toSQL(): { sql: string } }) {
  const statement = { name, text: query.toSQL().sql, rowMode: 'array', types: { getTypeParser } } as const
  return async (...values: Parameters): Promise<Pet[]> => {
    const { rows } = await mapErrors(pool.query<PetRow>({ ...statement, values }))
    return rows.map(toPet)
  }
}

/** The driver returns 64-bit integers as text by default. */
function getTypeParser(type: number): (text: string) => unknown {
  return type === types.builtins.INT8 ? BigInt : String
}

function toPet([id, name, categoryId, status]: PetRow): Pet {
  return { id, name, categoryId, status }
}
