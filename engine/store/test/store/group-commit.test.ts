import { expect, test } from 'vitest'
import { StoreUnavailable } from '../../collection/errors.ts'
import { groupCommit } from '../../collection/group-commit.ts'

test('the calls of a turn share batches, of which each has at most so many, and later ones wait for them', async () => {
  const { run, batches, commitNext } = openQueue(200)
  const results = Promise.all(Array.from({ length: 450 }, (_, index) => run(index)))
  await Promise.resolve()
  const later = run(450)
  for (let batch = 0; batch < 3; batch++) await commitNext()
  expect(await results).toEqual(Array.from({ length: 450 }, (_, index) => index))
  expect(await later).toBe(450)
  expect(batches.map(({ length }) => length)).toEqual([200, 200, 51])
})

test('with 10,000 waiting writes further ones are refused', async () => {
  const { run, commitNext } = openQueue()
  const accepted = Promise.all(Array.from({ length: 10_000 }, (_, index) => run(index)))
  await expect(run(10_000)).rejects.toThrow(StoreUnavailable)
  await commitNext()
  expect(await accepted).toHaveLength(10_000)
})

/** A queue whose batches are committed on demand. */
function openQueue(maxBatch?: number) {
  const batches: number[][] = []
  const commits: PromiseWithResolvers<void>[] = []
  const { run } = groupCommit(
    async (batch: number[]) => {
      batches.push(batch)
      const commit = Promise.withResolvers<void>()
      commits.push(commit)
      await commit.promise
      return { outcomes: batch.map((value) => ({ value })) }
    },
    { ...(maxBatch && { maxBatch }) },
  )
  let committed = 0
  return {
    run,
    batches,
    async commitNext(): Promise<void> {
      await expect.poll(() => commits.length, { interval: 1 }).toBeGreaterThan(committed)
      commits[committed++]?.resolve()
    },
  }
}
