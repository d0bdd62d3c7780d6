import { expect, test } from 'vitest'
import type { PetStatus } from '../../../../db/pets/pets.ts'
import { testDatabase } from '../../../../test/support/database.ts'

test('pets are counted by status, exactly up to 10,000', async () => {
  const { open, execute } = await testDatabase()
  const { pets } = await open()
  const add = (status: PetStatus, count: number) =>
    execute(`
      WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${count})
      INSERT INTO pets (name, category_id, status) SELECT 'Rex', 7, '${status}' FROM counter
    `)
  await add('pending', 3)
  await add('sold', 10_000)
  expect(await pets.counts()).toEqual({
    available: { count: 0, isExact: true },
    pending: { count: 3, isExact: true },
    sold: { count: 10_000, isExact: true },
  })
  await add('sold', 1)
  expect((await pets.counts()).sold).toEqual({ count: 10_000, isExact: false })
  await add('sold', 20_000)
  expect((await pets.counts()).sold).toEqual({ count: 10_000, isExact: false })
})
