import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { choose, counting, showing } from '../../../engine/console/test/browser/list.ts'
import { closeByEscape, holdRequests, inspect, isFocused } from '../../../engine/console/test/browser/page.ts'
import { openBulkAdd, openTools } from '../../../engine/console/test/browser/panels.ts'
import type { Locator, Page } from '../../../engine/console/test/browser/visit.ts'
import { addingRow, addPets, exportText, openTestStore, testDatabase } from '../../support/petstore.ts'
import { test } from '../console.ts'

/** The byte order mark, without which Excel does not read a file as UTF-8. */
const mark = '\ufeff'

test('the pets of the list are downloaded with every digit', async ({ start }) => {
  const database = await testDatabase()
  const store = await database.open()
  await database.execute(addingRow(2n ** 53n + 1n))
  await addPets(store, 120)
  await store.pets.create({ name: '"Rex", the ركس 🐕', categoryId: 2n ** 63n - 1n, status: 'sold' })
  const { show } = await start(0, { store })
  const page = await show()
  const sheet = await openExport(page)
  await sheet.getByText('Downloads all 122 pets as a file.').waitFor()
  await expect.poll(() => isFocused(sheet.getByRole('button', { name: 'CSV' }))).toBe(true)
  expect(await download(page, 'CSV')).toEqual(['pets-2026-11-30.csv', mark + (await exportText(store, 'csv'))])
  await sheet.getByRole('status').getByText('122 pets were exported.').waitFor()
  await inspect(page, 'exported')
  await page.keyboard.press('Escape')
  await choose(page, 'Sold')
  await openExport(page)
  await sheet.getByText('Downloads all 2 sold pets as a file.').waitFor()
  const lines = (await exportText(store, 'ndjson', { status: 'sold' })).trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  expect(await download(page, 'JSON')).toEqual(['pets-sold-2026-11-30.json', `[\n${lines.join(',\n')}\n]\n`])
})

test('what was exported can be added as a file', async ({ open }) => {
  const { store, page } = await open([{ name: 'Šárka', categoryId: 7n, status: 'sold' }])
  await showing(page, '1 of 1')
  await openExport(page)
  const [file] = await Promise.all([page.waitForEvent('download'), startExport(page, 'CSV')])
  const path = await file.path()
  await page.keyboard.press('Escape')
  const sheet = await openBulkAdd(page)
  await sheet.locator('input[type=file]').setInputFiles(path)
  await sheet.getByRole('button', { name: 'Add 1 pet' }).click()
  await sheet.getByText('Added with id 2').waitFor()
  expect(await store.pets.list({ limit: 2 })).toMatchObject([{ name: 'Šárka' }, { name: 'Šárka', status: 'sold' }])
})

test('a search exports what it finds', async ({ open }) => {
  const { url, store, page } = await open([30, { name: 'Rex', categoryId: 7n, status: 'sold' }], {
    path: '/?search=Rex',
  })
  await showing(page, '1 of 1')
  const sheet = await openExport(page)
  await sheet.getByText('Downloads 1 pet found by “Rex” as a file.').waitFor()
  const csv = `${mark}id,name,categoryId,status\r\n31,Rex,7,sold\r\n`
  expect(await download(page, 'CSV')).toEqual(['pets-found-2026-11-30.csv', csv])
  await sheet.getByRole('status').getByText('1 pet was exported.').waitFor()

  await page.goto(`${url}/?search=pet&status=available&categoryId=1`)
  await showing(page, '1–20 of 30')
  await openExport(page)
  await sheet.getByText('Downloads all 30 available pets with category 1 found by “pet” as a file.').waitFor()
  await inspect(page, 'export-search')
  const [name, all] = await download(page, 'CSV')
  expect(name).toBe('pets-category-1-available-found-2026-11-30.csv')
  expect(all).toContain(',pet 30,')
  expect(all.split('\r\n')).toHaveLength((await exportText(store, 'csv', { status: 'available' })).split('\r\n').length)
})

test('an export shows its progress and can be cancelled', async ({ start }) => {
  const store = await openTestStore()
  await addPets(store, 250)
  const { show } = await start(0, { store })
  const page = await show()
  await counting(page, 'All 250')
  const downloads: unknown[] = []
  page.on('download', (each) => downloads.push(each))
  const release = await holdRequests(page, cursorOf(200))
  const sheet = await openExport(page)
  await startExport(page, 'CSV')
  await sheet.getByText('200 of 250 pets loaded…').waitFor()
  const share = (bar: HTMLProgressElement) => bar.position
  expect(await page.getByRole('progressbar').evaluate(share)).toBe(0.8)
  await inspect(page, 'exporting')
  await sheet.getByRole('button', { name: 'Cancel' }).press('Enter')
  await sheet.getByText('200 of 250 pets loaded…').waitFor({ state: 'hidden' })
  expect(await sheet.evaluate((element) => element.contains(document.activeElement))).toBe(true)
  await startExport(page, 'JSON')
  await sheet.getByText('200 of 250 pets loaded…').waitFor()
  await closeByEscape(sheet)
  expect(await isFocused(page.getByRole('button', { name: 'Export' }))).toBe(true)
  release()
  expect(downloads).toEqual([])
  await openExport(page)
  expect(await download(page, 'CSV')).toEqual(['pets-2026-11-30.csv', mark + (await exportText(store, 'csv'))])
})

test('an export waits while the service is away', async ({ start }) => {
  const store = await openTestStore()
  await addPets(store, 250)
  const { show } = await start(0, { store })
  const page = await show({ viewport: { width: 360, height: 740 }, colorScheme: 'dark' })
  await showing(page, '1–20 of 250')
  const secondPage = cursorOf(100)
  await page.route(secondPage, (route) => route.abort())
  await openExport(page)
  await startExport(page, 'CSV')
  await page.getByText(/The service cannot be reached\. Trying again in [12] s\./).waitFor()
  await inspect(page, 'export-service-away')
  const [file] = await Promise.all([page.waitForEvent('download'), page.unroute(secondPage)])
  expect(await readFile(await file.path(), 'utf8')).toBe(mark + (await exportText(store, 'csv')))
})

test('an empty list cannot be exported', async ({ open }) => {
  const { page } = await open()
  await counting(page, 'All 0')
  const sheet = await openExport(page)
  await sheet.getByText('There is no pet to export.').waitFor()
  expect(await sheet.getByRole('button', { name: 'CSV' }).isDisabled()).toBe(true)
})

test('an export that the service refuses says so', async ({ open }) => {
  const { url, page } = await open(1)
  await counting(page, 'All 1')
  await page.route('**/trpc/pets.list*', (route) => route.continue({ url: `${url}/trpc/pets.unknown` }))
  await openExport(page)
  await startExport(page, 'JSON')
  await page.getByRole('alert').getByText('The pets could not be exported').waitFor()
  await inspect(page, 'export-refused')
})

/** Matches the requests for the pets after this id. */
function cursorOf(id: number): (url: URL) => boolean {
  return ({ pathname, search }) =>
    pathname.startsWith('/trpc/pets.list') && decodeURIComponent(search).includes(`"cursor":"${id}"`)
}

/** Opens the sheet that exports pets. */
async function openExport(page: Page): Promise<Locator> {
  await openTools(page)
  await page.getByRole('button', { name: 'Export' }).click()
  const sheet = page.getByRole('dialog', { name: 'Export pets' })
  await sheet.waitFor()
  return sheet
}

async function startExport(page: Page, format: string): Promise<void> {
  await page.getByRole('button', { name: format, exact: true }).click()
}

/** The name and the content of the file of a certain day. */
async function download(page: Page, format: string): Promise<[string, string]> {
  await page.clock.setFixedTime('2026-11-30T12:00:00Z')
  const [file] = await Promise.all([page.waitForEvent('download'), startExport(page, format)])
  return [file.suggestedFilename(), await readFile(await file.path(), 'utf8')]
}
