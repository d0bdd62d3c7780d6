import { afterAll, beforeAll } from 'vitest'
import type { AtEnd } from './temporary.ts'

/** Shares what `start` makes among the tests of a group. */
export function share<T>(start: (atEnd: AtEnd) => Promise<T>): () => T {
  const cleanings: Parameters<AtEnd>[0][] = []
  let shared: { value: T } | undefined
  beforeAll(async () => {
    shared = { value: await start((clean) => cleanings.push(clean)) }
  })
  afterAll(async () => {
    for (const clean of cleanings.toReversed()) await clean()
  })
  return () => {
    if (!shared) throw new Error('What the tests share exists only while they run.')
    return shared.value
  }
}
