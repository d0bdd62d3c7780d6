import { expect, test } from 'vitest'
import type { Store } from '../../db/store.ts'
import { RevisionCache } from '../../server/api/revision-cache.ts'

interface Value {
  n: number
}

test('a value is read once for each revision of the store', async () => {
  const { cache, state, read } = openCache()
  expect([await cache.load('a', read), await cache.load('a', read), cache.get('a')]).toEqual([
    { n: 1 },
    { n: 1 },
    { n: 1 },
  ])
  state.revision = 2
  expect(cache.get('a')).toBeUndefined()
  expect(await cache.load('a', read)).toEqual({ n: 2 })
})

test('a value that was read while the store changed is not kept', async () => {
  const { cache, state, read } = openCache()
  const loading = cache.load('a', async () => {
    state.revision = 2
    cache.get('b')
    return read()
  })
  expect(await loading).toEqual({ n: 1 })
  expect(cache.get('a')).toBeUndefined()
})

test('nothing is kept while the store cannot tell its revision', async () => {
  const { cache, state, read } = openCache()
  state.revision = undefined
  expect([await cache.load('a', read), await cache.load('a', read)]).toEqual([{ n: 1 }, { n: 2 }])
})

test('nothing is kept that was not found, that may not be kept, or whose reading failed', async () => {
  const { cache, read } = openCache()
  expect(await cache.load('a', async () => undefined)).toBeUndefined()
  expect(await cache.load('b', read, () => false)).toEqual({ n: 1 })
  await expect(cache.load('c', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([undefined, undefined, undefined])
})

test('values take the room that they weigh, and one that would take too much is not kept', async () => {
  const { cache, read } = openCache({ capacity: 300, weightOf: (key) => key.length })
  const keys = Array.from({ length: 35 }, (_, i) => `${i}`.padStart(10, 'x'))
  for (const key of keys) await cache.load(key, read)
  // The first thirty were forgotten to make room for the next.
  expect(keys.filter((key) => cache.get(key) !== undefined)).toEqual(keys.slice(30))
  await cache.load('x'.repeat(11), read)
  expect(cache.get('x'.repeat(11))).toBeUndefined()
})

/** A cache over a store of which nothing is asked but its revision. */
function openCache(limits: { capacity?: number; weightOf?: (key: string) => number } = {}) {
  const state: { revision: number | undefined } = { revision: 1 }
  const store = { revision: () => state.revision } as Store
  let n = 0
  return {
    cache: new RevisionCache<Value>(store, { capacity: 60, weightOf: () => 1, ...limits }),
    state,
    read: async () => ({ n: ++n }),
  }
}
