import { test } from 'vitest'
import { compareStores } from '../../../test/support/store-sequences.ts'

test('SQLite, PostgreSQL and a model of arrays give the same results in 15 random sequences of calls', async () => {
  await compareStores(15)
})
