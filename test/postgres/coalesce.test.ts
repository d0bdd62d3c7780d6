import { expect, test } from 'vitest'
import { coalesceReads } from '../../db/postgres/coalesce.ts'

test('calls during a read share the next read, because the current one may be out of date', async () => {
  const reads: PromiseWithResolvers<string>[] = []
  const read = coalesceReads(
    (key: string) => key,
    () => reads[reads.push(Promise.withResolvers()) - 1]?.promise ?? Promise.reject(),
  )
  const [first, second, third, other] = [read('a'), read('a'), read('a'), read('b')]
  expect(reads).toHaveLength(2)
  reads[0]?.resolve('first')
  reads[1]?.resolve('other')
  expect(await Promise.all([first, other])).toEqual(['first', 'other'])
  await expect.poll(() => reads.length).toBe(3)
  reads[2]?.resolve('second')
  expect(await Promise.all([second, third])).toEqual(['second', 'second'])
})

test('a failed read rejects the calls that share it, and no others', async () => {
  let calls = 0
  const read = coalesceReads(
    (key: string) => key,
    async () => {
      if (calls++ === 0) throw new Error('lost')
      return 'found'
    },
  )
  const [first, second] = [read('a'), read('a')]
  await expect(first).rejects.toThrow('lost')
  expect(await second).toBe('found')
})
