import { hash } from 'node:crypto'
import { expect } from 'vitest'
import type { Store } from '../../db/store.ts'
import { hashApiKey } from '../../engine/service/auth/api-key.ts'
import { IdempotencyKeyReused } from '../../engine/store/collection/errors.ts'
import { newCaller } from '../../engine/test/support/caller.ts'
import { expired, key, pets, revoked } from '../fixtures/rows.ts'

/** Expects that the store has every row of a fixture, and that it accepts new ones. */
export async function expectUpgraded(store: Store): Promise<void> {
  const stored = pets.map((pet, index) => ({ id: BigInt(index + 1), ...pet }))
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toEqual(stored)
  expect(await store.pets.list({ limit: 100, cursor: 0n, status: 'sold' })).toEqual(stored.slice(2))

  const apiKey = await store.apiKeys.find(hashApiKey(key))
  expect(apiKey).toMatchObject({ id: 1n, name: 'shop' })
  expect([apiKey?.expiresAt, apiKey?.revokedAt]).toEqual([undefined, undefined])
  const others = (await store.apiKeys.list()).slice(1)
  expect(others.map(({ name, expiresAt, revokedAt }) => ({ name, expiresAt, revokedAt }))).toEqual([
    { name: 'expired', expiresAt: new Date(expired), revokedAt: undefined },
    { name: 'revoked', expiresAt: undefined, revokedAt: new Date(revoked) },
  ])

  const [rex] = pets
  if (!rex) throw new Error('The fixtures have a pet.')
  expect((await store.pets.create(rex)).id).toBe(5n)
  const caller = newCaller('after the upgrade')
  expect(await store.pets.create(rex, caller)).toMatchObject({ id: 6n })
  expect(caller.isReplay).toBe(false)
  expect(await store.pets.create(rex, caller)).toMatchObject({ id: 6n })
  expect(caller.isReplay).toBe(true)
  for (const found of await store.apiKeys.list()) await store.apiKeys.revoke(found, new Date())
  expect(await store.apiKeys.find(hashApiKey(key))).toMatchObject({ revokedAt: expect.any(Date) })
}

/** The SHA-256 of the text of a pet's fields, as the release before `any_mutation` computed it. */
function oldFingerprint(name: string, categoryId: bigint, status: string): string {
  return hash('sha256', JSON.stringify([name, String(categoryId), status]))
}

/**
 * Statements that add to a fixture of the release before `any_mutation` what it stored: the record that owned the keys of
 * imports, a pet of an import, and a pet that a client has created with a key.
 *
 * @param now SQL of the current time
 */
export function insertInterrupted(now: string): string {
  const owner = `(SELECT id FROM api_keys WHERE hash = '${'pets import'.padEnd(64, '-')}')`
  const keys = [
    [owner, `${hash('sha256', '--key monday')}:1`, oldFingerprint('Rex', 7n, 'available'), 'Rex'],
    [1, 'interrupted', oldFingerprint('Bella', 5n, 'pending'), 'Bella'],
  ]
  const rows = keys.map(
    ([owner, key, fingerprint, pet]) =>
      `(${owner}, '${key}', '${fingerprint}', (SELECT max(id) FROM pets WHERE name = '${pet}'), ${now})`,
  )
  return `
    INSERT INTO pets (name, category_id, status) VALUES ('Rex', 7, 'available'), ('Bella', 5, 'pending');
    INSERT INTO api_keys (name, start, hash, created_at, expires_at)
      VALUES ('pets import: idempotency keys', '', '${'pets import'.padEnd(64, '-')}', ${now}, ${now});
    INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at) VALUES ${rows}`
}

/** Expects that the retried create gets the first pet, and that the owner of the keys of imports is no API key any more. */
export async function expectResumed(store: Store): Promise<void> {
  const caller = newCaller('interrupted')
  const bella = { name: 'Bella', categoryId: 5n, status: 'pending' } as const
  expect(await store.pets.create(bella, caller)).toEqual({ id: 6n, ...bella })
  expect(caller.isReplay).toBe(true)
  await expect(store.pets.create({ ...bella, categoryId: 6n }, caller)).rejects.toThrow(IdempotencyKeyReused)
  const stored = await store.pets.list({ limit: 100, cursor: 4n })
  expect(stored.map(({ name }) => name)).toEqual(['Rex', 'Bella'])
  expect((await store.apiKeys.list()).map(({ name }) => name)).toEqual(['shop', 'expired', 'revoked'])
}
