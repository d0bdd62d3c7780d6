import { expect } from 'vitest'
import { maxInt64 } from '../../server/api/int64.ts'
import { testDatabase } from '../support/database.ts'
import { addPets } from '../support/helpers.ts'
import {
  choose,
  counting,
  holdRequests,
  inspect,
  names,
  pageButton,
  showing,
  signIn,
  startConsole,
  test,
} from './console.ts'

test('the list pages through 70 pets to the end and back', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 70)
  const page = await visit(url, { key })
  const next = pageButton(page, 'Next')
  for (const name of ['all 70', 'available 70']) await counting(page, name)

  const seen: string[] = []
  for (const first of [1, 21, 41, 61]) {
    await showing(page, `Pets ${first} to ${Math.min(first + 19, 70)}`)
    seen.push(...(await names(page)))
    if (first < 61) await next.click()
  }
  expect(seen).toEqual(Array.from({ length: 70 }, (_, index) => `pet ${index + 1}`))
  expect(await next.getAttribute('aria-disabled')).toBe('true')

  await pageButton(page, 'Previous').click()
  await showing(page, 'Pets 41 to 60')
  expect(await names(page)).toEqual(seen.slice(40, 60))
  await page.reload()
  await showing(page, 'Pets 41 to 60')
  await page.goBack()
  await showing(page, 'Pets 61 to 70')
  await pageButton(page, 'First').click()
  await showing(page, 'Pets 1 to 20')
  expect(await names(page)).toEqual(seen.slice(0, 20))
  await inspect(page, 'pets')
})

test('the pager after the table turns the page and moves the focus to the top of the list', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 30)
  const page = await visit(url, { key })
  const pager = page.getByRole('navigation', { name: 'Pages, after the table' })
  await pager.getByRole('button', { name: 'Next' }).click()
  await showing(page, 'Pets 21 to 30')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Pets 21 to 30')
  expect(await page.evaluate(() => scrollY)).toBeLessThan(200)
  await pager.getByRole('button', { name: 'Previous' }).click()
  await showing(page, 'Pets 1 to 20')
  await choose(page, 'sold')
  await page.getByRole('heading', { name: 'No pet is sold' }).waitFor()
  await store.pets.create({ name: 'Tom', categoryId: 1n, status: 'sold' })
  await page.reload()
  await showing(page, 'Pet 1')
  expect(await pager.count()).toBe(0)
})

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

test('a second press on Next does nothing while the next page loads', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 50)
  const page = await visit(url, { key })
  await showing(page, 'Pets 1 to 20')
  const release = await holdRequests(page)
  await page.keyboard.press('Tab')
  await pageButton(page, 'Next').press('Enter')
  await showing(page, 'Loading…')
  await pageButton(page, 'Next').press('Enter')
  release()
  await showing(page, 'Pets 21 to 40')
  expect((await names(page))[0]).toBe('pet 21')
  expect(new URL(page.url()).search).toBe('?cursor=20')
})

test('invalid parameters of the URL are ignored', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 30)
  const page = await visit(`${url}/?cursor=9223372036854775808&status=lost&pet=rex&key=1`, { key })
  await showing(page, 'Pets 1 to 20')
  expect(await page.getByRole('radio', { checked: true }).getAttribute('value')).toBe('all')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('a link to a page works without the history of the browser, or with an invalid one', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 30)
  const page = await visit(`${url}/?cursor=20`, { key })
  await page.evaluate(() => history.replaceState(['0', {}], ''))
  await page.reload()
  await showing(page, 'Pets after the id 20')
  expect(await names(page)).toEqual(Array.from({ length: 10 }, (_, index) => `pet ${index + 21}`))
  const previous = pageButton(page, 'Previous')
  expect(await previous.getAttribute('aria-disabled')).toBe('true')
  await previous.click({ force: true })
  expect(page.url()).toBe(`${url}/?cursor=20`)
  await page.goto(`${url}/?cursor=30`)
  await page.getByRole('heading', { name: 'There are no more pets' }).waitFor()
  await inspect(page, 'behind-the-end')
  await page.getByRole('button', { name: 'First page' }).click()
  await showing(page, 'Pets 1 to 20')
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
