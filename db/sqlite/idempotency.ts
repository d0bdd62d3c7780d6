import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { fingerprintOf } from '../fingerprint.ts'
import { type IdempotencyKey, IdempotencyKeyReused, idempotencyLifetime, type NewPet } from '../store.ts'
import { idempotencyKeys } from './schema.ts'

export interface PetId {
  id: bigint
  isReplay: boolean
}

/**
 * Prepares the create that may be repeated. It writes the pet and its key together or not at all. Each new key deletes up
 * to two expired ones, so the table never holds much more than a day's.
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
  const nextTwo = db
    .select({ id, createdAt })
    .from(idempotencyKeys)
    .where(gt(id, sql.placeholder('sweptTo')))
    .orderBy(asc(id))
    .limit(2)
    .prepare()
  let sweptTo = 0n

  /**
   * Deletes expired rows. The lowest ids are the oldest rows, unless the clock was wrong: rows from the future are passed
   * over, and the first row of the last 24 hours ends the round.
   */
  function sweep(expiry: Date, now: Date): void {
    const rows = nextTwo.all({ sweptTo })
    for (const row of rows) if (row.createdAt <= expiry) remove.run({ id: row.id })
    const [, last] = rows
    const isRoundOver = rows.some((row) => row.createdAt > expiry && row.createdAt <= now)
    sweptTo = last && !isRoundOver ? last.id : 0n
  }

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
      sweep(expiry, now)
      const petId = createPet(pet)
      insert.run({ ...idempotencyKey, fingerprint, petId, createdAt: now })
      return { id: petId, isReplay: false }
    })
  }
}
