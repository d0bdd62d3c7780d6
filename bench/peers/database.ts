import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'

/** The database of every peer: the schema, the page cache and the checkpoints of the service, and a commit for each create. Lists have no filter. */

export type Status = 'available' | 'pending' | 'sold'

export interface Pet {
  id: number
  name: string
  categoryId: number
  status: Status
}

export type NewPet = Omit<Pet, 'id'>

export interface PetQuery {
  limit: number
  cursor: number
}

const [path = '', portText = ''] = process.argv.slice(2)

export const port = Number(portText)

export const database = new Database(path, { fileMustExist: true })
database.pragma('synchronous = FULL')
if (!process.argv.includes('untuned'))
  for (const option of ['cache_size = -8000', 'wal_autocheckpoint = 4000']) database.pragma(option)

const columns = 'id, name, category_id AS categoryId, status'
const selectAll = database.prepare<[number, number], Pet>(
  `SELECT ${columns} FROM pets WHERE id > ? ORDER BY id LIMIT ?`,
)
const selectOne = database.prepare<[number], Pet>(`SELECT ${columns} FROM pets WHERE id = ?`)
const insert = database.prepare<[string, number, string], Pet>(
  `INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?) RETURNING ${columns}`,
)
const selectKey = database.prepare<[string], { expiresAt: string | null; revokedAt: string | null }>(
  'SELECT expires_at AS expiresAt, revoked_at AS revokedAt FROM api_keys WHERE hash = ?',
)
// Without a transaction, better-sqlite3 would return the row before it is committed.
const commit = database.transaction(insertPet)

export function listPets({ limit, cursor }: PetQuery): Pet[] {
  return selectAll.all(cursor, limit)
}

export function getPet(id: number): Pet | undefined {
  return selectOne.get(id)
}

export function createPet(pet: NewPet): Pet {
  return commit.immediate(pet)
}

export function insertPet({ name, categoryId, status }: NewPet): Pet {
  const created = insert.get(name, categoryId, status)
  if (!created) throw new Error('INSERT ... RETURNING returned no row.')
  return created
}

/** The same check as the service: the SHA-256 of the key is in the database, and the key is neither revoked nor expired. */
export function isAuthorized(authorization: string | undefined): boolean {
  const key = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  if (key === undefined) return false
  const stored = selectKey.get(createHash('sha256').update(key).digest('hex'))
  return stored !== undefined && !stored.revokedAt && !(stored.expiresAt && new Date(stored.expiresAt) <= new Date())
}

export const failures = {
  400: { code: 'invalid_request', message: 'The request is not valid.', status: 400 },
  401: { code: 'unauthorized', message: 'The API key is missing or invalid.', status: 401 },
  404: { code: 'not_found', message: 'No pet has this id.', status: 404 },
}
