import { createHash } from 'node:crypto'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import { Pool } from 'pg'

/**
 * The database of a peer on PostgreSQL, as Drizzle's documentation and its page on performance recommend: a pool with
 * default settings, prepared statements, and one commit for each create.
 */

const [connectionString = '', portText = ''] = process.argv.slice(2)

export const port = Number(portText)

const pets = pgTable('pets', {
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  name: text().notNull(),
  categoryId: bigint('category_id', { mode: 'number' }).notNull(),
  status: text({ enum: ['available', 'pending', 'sold'] }).notNull(),
})

const apiKeys = pgTable('api_keys', {
  hash: text().notNull().unique(),
  expiresAt: timestamp('expires_at', { withTimezone: true }),
  revokedAt: timestamp('revoked_at', { withTimezone: true }),
})

export type Pet = typeof pets.$inferSelect
export type NewPet = Omit<Pet, 'id'>

export interface PetQuery {
  limit: number
  cursor: number
  status?: Pet['status'] | undefined
}

const db = drizzle({ client: new Pool({ connectionString }) })

const isAfterCursor = gt(pets.id, sql.placeholder('cursor'))
const isOfStatus = eq(pets.status, sql.placeholder('status'))
const selectAll = db
  .select()
  .from(pets)
  .where(isAfterCursor)
  .orderBy(asc(pets.id))
  .limit(sql.placeholder('limit'))
  .prepare('select_all')
const selectByStatus = db
  .select()
  .from(pets)
  .where(and(isOfStatus, isAfterCursor))
  .orderBy(asc(pets.id))
  .limit(sql.placeholder('limit'))
  .prepare('select_by_status')
const selectOne = db
  .select()
  .from(pets)
  .where(eq(pets.id, sql.placeholder('id')))
  .prepare('select_one')
const insert = db
  .insert(pets)
  .values({
    name: sql.placeholder('name'),
    categoryId: sql.placeholder('categoryId'),
    status: sql.placeholder('status'),
  })
  .returning()
  .prepare('insert_pet')
const selectKey = db
  .select()
  .from(apiKeys)
  .where(eq(apiKeys.hash, sql.placeholder('hash')))
  .prepare('select_key')

export async function listPets({ limit, cursor, status }: PetQuery): Promise<Pet[]> {
  return status === undefined ? selectAll.execute({ cursor, limit }) : selectByStatus.execute({ status, cursor, limit })
}

export async function getPet(id: number): Promise<Pet | undefined> {
  const [pet] = await selectOne.execute({ id })
  return pet
}

export async function createPet(pet: NewPet): Promise<Pet> {
  const [created] = await insert.execute({ ...pet })
  if (!created) throw new Error('INSERT ... RETURNING returned no row.')
  return created
}

/** The same check as the service: the SHA-256 of the key is in the database, and the key is neither revoked nor expired. */
export async function isAuthorized(authorization: string | undefined): Promise<boolean> {
  const key = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  if (key === undefined) return false
  const [stored] = await selectKey.execute({ hash: createHash('sha256').update(key).digest('hex') })
  return stored !== undefined && !stored.revokedAt && !(stored.expiresAt && stored.expiresAt <= new Date())
}
