import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NewPet } from '../../../../server/pets/pets.ts'
import { openTestStore } from '../../../../test/support/database.ts'
import { runPetstore } from '../../../../test/support/process.ts'
import { service } from '../../../../test/support/product.ts'
import { namesIn } from '../../../../test/support/sample-database.ts'
import { temporaryFolder } from '../../../../test/support/temporary.ts'
import { exportText, pets } from '../../../../test/support/transfer.ts'
import { createProgram } from '../../cli/program.ts'
import { itemSource, seedItems } from '../../files/seed.ts'

test('the same seed creates the same pets in the same order, and a smaller count the first of them', async () => {
  const texts: string[] = []
  for (const [count = 0, seed = 0] of [
    [600, 7],
    [600, 7],
    [400, 7],
    [400, 8],
  ]) {
    const store = await openTestStore()
    await seedItems(pets, store.pets, count, await itemSource(pets, seed))
    texts.push(await exportText(store))
  }
  const [first = '', second, smaller = '', other] = texts
  expect(second).toBe(first)
  expect(first.startsWith(smaller)).toBe(true)
  expect(other).not.toBe(smaller)
})

test('a seed creates the pets that it has always created', async () => {
  const next = await itemSource(pets, 42)
  expect(Array.from({ length: 6 }, () => Object.values(next()))).toEqual([
    ['Stella', 6n, 'available'],
    ['Bruno', 1n, 'sold'],
    ['Werner', 7n, 'available'],
    ['Buddy', 3n, 'available'],
    ['Daisy', 5n, 'available'],
    ['Ginger', 4n, 'pending'],
  ])
})

test('seeded pets are valid, and have various names, categories and statuses', async () => {
  const store = await openTestStore()
  await seedItems(pets, store.pets, 1_000, await itemSource(pets, 1))
  const seeded = await store.pets.list({ limit: 2_000, cursor: 0n })
  expect(seeded).toHaveLength(1_000)
  for (const pet of seeded) NewPet.parse(pet)
  const distinct = (field: 'name' | 'categoryId' | 'status') => new Set(seeded.map((pet) => pet[field])).size
  expect([distinct('categoryId'), distinct('status')]).toEqual([8, 3])
  expect(distinct('name')).toBeGreaterThan(100)
  expect(seeded.filter(({ status }) => status === 'available').length / 1_000).toBeCloseTo(0.7, 1)
})

test('petstore seed shows the seed that it has chosen, and creates the pets of a given one', async () => {
  const folder = temporaryFolder()
  const first = runPetstore({ folder, arguments: ['seed', '20'] })
  expect(await first.ended, first.stderr).toBe(0)
  const [, seed = ''] =
    /^Created 20 pets.*\. Create the same ones again with --seed (\d+)\.\n$/m.exec(first.stderr) ?? []
  const second = runPetstore({ folder, arguments: ['seed', '20', '--seed', seed] })
  expect(await second.ended, second.stderr).toBe(0)
  const names = namesIn(join(folder, 'data/petstore.db'))
  expect(names.slice(20)).toEqual(names.slice(0, 20))
  expect(names).toHaveLength(40)
  const third = runPetstore({ folder, arguments: ['seed', '3e0', '--seed', '42'] })
  expect(await third.ended, third.stderr).toBe(0)
  expect(namesIn(join(folder, 'data/petstore.db')).slice(40)).toEqual(['Stella', 'Bruno', 'Werner'])
})

const items = new Intl.ListFormat('en').format(service.files.map(({ plural }) => plural))

test.for([
  [['0'], `The number of ${items} is "0": expected an integer from 1 to 10000000.`],
  [['10000001'], `The number of ${items} is "10000001": expected an integer from 1 to 10000000.`],
  [['1e8'], `The number of ${items} is "1e8": expected`],
  [['5', '--seed', '4294967296'], '--seed is "4294967296": expected an integer from 0 to 4294967295.'],
] as const)('petstore seed %j is refused', async ([words, message]) => {
  const command = createProgram(service).parseAsync(['seed', ...words], { from: 'user' })
  await expect(command).rejects.toThrow(message)
})

test('without the package that makes up the names, the help does not offer petstore seed, which says how to install it', async () => {
  const hook = join(import.meta.dirname, '../../../../test/support/without-faker.mjs')
  const folder = temporaryFolder()
  const run = runPetstore({ folder, arguments: ['seed', '5'], env: { NODE_OPTIONS: `--import ${hook}` } })
  expect(await run.ended).toBe(1)
  const help = runPetstore({ arguments: ['help'], env: { NODE_OPTIONS: `--import ${hook}` } })
  expect([await help.ended, /^ {2}pets /m.test(help.stdout), /^ {2}seed /m.test(help.stdout)]).toEqual([0, true, false])
  const { devDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../package.json'), 'utf8'))
  const version = devDependencies['@faker-js/faker']
  expect(run.stderr).toContain(`npm install --omit=dev --no-save @faker-js/faker@${version}\n`)
  expect(existsSync(join(folder, 'data'))).toBe(false)
})
