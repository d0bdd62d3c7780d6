import { expect } from 'vitest'
import { choose, counting, names, pageButton, showing, turnPage } from '../../../engine/console/test/browser/list.ts'
import { boxOf, holdRequests } from '../../../engine/console/test/browser/page.ts'
import { openItem, panel } from '../../../engine/console/test/browser/panels.ts'
import type { Locator, Page } from '../../../engine/console/test/browser/visit.ts'
import { test } from '../console.ts'

test('the list pages through 70 pets to the end and back', async ({ open }) => {
  const { page } = await open(70)
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

  await turnPage(page, 'Previous', '41–60 of 70')
  expect(await names(page)).toEqual(seen.slice(40, 60))
  await page.reload()
  await showing(page, '41–60 of 70')
  await page.goBack()
  await showing(page, '61–70 of 70')
  await pageButton(page, 'First page').click()
  await showing(page, '1–20 of 70')
  expect(await names(page)).toEqual(seen.slice(0, 20))
})

test('a turned page of a small window starts at its top, and the panel stays open', async ({ open }) => {
  const { page } = await open(45, { viewport: { width: 1280, height: 500 } })
  await openItem(page, 'pet 20')
  expect(await page.evaluate(() => scrollY)).toBeGreaterThan(200)
  await turnPage(page, 'Next', '21–40 of 45')
  expect((await boxOf(page.getByRole('link', { name: 'pet 21' }))).y).toBeGreaterThanOrEqual(0)
  await panel(page, 'pet 20').getByRole('button', { name: 'Close' }).click()
  await panel(page).waitFor({ state: 'hidden' })
  await showing(page, '21–40 of 45')
})

test('the table scrolls between its head and its footer, and a turned page starts at its top', async ({ open }) => {
  const { url, page } = await open(150, { path: '/?size=50', viewport: { width: 1_440, height: 900 } })
  await showing(page, '1–50 of 150')
  const scroll = () => page.locator('.item-list').evaluate(({ scrollTop }) => scrollTop)
  await openItem(page, 'pet 50')
  expect(await scroll()).toBeGreaterThan(500)
  await page.keyboard.press(']')
  await showing(page, '51–100 of 150')
  expect(await scroll()).toBe(0)
  for (let pets = 0; pets < 48; pets++) await page.keyboard.press('j')
  await panel(page, 'pet 98').waitFor()
  const [row, footer, head] = [
    await boxOf(page.getByRole('row', { name: 'pet 98' })),
    await boxOf(page.locator('.list-footer')),
    await boxOf(page.getByRole('columnheader', { name: 'Name' })),
  ]
  expect(row.y + row.height).toBeLessThanOrEqual(footer.y)
  expect(footer.y + footer.height).toBeLessThanOrEqual(900)
  expect(head.y).toBeGreaterThan(0)
  expect(await page.evaluate(() => scrollY)).toBe(0)

  await page.goto(url)
  await showing(page, '1–23 of 150')
  expect(await page.locator('.item-list').evaluate((list) => list.scrollHeight - list.clientHeight)).toBe(0)
})

test('a second press on Next does nothing while the next page loads', async ({ open }) => {
  const { key, page } = await open(50, { session: 'none' })
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

test('a link to a page works without the history of the browser, or with an invalid one', async ({ open }) => {
  const { url, page } = await open(70, { path: '/?cursor=25' })
  await page.evaluate(() => history.replaceState(['0', {}], ''))
  await page.reload()
  await showing(page, '20 pets, from id 26')
  expect((await names(page))[0]).toBe('pet 26')
  await turnPage(page, 'Next', '20 pets, from id 46')
  await pageButton(page, 'Next').click()
  // The last page is at the end of all pets, so its position is known.
  await showing(page, '66–70 of 70')
  await page.goto(`${url}/?cursor=25`)
  await turnPage(page, 'Previous', '20 pets, from id 6')
  expect((await names(page)).at(-1)).toBe('pet 25')
  await turnPage(page, 'Previous', '1–20 of 70')

  await page.goto(`${url}/?cursor=70`)
  await page.getByRole('heading', { name: 'No more pets' }).waitFor()
  await page.getByRole('button', { name: 'Go to the first page' }).click()
  await showing(page, '1–20 of 70')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Pets')
})

test('the header of the ids shows the newest pets first, and the oldest again', async ({ open }) => {
  const sold = ['Tom', 'Luna'].map((name) => ({ name, categoryId: 1n, status: 'sold' as const }))
  const { page } = await open([33, ...sold, 12], { viewport: { width: 1280, height: 500 } })
  await counting(page, 'All 47')
  await order(page).click()
  await expect.poll(async () => (await names(page)).slice(0, 2)).toEqual(['pet 12', 'pet 11'])
  expect(await isVisible(page.getByRole('link', { name: 'pet 12' }))).toBe(true)
  await showing(page, '1–20 of 47')
  await turnPage(page, 'Next', '21–40 of 47')
  expect((await names(page))[0]).toBe('pet 27')
  await page.reload()
  await showing(page, '21–40 of 47')
  await turnPage(page, 'Previous', '1–20 of 47')
  await choose(page, 'Sold')
  await showing(page, '1–2 of 2')
  expect(await names(page)).toEqual(['Luna', 'Tom'])
  expect(new URL(page.url()).search).toBe('?status=sold&order=newest')
  expect(await page.getByRole('columnheader', { name: 'Id' }).getAttribute('aria-sort')).toBe('descending')
  await order(page).click()
  await page.getByRole('link', { name: 'Tom' }).waitFor()
  await expect.poll(() => names(page)).toEqual(['Tom', 'Luna'])
})

test('the newest first: a link to a page, its neighbors, and the page of a pet', async ({ open }) => {
  const { url, page } = await open(70, { path: '/?order=newest&cursor=46' })
  await showing(page, '20 pets, from id 45')
  expect((await names(page))[0]).toBe('pet 45')
  await turnPage(page, 'Previous', '20 pets, from id 65')
  expect((await names(page)).at(-1)).toBe('pet 46')
  await turnPage(page, 'Previous', '1–20 of 70')

  await page.goto(`${url}/?order=newest&pet=30`)
  await showing(page, '20 pets, from id 39')
  await page.keyboard.press('j')
  await panel(page, 'pet 29').waitFor()
})

test('the chosen size of a page is that of the next visit, unless the URL has one', async ({ open }) => {
  const { url, page } = await open(70)
  const size = page.getByRole('combobox', { name: 'Pets per page' })
  await showing(page, '1–20 of 70')
  await size.selectOption('50')
  await showing(page, '1–50 of 70')
  await page.goto(url)
  await showing(page, '1–50 of 70')
  expect(new URL(page.url()).search).toBe('')
  await size.selectOption('20')
  await showing(page, '1–20 of 70')
  // The size that the page began with stays that of the entries without one.
  expect(new URL(page.url()).search).toBe('?size=20')
  await page.goBack()
  await showing(page, '1–50 of 70')
  await page.goto(`${url}/?size=100`)
  await showing(page, '1–70 of 70')
  await page.goto(url)
  await showing(page, '1–20 of 70')
})

/** Whether nothing scrolled the element out of the window. */
function isVisible(element: Locator): Promise<boolean> {
  return element.evaluate((each) => {
    const { top, bottom } = each.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
  })
}

function order(page: Page): Locator {
  return page.getByRole('columnheader').getByRole('button', { name: 'Id' })
}
