import { expect, test } from 'vitest'
import { StoreUnavailable } from '../../collection/errors.ts'
import { groupCommit, type Outcome } from '../../postgres/group-commit.ts'

test('a batch has at most 200 writes', async () => {
  const { queue, batches, commitNext } = openQueue()
  const results = Promise.all(Array.from({ length: 450 }, () => queue.run('a')))
  for (let batch = 0; batch < 4; batch++) await commitNext()
  await results
  expect(batches.map(({ length }) => length)).toEqual([1, 200, 200, 49])
})

test('with 10,000 waiting writes further ones are refused', async () => {
  const { queue, commitNext } = openQueue()
  const accepted = Promise.all(Array.from({ length: 10_001 }, () => queue.run('a')))
  await expect(queue.run('b')).rejects.toThrow(StoreUnavailable)
  for (let batch = 0; batch < 51; batch++) await commitNext()
  expect(await accepted).toHaveLength(10_001)
})

/** A queue whose batches are committed on demand. The write `bad` fails. */
function openQueue() {
  const batches: string[][] = []
  const commits: PromiseWithResolvers<void>[] = []
  const { run, close } = groupCommit<{ operation: string }, string>(async (calls) => {
    const batch = calls.map(({ operation }) => operation)
    batches.push(batch)
    const commit = Promise.withResolvers<void>()
    commits.push(commit)
    await commit.promise
    return batch.map(
      (write): Outcome<string> =>
        write === 'bad' ? { error: new Error('refused') } : { value: `${write} of ${batch.length}` },
    )
  })
  let committed = 0
  return {
    queue: { run: (operation: string) => run({ operation }), close },
    batches,
    async commitNext(error?: Error): Promise<void> {
      await expect.poll(() => commits.length, { interval: 1 }).toBeGreaterThan(committed)
      const commit = commits[committed++]
      if (error) commit?.reject(error)
      else commit?.resolve()
    },
  }
}
