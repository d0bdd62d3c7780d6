import { expect } from 'vitest'
import { maxInt64 } from '../../server/api/int64.ts'
import { testDatabase } from '../support/database.ts'
import { addPets } from '../support/helpers.ts'
import { choose, holdAnswers, inspect, names, pageButton, showing, signIn, startConsole, test } from './console.ts'

test('is paged through to the end of 250 pets, and back', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 250)
  const page = await visit(url)
  await signIn(page, key)
  const next = pageButton(page, 'Next')
  for (const name of ['all 250', 'available 250']) {
    await page.getByRole('radio', { name, exact: true }).waitFor({ state: 'attached' })
  }

  const seen: string[] = []
  for (let first = 1; first <= 250; first += 20) {
    await showing(page, `Pets ${first} to ${Math.min(first + 19, 250)}`)
    seen.push(...(await names(page)))
    if (first < 241) await next.click()
  }
  expect(seen).toEqual(Array.from({ length: 250 }, (_, index) => `pet ${index + 1}`))
  expect(await next.getAttribute('aria-disabled')).toBe('true')

  await pageButton(page, 'Previous').click()
  await showing(page, 'Pets 221 to 240')
  expect(await names(page)).toEqual(seen.slice(220, 240))
  await page.reload()
  await showing(page, 'Pets 221 to 240')
  await page.goBack()
  await showing(page, 'Pets 241 to 250')
  await pageButton(page, 'First').click()
  await showing(page, 'Pets 1 to 20')
  expect(await names(page)).toEqual(seen.slice(0, 20))
  await inspect(page, 'pets')
})

test('is turned at its end, too, which leads to the beginning of the next page', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 30)
  const page = await visit(url)
  await signIn(page, key)
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

test('an empty list is not told of before it is known', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  const page = await visit(`${url}/?status=sold`)
  await signIn(page, key)
  await page.getByRole('heading', { name: 'No pet is sold' }).waitFor()
  const release = await holdAnswers(page)
  await choose(page, 'available')
  await showing(page, 'Loading…')
  expect(await page.getByRole('heading').allTextContents()).toEqual([' Petstore', 'Pets'])
  release()
  await showing(page, 'Pets 1 to 3')
})

test('is not turned while its next page is still on the way', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 50)
  const page = await visit(url)
  await signIn(page, key)
  await showing(page, 'Pets 1 to 20')
  const release = await holdAnswers(page)
  await page.keyboard.press('Tab')
  await pageButton(page, 'Next').press('Enter')
  await showing(page, 'Loading…')
  await pageButton(page, 'Next').press('Enter')
  release()
  await showing(page, 'Pets 21 to 40')
  expect((await names(page))[0]).toBe('pet 21')
  expect(new URL(page.url()).search).toBe('?cursor=20')
})

test('an address, or a history, that makes no sense shows the first page', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 30)
  const page = await visit(`${url}/?cursor=9223372036854775808&status=lost&pet=rex&key=1`)
  await signIn(page, key)
  await showing(page, 'Pets 1 to 20')
  expect(await page.getByRole('radio', { checked: true }).getAttribute('value')).toBe('all')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.goto(`${url}/?cursor=20`)
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

test('shows by itself what others have added meanwhile', async ({ visit }) => {
  const { url, key, rpc } = await startConsole()
  const page = await visit(url)
  await page.clock.install()
  await signIn(page, key)
  await page.getByRole('heading', { name: 'There are no pets yet' }).waitFor()
  await rpc.pets.create.mutate({ name: 'Rex', categoryId: 7n })
  await page.clock.fastForward(16_000)
  await page.getByRole('row', { name: '1 Rex 7 available' }).waitFor()
})

test('shows one status, and how many pets have each, as far as it counts', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 1_001)
  await store.pets.create({ name: 'Tom', categoryId: 1n, status: 'pending' })
  const page = await visit(url)
  await signIn(page, key)
  for (const name of ['all 1,001+', 'available 1,000+', 'pending 1', 'sold 0']) {
    await page.getByRole('radio', { name, exact: true }).waitFor({ state: 'attached' })
  }

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

test('shows what stands in it as it is: each digit, and markup as text', async ({ visit }) => {
  const database = await testDatabase()
  const { url, key, rpc } = await startConsole({ store: await database.open() })
  const name = '<img src="x" onerror="document.title = 1"> \u202e&amp;'
  await rpc.pets.create.mutate({ name, categoryId: -9007199254740993n })
  await database.insertPet(maxInt64)
  const page = await visit(url)
  await signIn(page, key)
  await page.getByRole('cell', { name: String(maxInt64), exact: true }).waitFor()
  await page.getByRole('cell', { name: '-9007199254740993', exact: true }).waitFor()
  expect(await names(page)).toEqual([name, 'Rex'])
  // Or else the override would turn around what follows.
  expect(await page.locator('tbody bdi').allTextContents()).toEqual([name, 'Rex'])

  await page.getByRole('link', { name: 'Rex' }).click()
  await page.getByRole('definition').getByText(String(maxInt64)).waitFor()
  expect(page.url()).toBe(`${url}/?pet=${maxInt64}`)
})
