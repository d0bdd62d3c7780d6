import { expect, test } from 'vitest'
import { GroupCommit } from '../../db/postgres/group-commit.ts'
import { shareReadings } from '../../db/postgres/share-readings.ts'

/** Ends each of its calls when it is told to. */
function onDemand<Input, T>(answer: (input: Input, call: number) => T) {
  const calls: (() => void)[] = []
  const run = (input: Input) =>
    new Promise<T>((resolve) => {
      const call = calls.length
      calls.push(() => resolve(answer(input, call)))
    })
  return { calls, run }
}

test('who asks while a reading is under way shares the next one, not the one that may be out of date', async () => {
  const { calls, run } = onDemand((key: string, call) => `${key} ${call}`)
  const read = shareReadings((key: string) => key, run)
  const [first, second, third, other] = [read('a'), read('a'), read('a'), read('b')]
  expect(calls).toHaveLength(2)
  calls[0]?.()
  calls[1]?.()
  expect(await Promise.all([first, other])).toEqual(['a 0', 'b 1'])
  await expect.poll(() => calls.length).toBe(3)
  calls[2]?.()
  expect(await Promise.all([second, third])).toEqual(['a 2', 'a 2'])
})

test('a reading that fails is the failure of those who shared it, and of nobody else', async () => {
  let calls = 0
  const read = shareReadings(
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

test('writes that arrive while a batch is under way share the next one, and each gets its own outcome', async () => {
  const { calls, run } = onDemand((batch: string[]) =>
    batch.map((write) => (write === 'bad' ? new Error('refused') : `${write} of ${batch.length}`)),
  )
  const writes = new GroupCommit(run)
  const answers = Promise.allSettled(['a', 'b', 'bad', 'c'].map((write) => writes.run(write)))
  expect(calls).toHaveLength(1)
  calls[0]?.()
  await expect.poll(() => calls.length).toBe(2)
  calls[1]?.()
  expect(await answers).toMatchObject([
    { value: 'a of 1' },
    { value: 'b of 3' },
    { reason: { message: 'refused' } },
    { value: 'c of 3' },
  ])
})
