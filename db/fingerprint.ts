import { createHash } from 'node:crypto'
import type { NewPet } from './store.ts'

/** SHA-256 of the new pet, in hexadecimal. A retry with the same idempotency key must have the same fingerprint. */
export function fingerprintOf({ name, categoryId, status }: NewPet): string {
  return createHash('sha256')
    .update(JSON.stringify([name, String(categoryId), status]))
    .digest('hex')
}
