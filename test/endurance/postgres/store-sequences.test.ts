import { test } from 'vitest'
import { compareStores } from '../../../engine/test/support/store-sequences.ts'

test('SQLite, PostgreSQL and a model of arrays give the same results in 200 random sequences of calls', async () => {
  await compareStores(200)
})
