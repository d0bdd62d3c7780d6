import { expect, test } from 'vitest'
import { revisionCache } from '../../http/cache/revision-cache.ts'

interface Value {
  n: number
}

test('a value is not kept if the source changed during the read', async () => {
  const { cache, state, read } = openCache()
  const loading = cache.load('a', async () => {
    state.revision = 2
    cache.get('b')
    return read()
  })
  expect(await loading).toEqual({ n: 1 })
  expect(cache.get('a')).toBeUndefined()
})

test('nothing is kept while the source has no revision', async () => {
  const { cache, state, read } = openCache()
  state.revision = undefined
  expect([await cache.load('a', read), await cache.load('a', read)]).toEqual([{ n: 1 }, { n: 2 }])
})

test('the cache is bounded by the weight of its values, and does not keep a value that is too heavy', async () => {
  const { cache, read } = openCache({ capacity: 300, weightOf: (key) => key.length })
  const keys = Array.from({ length: 35 }, (_, i) => `${i}`.padStart(10, 'x'))
  for (const key of keys) await cache.load(key, read)
  // The first thirty reached the capacity and were removed.
  expect(keys.filter((key) => cache.get(key) !== undefined)).toEqual(keys.slice(30))
  await cache.load('x'.repeat(11), read)
  expect(cache.get('x'.repeat(11))).toBeUndefined()
})

/** A cache with a source whose revision can be set. */
function openCache(limits: { capacity?: number; weightOf?: (key: string) => number } = {}) {
  const state: { revision: number | undefined } = { revision: 1 }
  const source = { revision: () => state.revision }
  let n = 0
  return {
    cache: revisionCache<Value>(source, { capacity: 60, lookups: { hits: 0, misses: 0 }, ...limits }),
    state,
    read: async () => ({ n: ++n }),
  }
}
