import { expect } from 'vitest'
import type { Store } from '../../db/resources.ts'
import { hashApiKey } from '../../server/auth/api-key.ts'
import { expired, key, pets, revoked } from '../fixtures/rows.ts'

/** Expects that the store has every row of a fixture, and that it accepts new ones. */
export async function expectUpgraded(store: Store): Promise<void> {
  const stored = pets.map((pet, index) => ({ id: BigInt(index + 1), ...pet }))
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toEqual(stored)
  expect(await store.pets.list({ limit: 100, cursor: 0n, status: 'sold' })).toEqual(stored.slice(2))

  const apiKey = await store.apiKeys.find(hashApiKey(key))
  expect(apiKey).toMatchObject({ id: 1n, name: 'shop', expiresAt: null, revokedAt: null })
  const others = (await store.apiKeys.list()).slice(1)
  expect(others).toMatchObject([
    { name: 'expired', expiresAt: new Date(expired), revokedAt: null },
    { name: 'revoked', expiresAt: null, revokedAt: new Date(revoked) },
  ])

  const [rex] = pets
  if (!rex) throw new Error('The fixtures have a pet.')
  expect((await store.pets.create(rex)).id).toBe(5n)
  let replays = 0
  const once = { apiKeyId: 1n, key: 'after the upgrade', onReplay: () => void replays++ }
  expect(await store.pets.create(rex, once)).toMatchObject({ id: 6n })
  expect(replays).toBe(0)
  expect(await store.pets.create(rex, once)).toMatchObject({ id: 6n })
  expect(replays).toBe(1)
  await store.apiKeys.revoke(1n, new Date())
  expect(await store.apiKeys.find(hashApiKey(key))).toMatchObject({ revokedAt: expect.any(Date) })
}
