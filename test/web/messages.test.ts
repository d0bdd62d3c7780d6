import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { petResource } from '../../web/pets/pet.ts'
import { messages } from '../../web/texts/messages.ts'

const web = join(import.meta.dirname, '../../web')

test.for([
  [0, '0 pets were exported.', '0 pets can be added'],
  [1, '1 pet was exported.', '1 pet can be added, 1 row has a problem'],
  [2, '2 pets were exported.', '2 pets can be added, 2 rows have a problem'],
  [1_000, '1,000 pets were exported.', '1,000 pets can be added, 1,000 rows have a problem'],
] as const)('the plural follows the number %i', ([count, exported, summary]) => {
  expect(messages.export.done(petResource, count)).toBe(exported)
  expect(messages.bulk.summary(petResource, count, count)).toBe(summary)
})

test('only the definition of pets names them', () => {
  const named = /\bpets?\b/i
  expect('Add many pets').toMatch(named)
  const sources = globSync('**/*.{ts,tsx,html}', { cwd: web, exclude: ['dist*/**', 'pets/**', 'main.tsx'] })
  expect(sources.length).toBeGreaterThan(50)
  expect(sources.filter((path) => named.test(readFileSync(join(web, path), 'utf8')))).toEqual([])
})
