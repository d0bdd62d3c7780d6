import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { checkReplay, fingerprintOf, isRemembered, planSweep, sweepRows } from '../idempotency.ts'
import type { IdempotencyKey, NewPet, PetStatus } from '../store.ts'
import { boundLimit, idempotencyKeys } from './schema.ts'

export interface PetId {
  id: bigint
  isReplay: boolean
}

/**
 * Prepares the create with an idempotency key. It writes the pet and its key together or not at all.
 */
export function prepareCreateOnce(
  db: BetterSQLite3Database,
  createPet: (name: string, categoryId: bigint, status: PetStatus) => bigint,
) {
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
  const nextRows = db
    .select({ id, createdAt })
    .from(idempotencyKeys)
    .where(gt(id, sql.placeholder('sweptTo')))
    .orderBy(asc(id))
    .limit(boundLimit('rows'))
    .prepare()
  let sweptTo = 0n

  function sweep(now: Date): void {
    const plan = planSweep(nextRows.all({ sweptTo, rows: sweepRows }), sweepRows, now)
    for (const id of plan.expired) remove.run({ id })
    sweptTo = plan.sweptTo
  }

  return function createPetOnce(pet: NewPet, idempotencyKey: IdempotencyKey, now: Date): PetId {
    const original = find.get({ ...idempotencyKey })
    if (original && isRemembered(original.createdAt, now)) {
      checkReplay(original, pet)
      return { id: original.petId, isReplay: true }
    }
    return db.transaction(() => {
      if (original) remove.run({ id: original.id })
      sweep(now)
      const petId = createPet(pet.name, pet.categoryId, pet.status)
      insert.run({ ...idempotencyKey, fingerprint: fingerprintOf(pet), petId, createdAt: now })
      return { id: petId, isReplay: false }
    })
  }
}
