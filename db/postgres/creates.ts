import type { ClientBase, Pool } from 'pg'
import { checkReplay, fingerprintOf, type Original } from '../idempotency.ts'
import type { CreateResult, IdempotencyKey, NewPet, Pet } from '../store.ts'
import { concernsDatabase, storeError } from './failure.ts'
import type { Outcome } from './group-commit.ts'
import { nameOf, prepareIdempotencyKeys } from './idempotency.ts'
import { inTransaction, lockUntilCommit, type Transaction } from './transaction.ts'

/** A pet to create. Of the creates with the same key only the first takes effect. */
export interface Create {
  pet: NewPet
  key?: IdempotencyKey
}

/**
 * Prepares the commit of a batch of creates, which share one transaction and so one fsync. A create that breaks a rule
 * fails alone. A failure of the database rejects the batch.
 */
export function prepareCreates(pool: Pool) {
  const keys = prepareIdempotencyKeys()

  async function createWithKeys(db: Transaction, batch: Create[], now: Date): Promise<Outcome<CreateResult>[]> {
    // Before the keys are read: otherwise this instance could miss a key that another one is about to commit.
    await lockUntilCommit(db, 'inserts')
    const originals = await keys.find(
      db,
      batch.flatMap(({ key }) => key ?? []),
      now,
    )
    const firstUses = chooseFirstUses(batch, originals)
    const created = await insertPets(db.$client, firstUses)
    const rows = [...created].flatMap(([{ key, pet }, { id }]) =>
      key ? [{ ...key, fingerprint: fingerprintOf(pet), petId: id, createdAt: now }] : [],
    )
    await keys.add(db, rows, now)
    for (const row of rows) originals.set(nameOf(row), row)
    return batch.map((create) => {
      const pet = created.get(create)
      return pet ? { value: { pet, isReplay: false } } : replay(create, originals)
    })
  }

  async function commitTogether(batch: Create[], now: Date): Promise<Outcome<CreateResult>[]> {
    if (batch.some(({ key }) => key)) return inTransaction(pool, (db) => createWithKeys(db, batch, now))
    // A single statement is a transaction by itself.
    const created = await insertPets(pool, batch)
    return [...created.values()].map((pet) => ({ value: { pet, isReplay: false } }))
  }

  return async function commit(batch: Create[], now = new Date()): Promise<Outcome<CreateResult>[]> {
    try {
      return await commitTogether(batch, now)
    } catch (error) {
      if (concernsDatabase(error)) throw storeError(error)
      if (batch.length === 1) return [{ error: storeError(error) }]
      const outcomes: Outcome<CreateResult>[] = []
      for (const create of batch) outcomes.push(...(await commit([create], now)))
      return outcomes
    }
  }
}

/** The creates without a key, and the first one with each new key. */
function chooseFirstUses(batch: Create[], originals: Map<string, Original>): Create[] {
  const used = new Set(originals.keys())
  return batch.filter(({ key }) => {
    if (!key) return true
    const isFirst = !used.has(nameOf(key))
    used.add(nameOf(key))
    return isFirst
  })
}

function replay({ pet, key }: Create, originals: Map<string, Original>): Outcome<CreateResult> {
  const original = key && originals.get(nameOf(key))
  if (!original) return { error: new Error('A pet was not created, and its idempotency key was not found.') }
  try {
    checkReplay(original, pet)
    return { value: { pet: { id: original.petId, ...pet }, isReplay: true } }
  } catch (error) {
    return { error: storeError(error) }
  }
}

/** Drizzle cannot write it: its INSERT of a SELECT also names the column that the database generates. */
const insertStatement = {
  name: 'insert_pets',
  text: `INSERT INTO pets (name, category_id, status)
    SELECT name, category_id, status
    FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS given (name, category_id, status, place)
    ORDER BY place
    RETURNING id`,
}

/** Inserts pets with one statement. Their ids ascend in the order of the creates. */
async function insertPets(database: Pool | ClientBase, creates: Create[]): Promise<Map<Create, Pet>> {
  if (creates.length === 0) return new Map()
  const pets = creates.map(({ pet }) => pet)
  const values = [
    pets.map(({ name }) => name),
    pets.map(({ categoryId }) => categoryId),
    pets.map(({ status }) => status),
  ]
  const { rows } = await database.query<{ id: string }>({ ...insertStatement, values })
  return new Map(creates.map((create, index) => [create, { id: idOf(rows[index]), ...create.pet }]))
}

function idOf(row: { id: string } | undefined): bigint {
  if (!row) throw new Error('PostgreSQL did not return an id for each pet.')
  return BigInt(row.id)
}
