import { expect, test } from 'vitest'
import { keyRecord, openTestStore } from '../../../test/notes/database.ts'

test('a first key is created beside no other one, and a key is registered once', async () => {
  const { apiKeys } = await openTestStore()
  const [first, second] = [keyRecord('first'), keyRecord('second')]
  expect([await apiKeys.createFirst(first), await apiKeys.createFirst(second)]).toEqual([true, false])
  const outcomes = [second, second, { ...second, hash: '0'.repeat(64) }].map((key) => apiKeys.register(key))
  expect(await Promise.all(outcomes)).toEqual([true, false, false])
})
