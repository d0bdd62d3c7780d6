import { expect } from 'vitest'
import { maxInt64 } from '../../../server/api/int64.ts'
import { findCursor } from '../../../web/pets/cursor.ts'
import { addPets } from '../../support/database.ts'
import {
  choose,
  counting,
  holdRequests,
  inspect,
  names,
  pageButton,
  panel,
  showing,
  startConsole,
  test,
} from '../console.ts'

test('the list pages through 70 pets to the end and back', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 70)
  const page = await visit(url, { key })
  const next = pageButton(page, 'Next')
  for (const name of ['All 70', 'Available 70']) await counting(page, name)

  const seen: string[] = []
  for (const first of [1, 21, 41, 61]) {
    await showing(page, `${first}–${Math.min(first + 19, 70)} of 70`)
    seen.push(...(await names(page)))
    if (first < 61) await next.click()
  }
  expect(seen).toEqual(Array.from({ length: 70 }, (_, index) => `pet ${index + 1}`))
  expect(await next.getAttribute('aria-disabled')).toBe('true')

  await pageButton(page, 'Previous').click()
  await showing(page, '41–60 of 70')
  expect(await names(page)).toEqual(seen.slice(40, 60))
  await page.reload()
  await showing(page, '41–60 of 70')
  await page.goBack()
  await showing(page, '61–70 of 70')
  await pageButton(page, 'First page').click()
  await showing(page, '1–20 of 70')
  expect(await names(page)).toEqual(seen.slice(0, 20))
  await inspect(page, 'pets')
})

test('a turned page starts at its top, and the panel stays open', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 45)
  const page = await visit(url, { key, viewport: { width: 1280, height: 500 } })
  await page.getByRole('link', { name: 'pet 20' }).click()
  await panel(page, 'pet 20').waitFor()
  expect(await page.evaluate(() => scrollY)).toBeGreaterThan(200)
  await pageButton(page, 'Next').click()
  await showing(page, '21–40 of 45')
  expect((await page.getByRole('link', { name: 'pet 21' }).boundingBox())?.y).toBeGreaterThanOrEqual(0)
  await panel(page, 'pet 20').getByRole('button', { name: 'Close' }).click()
  await panel(page).waitFor({ state: 'hidden' })
  await showing(page, '21–40 of 45')
})

test('a second press on Next does nothing while the next page loads', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 50)
  const page = await visit(url)
  const release = await holdRequests(page, (address) => address.search.includes('cursor%22%3A%2220'))
  await page.evaluate(([name, value]) => sessionStorage.setItem(name, value), ['petstore-api-key', key] as const)
  await page.reload()
  await showing(page, '1–20 of 50')
  await pageButton(page, 'Next').press('Enter')
  await showing(page, 'Loading…')
  await pageButton(page, 'Next').press('Enter')
  release()
  await showing(page, '21–40 of 50')
  expect((await names(page))[0]).toBe('pet 21')
  expect(new URL(page.url()).search).toBe('?cursor=20')
})

test('invalid parameters of the URL are ignored', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 30)
  const page = await visit(`${url}/?cursor=9223372036854775808&status=lost&pet=rex&key=1`, { key })
  await showing(page, '1–20 of 30')
  expect(await page.getByRole('radio', { checked: true }).getAttribute('value')).toBe('all')
  expect(await panel(page).count()).toBe(0)
})

test('a link to a page works without the history of the browser, or with an invalid one', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 70)
  const page = await visit(`${url}/?cursor=25`, { key })
  await page.evaluate(() => history.replaceState(['0', {}], ''))
  await page.reload()
  await showing(page, '20 pets after id 25')
  expect((await names(page))[0]).toBe('pet 26')
  await pageButton(page, 'Next').click()
  await showing(page, '20 pets after id 45')
  await pageButton(page, 'Next').click()
  // The last page is at the end of all pets, so its position is known.
  await showing(page, '66–70 of 70')
  await page.goto(`${url}/?cursor=25`)
  await pageButton(page, 'Previous').click()
  await showing(page, '20 pets after id 5')
  expect((await names(page)).at(-1)).toBe('pet 25')
  await pageButton(page, 'Previous').click()
  await showing(page, '1–20 of 70')

  await page.goto(`${url}/?cursor=70`)
  await page.getByRole('heading', { name: 'No more pets' }).waitFor()
  await inspect(page, 'past-the-end')
  await page.getByRole('button', { name: 'Go to the first page' }).click()
  await showing(page, '1–20 of 70')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Pets')
})

test('one button shows the newest pets, of all and of one status', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 33)
  for (const name of ['Tom', 'Luna']) await store.pets.create({ name, categoryId: 1n, status: 'sold' })
  await addPets(store, 12)
  const page = await visit(url, { key })
  const newest = page.getByRole('button', { name: 'Newest pets' })
  await counting(page, 'All 47')
  await newest.click()
  await showing(page, '28–47 of 47')
  expect((await names(page)).at(-1)).toBe('pet 12')
  expect(await newest.getAttribute('aria-disabled')).toBe('true')
  await choose(page, 'Available')
  await showing(page, '1–20 of 45')
  await newest.click()
  await showing(page, '26–45 of 45')
  expect((await names(page))[0]).toBe('pet 26')
})

test('the search for the last page is exact for any ids, and needs one request if they have no gaps', async () => {
  const random = (ids: number, gap: number) => {
    let id = 0n
    return Array.from({ length: ids }, () => (id += BigInt(Math.ceil(Math.random() * gap))))
  }
  for (const [ids, maxRequests] of [
    [random(0, 1), 1],
    [random(5, 1), 1],
    [random(300, 1), 1],
    [random(10_000, 1), 1],
    [random(10_000, 50), 60],
    [[...random(40, 3), maxInt64 - 1n, maxInt64], 150],
  ] as const) {
    const sent: bigint[] = []
    const list = async (cursor: bigint) => {
      sent.push(cursor)
      const after = ids.filter((id) => id > cursor).slice(0, 21)
      return after.map((id) => ({ id, name: 'Rex', categoryId: 1n, status: 'sold' as const }))
    }
    const cursor = await findCursor(list, { end: maxInt64, guess: BigInt(Math.max(ids.length - 20, 0)) })
    expect(ids.filter((id) => id > cursor)).toEqual(ids.slice(-20))
    expect(sent.length).toBeLessThanOrEqual(maxRequests)
  }
})
