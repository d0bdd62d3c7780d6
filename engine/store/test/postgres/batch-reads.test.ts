import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, test } from 'vitest'
import { int64 } from '../../collection/schema.ts'
import { batchReads } from '../../postgres/batch-reads.ts'
import { pageStatement } from '../../postgres/statements.ts'
import { postgresTableOf } from '../../postgres/table.ts'

test('PostgreSQL tells the names of all statements apart', () => {
  const long = sqliteTable('a'.repeat(60), { id: int64('id').primaryKey(), b_c: text(), b: text(), c: text() })
  const filters = [['b_c'], ['b', 'c'], ['b'], ['c']]
  const names = filters.map((each) => pageStatement(postgresTableOf(long), each).name.slice(0, 63))
  expect(new Set(names).size).toBe(filters.length)
})

test('reads that arrive during a statement share the next one, because the current one may be out of date', async () => {
  const { read, statements } = openReads()
  const first = read('a')
  const others = Promise.all([read('a'), read('b'), read('a'), read('missing')])
  expect(statements).toMatchObject([{ keys: ['a'] }])
  statements[0]?.resolve('first')
  expect(await first).toBe('first a')
  await expect.poll(() => statements).toHaveLength(2)
  expect(statements[1]).toMatchObject({ keys: ['a', 'b', 'missing'] })
  statements[1]?.resolve('second')
  expect(await others).toEqual(['second a', 'second b', 'second a', undefined])
  void read('a')
  expect(statements).toHaveLength(3)
})

test('a failed statement rejects the reads that share it, and no others', async () => {
  const { read, statements } = openReads()
  const reads = Promise.allSettled([read('a'), read('b'), read('c')])
  statements[0]?.resolve('first')
  await expect.poll(() => statements).toHaveLength(2)
  const later = read('b')
  statements[1]?.reject(new Error('lost'))
  await expect.poll(() => statements).toHaveLength(3)
  statements[2]?.resolve('third')
  const lost = { status: 'rejected', reason: new Error('lost') }
  expect(await reads).toEqual([{ status: 'fulfilled', value: 'first a' }, lost, lost])
  expect(await later).toBe('third b')
})

test('a batch of 100 different reads does not wait for the statement before it', async () => {
  const { read, statements } = openReads()
  const names = Array.from({ length: 150 }, (_, index) => `note ${index}`)
  const reads = Promise.all(['a', ...names].map(read))
  expect(statements.map(({ keys }) => keys.length)).toEqual([1, 100])
  statements[0]?.resolve('first')
  statements[1]?.resolve('second')
  await expect.poll(() => statements).toHaveLength(3)
  statements[2]?.resolve('third')
  expect((await reads).slice(99, 103)).toEqual(['second note 98', 'second note 99', 'third note 100', 'third note 101'])
})

test('reads wait only for a moment for a statement that hangs, and still share statements', async () => {
  const { read, statements } = openReads()
  void read('hangs')
  const waiting = read('a')
  await expect.poll(() => statements, { timeout: 2_000 }).toMatchObject([{ keys: ['hangs'] }, { keys: ['a'] }])
  const later = Promise.all([read('b'), read('c')])
  statements[1]?.resolve('second')
  expect(await waiting).toBe('second a')
  await expect.poll(() => statements).toHaveLength(3)
  statements[2]?.resolve('third')
  expect(await later).toEqual(['third b', 'third c'])
})

/** Reads whose statements end on demand. Each result names its statement; the key `missing` has none. */
function openReads() {
  const statements: { keys: string[]; resolve: (name: string) => void; reject: (error: Error) => void }[] = []
  const read = batchReads(
    (key: string) => key,
    async (keys) => {
      const { promise, ...end } = Promise.withResolvers<string>()
      statements.push({ keys, ...end })
      const name = await promise
      return new Map(keys.filter((key) => key !== 'missing').map((key) => [key, `${name} ${key}`]))
    },
  )
  return { read, statements }
}
