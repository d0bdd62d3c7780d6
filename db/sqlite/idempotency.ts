import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { fingerprintOf } from '../fingerprint.ts'
import { type IdempotencyKey, IdempotencyKeyReused, idempotencyLifetime, type NewPet } from '../store.ts'
import { idempotencyKeys } from './schema.ts'

export interface PetId {
  id: bigint
  isReplay: boolean
}

/**
 * Makes the creation that may be repeated. The pet and its key are written together or not at all; each new key clears
 * away two that are out of date, so that the table never holds much more than a day's.
 */
export function prepareCreateOnce(db: BetterSQLite3Database, createPet: (pet: NewPet) => bigint) {
  const { apiKeyId, key, fingerprint, petId, createdAt, id } = idempotencyKeys
  const find = db
    .select({ id, fingerprint, petId, createdAt })
    .from(idempotencyKeys)
    .where(and(eq(apiKeyId, sql.placeholder('apiKeyId')), eq(key, sql.placeholder('key'))))
    .prepare()
  const remove = db
    .delete(idempotencyKeys)
    .where(eq(id, sql.placeholder('id')))
    .prepare()
  const insert = db
    .insert(idempotencyKeys)
    .values({
      apiKeyId: sql.placeholder('apiKeyId'),
      key: sql.placeholder('key'),
      fingerprint: sql.placeholder('fingerprint'),
      petId: sql.placeholder('petId'),
      createdAt: sql.placeholder('createdAt'),
    })
    .prepare()
  const oldest = db.select({ id }).from(idempotencyKeys).orderBy(asc(id)).limit(2)
  const sweep = db
    .delete(idempotencyKeys)
    .where(and(inArray(id, oldest), lte(createdAt, sql.placeholder('expiry'))))
    .prepare()

  return function createPetOnce(pet: NewPet, idempotencyKey: IdempotencyKey, now: Date): PetId {
    const expiry = new Date(now.getTime() - idempotencyLifetime)
    const fingerprint = fingerprintOf(pet)
    const earlier = find.get({ ...idempotencyKey })
    if (earlier && earlier.createdAt > expiry) {
      if (earlier.fingerprint !== fingerprint) throw new IdempotencyKeyReused('The key was used for another pet.')
      // The fingerprints say that the earlier pet was this one.
      return { id: earlier.petId, isReplay: true }
    }
    return db.transaction(() => {
      if (earlier) remove.run({ id: earlier.id })
      // Drizzle encodes a placeholder in values only.
      sweep.run({ expiry: expiry.toISOString() })
      const petId = createPet(pet)
      insert.run({ ...idempotencyKey, fingerprint, petId, createdAt: now })
      return { id: petId, isReplay: false }
    })
  }
}
