import type { Pool } from 'pg'
import type { CreateResult } from '../store.ts'
import { concernsDatabase, storeError } from './failure.ts'
import type { Outcome } from './group-commit.ts'
import { type NewCreation, prepareCreateOnce } from './idempotency.ts'
import { insertPets } from './insert-pets.ts'
import { inTransaction } from './transaction.ts'

/**
 * Makes what commits creations together, so that all of them share one round to the disk. One that breaks a rule fails
 * alone; what concerns the database fails all.
 */
export function prepareCreations(pool: Pool) {
  const createOnce = prepareCreateOnce()

  async function commitTogether(batch: NewCreation[]): Promise<Outcome<CreateResult>[]> {
    if (batch.some(({ key }) => key))
      return inTransaction(pool, (transaction) => createOnce(transaction, batch, new Date()))
    // One statement is a transaction by itself.
    const created = await insertPets(
      pool,
      batch.map(({ pet }) => pet),
    )
    return created.map((pet) => ({ pet, isReplay: false }))
  }

  return async function commit(batch: NewCreation[]): Promise<Outcome<CreateResult>[]> {
    try {
      return await commitTogether(batch)
    } catch (error) {
      if (concernsDatabase(error)) throw storeError(error)
      if (batch.length === 1) return [storeError(error)]
      const outcomes: Outcome<CreateResult>[] = []
      for (const creation of batch) outcomes.push(...(await commit([creation])))
      return outcomes
    }
  }
}
