import { createHash } from 'node:crypto'
import type { NewPet } from './store.ts'

/** SHA-256 of what is to be created, in hexadecimal, by which a repeated creation is known to be of the same pet. */
export function fingerprintOf({ name, categoryId, status }: NewPet): string {
  return createHash('sha256')
    .update(JSON.stringify([name, String(categoryId), status]))
    .digest('hex')
}
