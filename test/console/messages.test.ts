import { expect, test } from 'vitest'
import { bulk, exporting } from '../../engine/console/texts/bulk.ts'
import { petResource } from '../../web/pets/pet.ts'

test.for([
  [0, '0 pets were exported.', '0 pets can be added'],
  [1, '1 pet was exported.', '1 pet can be added, 1 row has a problem'],
  [2, '2 pets were exported.', '2 pets can be added, 2 rows have a problem'],
  [1_000, '1,000 pets were exported.', '1,000 pets can be added, 1,000 rows have a problem'],
] as const)('the plural follows the number %i', ([count, exported, summary]) => {
  expect(exporting.done(petResource, count)).toBe(exported)
  expect(bulk.summary(petResource, count, count)).toBe(summary)
})
