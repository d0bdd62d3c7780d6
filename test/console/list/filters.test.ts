import { expect } from 'vitest'
import { choose, counting, names, searchField, showing, turnPage } from '../../../engine/console/test/browser/list.ts'
import { boxOf, inspect, isFocused } from '../../../engine/console/test/browser/page.ts'
import { panel } from '../../../engine/console/test/browser/panels.ts'
import { addPets } from '../../support/petstore.ts'
import { test } from '../console.ts'

test('the address becomes what the page shows, without parts that mean nothing', async ({ open }) => {
  const { url, page } = await open(3, { path: '/?pet=abc&status=foo&cursor=zzz&size=7&page=2&name=Rex&order=newest' })
  await showing(page, '1–3 of 3')
  await expect.poll(() => page.url()).toBe(`${url}/?order=newest`)
  // Going back leads to no address that means the same.
  expect(await page.evaluate(() => history.length)).toBe(2)
  const invalid = page.locator('.edit-notice').filter({ hasText: 'Not valid in the link' })
  await invalid
    .getByText('Not valid in the link, and left out: “pet”, “status”, “cursor”, “page”, and “name”.')
    .waitFor()
  await page.goto(`${url}/?changes=removed&until=x`)
  await invalid.getByText('left out: “until” and “changes”.').waitFor()
  expect(page.url()).toBe(`${url}/?changes=all`)
  // Such as those that a mail adds.
  await page.goto(`${url}/?pet=1&utm_source=mail`)
  await page.waitForURL('**/?pet=1')
  await panel(page, 'pet 1').waitFor()
  expect(await invalid.count()).toBe(0)
})

test('a click on a category shows its pets, and a button all again', async ({ open }) => {
  const mollies = (['sold', 'pending'] as const).map((status) => ({ name: 'Molly', categoryId: -7n, status }))
  const { page } = await open([30, ...mollies, 5, { name: 'Rex', categoryId: 1n, status: 'sold' }])
  await showing(page, '1–20 of 38')
  const row = page.getByRole('row', { name: 'pet 3', exact: false }).first()
  // The name says what the button does, and has the text that is shown.
  const category = row.getByRole('button', { name: 'Filter by Category 1', exact: true })
  expect(await category.textContent()).toBe('1')
  await category.click()
  await showing(page, '1–20 of 36')
  expect([new URL(page.url()).search, await panel(page).count()]).toEqual(['?categoryId=1', 0])
  expect(await page.title()).toBe('Category 1 pets · Petstore')
  await inspect(page, 'filtered-category')
  await turnPage(page, 'Next', '21–36 of 36')
  await page.goBack()
  await showing(page, '1–20 of 36')
  await page.reload()
  await showing(page, '1–20 of 36')
  await choose(page, 'Sold')
  await showing(page, '1 of 1')
  expect(await names(page)).toEqual(['Rex'])
  await page.getByRole('button', { name: 'Remove the filter Category 1' }).click()
  await showing(page, '1–2 of 2')
  expect(await names(page)).toEqual(['Molly', 'Rex'])
  expect(await isFocused(page.getByRole('link', { name: 'Rex' }))).toBe(true)
  await page.getByRole('button', { name: 'Filter by Category -7' }).press('Enter')
  await showing(page, '1 of 1')
  expect(await names(page)).toEqual(['Molly'])
  // A second click shows all again.
  const molly = page.getByRole('button', { name: 'Filter by Category -7', pressed: true })
  await molly.click()
  await showing(page, '1–2 of 2')
  await page.getByRole('button', { name: 'Filter by Category -7', pressed: false }).click()
  await molly.waitFor()
  await page.getByRole('button', { name: 'Add pet' }).click()
  // A new pet has the category of the filter.
  expect(await page.getByRole('textbox', { name: 'Category' }).inputValue()).toBe('-7')
})

test.for([1280, 1440, 1920])('a filter moves nothing in a window of %i px', async (width, { open }) => {
  const categoryId = 9007199254740993n
  const pets = Array.from({ length: 30 }, () => ({ name: 'Rex', categoryId, status: 'sold' as const }))
  const { page } = await open(pets, { isLoaded: true, viewport: { width, height: 800 } })
  await counting(page, 'All 30')
  const places = () =>
    Promise.all(
      ['.chip:last-child', '.search', '.tool:first-child', '.tools > .button:last-child', '.item-table'].map((each) =>
        boxOf(page.locator(each).last()),
      ),
    )
  const before = await places()
  await page
    .getByRole('button', { name: `Filter by Category ${categoryId}` })
    .first()
    .click()
  const filter = page.getByRole('button', { name: `Remove the filter Category ${categoryId}` })
  expect((await boxOf(filter)).width).toBeGreaterThan(110)
  await showing(page, '1–20 of 30')
  expect(await places()).toEqual(before)
})

test('the filters count what a search and a category leave, also beside a filter', async ({ start }) => {
  const { url, store, show } = await start(30)
  for (const [name, categoryId, status] of [
    ['Rex', 1n, 'sold'],
    ['Rex', 2n, 'pending'],
    ['Rexy', 1n, 'available'],
  ] as const)
    await store.pets.create({ name, categoryId, status })
  const page = await show()
  await showing(page, '1–20 of 33')
  await searchField(page).fill('rex')
  for (const name of ['All 3', 'Available 1', 'Pending 1', 'Sold 1']) await counting(page, name)
  await inspect(page, 'counts-of-search')
  await choose(page, 'Sold')
  await showing(page, '1 of 1')
  for (const name of ['All 3', 'Available 1', 'Pending 1', 'Sold 1']) await counting(page, name)
  // Another client adds one.
  await store.pets.create({ name: 'Rex', categoryId: 3n, status: 'sold' })
  for (const name of ['All 4', 'Sold 2']) await counting(page, name)
  await page.goto(`${url}/?categoryId=1`)
  await showing(page, '1–20 of 32')
  for (const name of ['All 32', 'Available 31', 'Pending 0', 'Sold 1']) await counting(page, name)
  // More than are counted.
  await addPets(store, 180)
  await page.reload()
  await showing(page, '1–20 of more than 200')
  for (const name of ['All 200+', 'Available', 'Pending', 'Sold']) await counting(page, name)
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  await page.getByRole('button', { name: 'Select all that match', exact: true }).waitFor()
  await choose(page, 'Available')
  for (const name of ['All 200+', 'Available 200+', 'Pending', 'Sold']) await counting(page, name)
  // Few enough to be counted.
  await choose(page, 'Sold')
  await counting(page, 'Sold 1')
})

test('a search that names a status or a category offers its filter', async ({ open }) => {
  const { page } = await open([
    { name: 'Rex', categoryId: 7n, status: 'sold' },
    { name: 'Molly', categoryId: 7n, status: 'pending' },
    { name: 'Rex', categoryId: 8n, status: 'sold' },
  ])
  await showing(page, '1–3 of 3')
  await searchField(page).fill('rex SOLD')
  await page.getByRole('button', { name: 'Filter by Sold' }).click()
  await showing(page, '1–2 of 2')
  expect(new URL(page.url()).search).toBe('?status=sold&search=rex')
  await searchField(page).fill('category 7')
  // The rows of the former search are dimmed until then.
  await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
  await inspect(page, 'filter-offered')
  await page.getByRole('button', { name: 'Filter by Category 7' }).click()
  await showing(page, '1 of 1')
  expect(new URL(page.url()).search).toBe('?status=sold&categoryId=7')
  expect(await searchField(page).inputValue()).toBe('')
  for (const text of ['sol', 'category', 'category x', 'sold 8']) {
    await searchField(page).fill(text)
    await expect.poll(() => new URL(page.url()).searchParams.get('search')).toBe(text)
    // Each row has such a button, too.
    expect(await page.getByRole('status').getByRole('button', { name: 'Filter by' }).count()).toBe(0)
  }
})

test('Enter moves the focus to the filter that an empty list offers', async ({ open }) => {
  const { page } = await open([{ name: 'Rex', categoryId: 8n, status: 'sold' }])
  await showing(page, '1 of 1')
  await searchField(page).fill('category 8')
  await page.getByRole('heading', { name: 'No pets found' }).waitFor()
  await page.keyboard.press('Enter')
  const offer = page.getByRole('button', { name: 'Filter by Category 8' })
  await expect.poll(() => isFocused(offer)).toBe(true)
  expect(await offer.getAttribute('data-variant')).toBe('filled')
  await page.keyboard.press('Enter')
  await showing(page, '1 of 1')
  expect(new URL(page.url()).search).toBe('?categoryId=8')
})

test('the filters count the whole list again when the search or the category is gone', async ({ open }) => {
  const { page } = await open([3, { name: 'Rex', categoryId: 7n, status: 'sold' }])
  const chips = () => page.locator('.chip').allTextContents()
  await showing(page, '1–4 of 4')
  const counted = ['All4', 'Available3', 'Pending0', 'Sold1']
  await expect.poll(chips).toEqual(counted)
  await choose(page, 'Sold')
  await expect.poll(chips).toEqual(counted)
  await searchField(page).fill('pet')
  await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
  await expect.poll(chips).toEqual(['All3', 'Available3', 'Pending0', 'Sold0'])
  await inspect(page, 'search-and-filter-empty')
  await page.getByRole('button', { name: 'Search without the filter' }).click()
  await showing(page, '1–3 of 3')
  expect(new URL(page.url()).search).toBe('?search=pet')
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await expect.poll(chips).toEqual(counted)
  await page.getByRole('button', { name: 'Filter by Category 7' }).click()
  await showing(page, '1 of 1')
  await expect.poll(chips).toEqual(['All1', 'Available0', 'Pending0', 'Sold1'])
})
