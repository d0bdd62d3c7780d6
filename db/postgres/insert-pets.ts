import type { ClientBase, Pool } from 'pg'
import type { NewPet, Pet } from '../store.ts'

/** Written by hand, since Drizzle's INSERT of a SELECT names the column that the database fills in. */
const statement = {
  name: 'insert_pets',
  text: `INSERT INTO pets (name, category_id, status)
    SELECT name, category_id, status
    FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS given (name, category_id, status, place)
    ORDER BY place
    RETURNING id`,
}

/** Inserts any number of pets by one statement. Their ids ascend in the order in which they are given. */
export async function insertPets(database: Pool | ClientBase, given: NewPet[]): Promise<Pet[]> {
  const values = [
    given.map(({ name }) => name),
    given.map(({ categoryId }) => categoryId),
    given.map(({ status }) => status),
  ]
  const { rows } = await database.query<{ id: string }>({ ...statement, values })
  return given.map((pet, index) => ({ id: idOf(rows[index]), ...pet }))
}

function idOf(row: { id: string } | undefined): bigint {
  if (!row) throw new Error('PostgreSQL did not return an id for each pet.')
  return BigInt(row.id)
}
