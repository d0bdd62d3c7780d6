import { and, asc, inArray, lte, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { fingerprintOf } from '../fingerprint.ts'
import {
  type Creation,
  type IdempotencyKey,
  IdempotencyKeyReused,
  idempotencyLifetime,
  type NewPet,
  type Pet,
} from '../store.ts'
import type { Outcome } from './group-commit.ts'
import { insertPets } from './insert-pets.ts'
import { idempotencyKeys } from './schema.ts'
import { type Transaction, takeTurn } from './transaction.ts'

/** A pet to create, only once if it comes with a key. */
export interface NewCreation {
  pet: NewPet
  key?: IdempotencyKey
}

type KeyedCreation = NewCreation & { key: IdempotencyKey }

/** What a key was first used for. */
interface Original {
  fingerprint: string
  petId: bigint
}

/**
 * Makes the creations of one transaction, some of which may have been made before. The pets and their keys are written
 * together or not at all; each new key clears away two that are out of date, as on SQLite. All instances take turns
 * before they look, so that none of them misses what another is about to write.
 */
export async function createOnce(db: Transaction, batch: NewCreation[], now: Date): Promise<Outcome<Creation>[]> {
  await takeTurn(db, 'pets')
  const expiry = new Date(now.getTime() - idempotencyLifetime)
  const originals = await findOriginals(db, batch.filter(hasKey), expiry)
  const created = await insert(db, chooseNew(batch, originals))
  const remembered = [...created].flatMap(([creation, { id }]) =>
    hasKey(creation) ? [recordOf(creation, id, now)] : [],
  )
  for (const record of remembered) originals.set(nameOf(record), record)
  if (remembered.length > 0) {
    await sweep(db, remembered.length, expiry)
    await db.insert(idempotencyKeys).values(remembered)
  }
  return batch.map((creation) => {
    const pet = created.get(creation)
    return pet ? { pet, isReplay: false } : replay(creation, originals)
  })
}

/** What has no key, or is the first with its key. */
function chooseNew(batch: NewCreation[], originals: Map<string, Original>): NewCreation[] {
  const names = new Set(originals.keys())
  return batch.filter(({ key }) => {
    if (!key) return true
    const isNew = !names.has(nameOf(key))
    names.add(nameOf(key))
    return isNew
  })
}

async function insert(db: Transaction, creations: NewCreation[]): Promise<Map<NewCreation, Pet>> {
  if (creations.length === 0) return new Map()
  const pets = await insertPets(
    db.$client,
    creations.map(({ pet }) => pet),
  )
  return new Map(pets.map((pet, index) => [creations[index] as NewCreation, pet]))
}

function recordOf({ pet, key }: KeyedCreation, petId: bigint, createdAt: Date) {
  return { ...key, fingerprint: fingerprintOf(pet), petId, createdAt }
}

function replay({ pet, key }: NewCreation, originals: Map<string, Original>): Outcome<Creation> {
  const original = key && originals.get(nameOf(key))
  if (!original) throw new Error('A creation was neither made nor found.')
  // The fingerprints say that the earlier pet was this one.
  if (original.fingerprint === fingerprintOf(pet)) return { pet: { id: original.petId, ...pet }, isReplay: true }
  return new IdempotencyKeyReused('The key was used for another pet.')
}

/** Of keys that are out of date, it is as if they had not been used. */
async function findOriginals(
  db: NodePgDatabase,
  creations: KeyedCreation[],
  expiry: Date,
): Promise<Map<string, Original>> {
  const { id, apiKeyId, key, fingerprint, petId, createdAt } = idempotencyKeys
  const apiKeyIds = creations.map((creation) => creation.key.apiKeyId)
  const keys = creations.map((creation) => creation.key.key)
  const rows = await db
    .select({ id, apiKeyId, key, fingerprint, petId, createdAt })
    .from(idempotencyKeys)
    .where(
      sql`(${apiKeyId}, ${key}) IN (SELECT * FROM unnest(${sql.param(apiKeyIds)}::bigint[], ${sql.param(keys)}::text[]))`,
    )
  const outOfDate = rows.filter((row) => row.createdAt <= expiry).map((row) => row.id)
  if (outOfDate.length > 0) await db.delete(idempotencyKeys).where(inArray(id, outOfDate))
  return new Map(rows.filter((row) => row.createdAt > expiry).map((row) => [nameOf(row), row]))
}

/** The lowest ids are the oldest. */
async function sweep(db: NodePgDatabase, newKeys: number, expiry: Date): Promise<void> {
  const { id, createdAt } = idempotencyKeys
  const oldest = db
    .select({ id })
    .from(idempotencyKeys)
    .orderBy(asc(id))
    .limit(2 * newKeys)
  await db.delete(idempotencyKeys).where(and(inArray(id, oldest), lte(createdAt, expiry)))
}

function hasKey(creation: NewCreation): creation is KeyedCreation {
  return creation.key !== undefined
}

/** API keys do not share their names. */
function nameOf({ apiKeyId, key }: IdempotencyKey): string {
  return `${apiKeyId} ${key}`
}
