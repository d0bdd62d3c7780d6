import { expect } from 'vitest'
import { maxInt64 } from '../../server/api/int64.ts'
import { addPets, testDatabase } from '../support/database.ts'
import { choose, counting, holdRequests, inspect, names, showing, signIn, startConsole, test } from './console.ts'

test('the console reports an empty list only after the response', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  const page = await visit(`${url}/?status=sold`, { key })
  await page.getByRole('heading', { name: 'No pet is sold' }).waitFor()
  const release = await holdRequests(page)
  await choose(page, 'available')
  await showing(page, 'Loading…')
  expect(await page.getByRole('heading').allTextContents()).toEqual([' Petstore', 'Pets'])
  release()
  await showing(page, 'Pets 1 to 3')
})

test('the list shows new pets of other clients without a reload', async ({ visit }) => {
  const { url, key, rpc } = await startConsole()
  const page = await visit(url)
  await page.clock.install()
  await signIn(page, key)
  await page.getByRole('heading', { name: 'There are no pets yet' }).waitFor()
  await rpc.pets.create.mutate({ name: 'Rex', categoryId: 7n })
  await page.clock.fastForward(16_000)
  await page.getByRole('row', { name: '1 Rex 7 available' }).waitFor()
})

test('the filter shows one status, and counts the pets of each status up to 1,000', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 1_001)
  await store.pets.create({ name: 'Tom', categoryId: 1n, status: 'pending' })
  const page = await visit(url, { key })
  for (const name of ['all 1,001+', 'available 1,000+', 'pending 1', 'sold 0']) await counting(page, name)

  await choose(page, 'pending')
  await showing(page, 'Pet 1')
  expect(await names(page)).toEqual(['Tom'])
  await inspect(page, 'filtered')
  await choose(page, 'sold')
  await page.getByRole('heading', { name: 'No pet is sold' }).waitFor()
  await page.goBack()
  await showing(page, 'Pet 1')
  await page.reload()
  await showing(page, 'Pet 1')
  expect(await page.getByRole('radio', { checked: true }).getAttribute('value')).toBe('pending')
})

test('the list shows every digit of an id, and markup in a name as text', async ({ visit }) => {
  const database = await testDatabase()
  const { url, key, rpc } = await startConsole({ store: await database.open() })
  const name = '<img src="x" onerror="document.title = 1"> \u202e&amp;'
  await rpc.pets.create.mutate({ name, categoryId: -9007199254740993n })
  await database.insertPet(maxInt64)
  const page = await visit(url, { key })
  await page.getByRole('cell', { name: String(maxInt64), exact: true }).waitFor()
  await page.getByRole('cell', { name: '-9007199254740993', exact: true }).waitFor()
  expect(await names(page)).toEqual([name, 'Rex'])
  // Without <bdi>, the right-to-left override in the name would also reverse the text after it.
  expect(await page.locator('tbody bdi').allTextContents()).toEqual([name, 'Rex'])

  await page.getByRole('link', { name: 'Rex' }).click()
  await page.getByRole('definition').getByText(String(maxInt64)).waitFor()
  expect(page.url()).toBe(`${url}/?pet=${maxInt64}`)
})
