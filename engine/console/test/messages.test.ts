import { expect, test } from 'vitest'
import { bulk, exporting } from '../texts/bulk.ts'
import { notes } from './notes/resources.ts'

test.for([
  [0, '0 notes were exported.', '0 notes can be added'],
  [1, '1 note was exported.', '1 note can be added, 1 row has a problem'],
  [2, '2 notes were exported.', '2 notes can be added, 2 rows have a problem'],
  [1_000, '1,000 notes were exported.', '1,000 notes can be added, 1,000 rows have a problem'],
] as const)('the plural follows the number %i', ([count, exported, summary]) => {
  expect(exporting.done(notes, count)).toBe(exported)
  expect(bulk.summary(notes, count, count)).toBe(summary)
})
