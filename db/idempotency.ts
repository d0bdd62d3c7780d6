import { createHash } from 'node:crypto'
import { IdempotencyKeyReused, idempotencyLifetime, type NewPet } from './store.ts'

/** The rules of idempotency keys, which are the same on every database. */

/** The create that a key was first used for. */
export interface Original {
  fingerprint: string
  petId: bigint
}

/** SHA-256 of a new pet in hexadecimal. It shows whether a repeated request creates the same pet. */
export function fingerprintOf({ name, categoryId, status }: NewPet): string {
  return createHash('sha256')
    .update(JSON.stringify([name, String(categoryId), status]))
    .digest('hex')
}

/** Whether a key that was stored at this time still counts. An unreadable time does not. */
export function isRemembered(createdAt: Date, now: Date): boolean {
  return createdAt.getTime() > now.getTime() - idempotencyLifetime
}

/** @throws {IdempotencyKeyReused} if the key was first used for another pet. */
export function checkReplay({ fingerprint }: Original, pet: NewPet): void {
  if (fingerprint !== fingerprintOf(pet)) throw new IdempotencyKeyReused('The key was used for another pet.')
}

/** Rows that a sweep checks for each new key. With two, the sweep deletes faster than keys are added. */
export const sweepRows = 2

interface Row {
  id: bigint
  createdAt: Date
}

/**
 * Decides about the next rows of a sweep, which walks through the table by id. The lowest ids are the oldest rows, unless
 * a clock was wrong: rows from the future are passed over. The first row of the last 24 hours ends the round.
 *
 * @param rows the rows after the last sweep in order of their ids, at most `limit`
 * @returns the ids of the expired rows, and the id after which the next sweep continues: 0 for a new round
 */
export function planSweep(rows: Row[], limit: number, now: Date): { expired: bigint[]; sweptTo: bigint } {
  const remembered = rows.filter(({ createdAt }) => isRemembered(createdAt, now))
  const isRoundOver = rows.length < limit || remembered.some(({ createdAt }) => createdAt <= now)
  return {
    expired: rows.filter((row) => !remembered.includes(row)).map(({ id }) => id),
    sweptTo: isRoundOver ? 0n : (rows.at(-1)?.id ?? 0n),
  }
}
