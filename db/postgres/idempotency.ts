import { inArray, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { fingerprintOf } from '../fingerprint.ts'
import {
  type CreateResult,
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
 * Prepares the creates of one transaction, some of which may be repeated ones. It writes the pets and their keys together
 * or not at all. Each new key deletes up to two expired ones, as on SQLite. An advisory lock serializes the instances
 * before they look, so none of them misses a key that another is about to write.
 */
export function prepareCreateOnce() {
  let sweptTo = '0'

  return async function createOnce(db: Transaction, batch: NewCreation[], now: Date): Promise<Outcome<CreateResult>[]> {
    await takeTurn(db, 'pets')
    const expiry = new Date(now.getTime() - idempotencyLifetime)
    const originals = await findOriginals(db, batch.filter(hasKey), expiry)
    const created = await insert(db, chooseNew(batch, originals))
    const remembered = [...created].flatMap(([creation, { id }]) =>
      hasKey(creation) ? [recordOf(creation, id, now)] : [],
    )
    for (const record of remembered) originals.set(nameOf(record), record)
    if (remembered.length > 0) {
      sweptTo = await sweep(db, { sweptTo, limit: 2 * remembered.length, expiry, now })
      await db.insert(idempotencyKeys).values(remembered)
    }
    return batch.map((creation) => {
      const pet = created.get(creation)
      return pet ? { pet, isReplay: false } : replay(creation, originals)
    })
  }
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

function replay({ pet, key }: NewCreation, originals: Map<string, Original>): Outcome<CreateResult> {
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

interface Sweep {
  /** The id after which to go on. */
  sweptTo: string
  limit: number
  expiry: Date
  now: Date
}

/**
 * Deletes expired rows and resolves to the id after which to go on. The lowest ids are the oldest rows, unless a clock was
 * wrong: rows from the future are passed over, and the first row of the last 24 hours ends the round.
 */
async function sweep(db: NodePgDatabase, { sweptTo, limit, expiry, now }: Sweep): Promise<string> {
  const { createdAt } = idempotencyKeys
  const [expiryTime, nowTime] = [sql.param(expiry, createdAt), sql.param(now, createdAt)]
  const { rows } = await db.execute<{ sweptTo: string }>(sql`
    WITH next AS (
      SELECT id, created_at FROM ${idempotencyKeys} WHERE id > ${sweptTo} ORDER BY id LIMIT ${limit}
    ), expired AS (
      DELETE FROM ${idempotencyKeys} WHERE id IN (SELECT id FROM next WHERE created_at <= ${expiryTime})
    )
    SELECT CASE
      WHEN count(*) < ${limit} OR bool_or(created_at > ${expiryTime} AND created_at <= ${nowTime}) THEN 0
      ELSE max(id)
    END AS "sweptTo" FROM next`)
  return rows[0]?.sweptTo ?? '0'
}

function hasKey(creation: NewCreation): creation is KeyedCreation {
  return creation.key !== undefined
}

/** API keys do not share their names. */
function nameOf({ apiKeyId, key }: IdempotencyKey): string {
  return `${apiKeyId} ${key}`
}
