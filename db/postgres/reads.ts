import { and, asc, eq, gt, type SQL, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Pet, PetQuery } from '../store.ts'
import { pets } from './schema.ts'

/** The statements that only read pets. */
export function prepareReads(db: NodePgDatabase) {
  const { id, name, categoryId, status } = pets
  const selectPets = () => db.select({ id, name, categoryId, status }).from(pets)
  const page = (where?: SQL) => selectPets().where(where).orderBy(asc(id)).limit(sql.placeholder('limit'))
  const afterCursor = gt(id, sql.placeholder('cursor'))
  const listAll = page(afterCursor).prepare('list_pets')
  const listByStatus = page(and(eq(status, sql.placeholder('status')), afterCursor)).prepare('list_pets_by_status')
  const getPet = selectPets()
    .where(eq(id, sql.placeholder('id')))
    .prepare('get_pet')

  return {
    listPets: ({ status, cursor, limit }: PetQuery): Promise<Pet[]> =>
      status ? listByStatus.execute({ status, cursor, limit }) : listAll.execute({ cursor, limit }),
    async getPet(id: bigint): Promise<Pet | undefined> {
      const [pet] = await getPet.execute({ id })
      return pet
    },
  }
}
