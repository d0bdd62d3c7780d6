import { expect } from 'vitest'
import { changesOf } from '../../../engine/console/resource/changes.ts'
import { choose, counting, names, showing } from '../../../engine/console/test/browser/list.ts'
import {
  beDeveloper,
  boxOf,
  holdRequests,
  inspect,
  isFocused,
  received,
} from '../../../engine/console/test/browser/page.ts'
import { panel, panelsWillLoad } from '../../../engine/console/test/browser/panels.ts'
import { signIn } from '../../../engine/console/test/browser/session.ts'
import type { Page } from '../../../engine/console/test/browser/visit.ts'
import { maxInt64 } from '../../../engine/service/api/int64.ts'
import { addingRow, addPets, testDatabase } from '../../support/petstore.ts'
import { addPet, startConsole, test } from '../console.ts'

test('the console reports an empty list only after the response', async ({ open }) => {
  const { page } = await open(3, { path: '/?status=sold' })
  await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
  const release = await holdRequests(page)
  await choose(page, 'Available')
  await showing(page, 'Loading…')
  expect(await page.getByRole('heading').allTextContents()).toEqual(['Pets'])
  release()
  await showing(page, '1–3 of 3')
})

test('a button leads to what others have added to another page, in both orders', async ({ open }) => {
  const { url, store, page } = await open(50)
  await counting(page, 'All 50')
  // The page knows the newest pet by then.
  await received(page, 'pets.search')
  for (const name of ['Rex', 'Tom']) await store.pets.create({ name, categoryId: 7n, status: 'sold' })
  await page.getByRole('button', { name: '2 new' }).waitFor()
  await counting(page, 'All 52')
  await inspect(page, 'arrived')
  await page.getByRole('button', { name: '2 new' }).press('Enter')
  await expect.poll(() => names(page)).toEqual(['Rex', 'Tom'])
  expect(await isFocused(page.getByRole('heading', { level: 1 }))).toBe(true)
  await page.goBack()
  await showing(page, '1–20 of 52')
  // The user has seen them, and knows of what this tab adds.
  await addPet(page, 'Momo', '7')
  await counting(page, 'All 53')
  expect(await page.getByRole('button', { name: /new$/ }).count()).toBe(0)

  await page.goto(`${url}/?order=newest&cursor=40`)
  // The page knows the newest pet by then: this is the end of the input `{ limit: 1 }`.
  await received(page, encodeURIComponent('"limit":1}'))
  await store.pets.create({ name: 'Zoe', categoryId: 7n, status: 'sold' })
  await page.getByRole('button', { name: '1 new' }).click()
  await expect.poll(async () => (await names(page))[0]).toBe('Zoe')
})

test('a refresh marks what others have added or changed, and announces the number', async ({ visit }) => {
  const database = await testDatabase()
  const { url, key, store, rpc } = await startConsole({ store: await database.open() })
  await addPets(store, 3)
  const page = await visit(url)
  await page.clock.install()
  await signIn(page, key)
  await showing(page, '1–3 of 3')
  await rpc.pets.create.mutate({ name: 'Rex', categoryId: 7n })
  await showing(page, '1 pet is new or changed.')
  expect(await marked(page)).toEqual(['Rex'])
  await inspect(page, 'changed')
  await page.clock.fastForward(10_000)
  expect(await marked(page)).toEqual([])

  await page.emulateMedia({ reducedMotion: 'reduce' })
  await rpc.pets.create.mutate({ name: 'Tom', categoryId: 7n })
  await showing(page, '1 pet is new or changed.')
  const rows = await page.locator('[data-changed]').evaluateAll((elements) =>
    elements.map((element) => ({
      name: element.querySelector('a')?.textContent,
      animations: element.getAnimations().length,
    })),
  )
  expect(rows).toEqual([{ name: 'Tom', animations: 0 }])
})

test('a refresh marks no pet that moved up because another one was deleted', () => {
  const pet = (id: number, name = 'Rex') => ({ id: BigInt(id), name })
  const former = [pet(1), pet(2), pet(4)]
  expect(changesOf(former, [pet(1), pet(4), pet(5)], 2)).toEqual([])
  expect(changesOf(former, [pet(1), pet(2), pet(4), pet(5)], 4)).toEqual([pet(5)])
  // It is the one more that is loaded.
  expect(changesOf(former, [pet(1), pet(2), pet(4), pet(5)], 3)).toEqual([])
  expect(changesOf(former, [pet(1), pet(2, 'Tom'), pet(3)], 2)).toEqual([pet(2, 'Tom')])
  expect(changesOf(former, [pet(1), pet(3), pet(4)], 2)).toEqual([pet(3)])
})

test('the list is refreshed only while its tab is visible', async ({ open }) => {
  const { key, rpc, page } = await open(0, { session: 'none' })
  await page.clock.install()
  const loaded = panelsWillLoad(page)
  await signIn(page, key)
  await page.getByRole('heading', { name: 'No pets yet' }).waitFor()
  await loaded
  await counting(page, 'All 0')
  await page.waitForLoadState('networkidle')
  // Before the create, or the list may be loaded again between them.
  await setVisibility(page, 'hidden')
  await rpc.pets.create.mutate({ name: 'Rex', categoryId: 7n })
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  await page.clock.fastForward(120_000)
  await page.clock.runFor(30_000)
  expect(requests).toEqual([])
  await setVisibility(page, 'visible')
  await page.getByRole('row', { name: '1 Rex Filter by Category 7 Status of Rex: Available' }).waitFor()
})

test('a screen reader hears a row without what the header says, also on a phone', async ({ start }) => {
  const { show } = await start([{ name: 'Rex', categoryId: 7n, status: 'sold' }])
  for (const options of [{}, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }]) {
    const page = await show(options)
    for (const name of [
      'Select all pets of this page Id Name Category Status',
      'Select Rex 1 Rex Filter by Category 7 Status of Rex: Sold',
    ])
      await page.getByRole('row', { name, exact: true }).waitFor()
  }
})

test('the filter shows one status, and the number of pets of each', async ({ open }) => {
  const { page } = await open([3, { name: 'Tom', categoryId: 1n, status: 'pending' }])
  for (const name of ['All 4', 'Available 3', 'Pending 1', 'Sold 0']) await counting(page, name)
  expect(await page.title()).toBe('Pets · Petstore')

  await choose(page, 'Pending')
  await showing(page, '1 of 1')
  expect(await names(page)).toEqual(['Tom'])
  expect(await page.title()).toBe('Pending pets · Petstore')
  await choose(page, 'Sold')
  await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
  await page.goBack()
  await showing(page, '1 of 1')
  await page.reload()
  await showing(page, '1 of 1')
  expect(await page.getByRole('radio', { checked: true }).getAttribute('value')).toBe('pending')
})

test('the list does not wait for the counts', async ({ open }) => {
  const { page } = await open(3)
  await showing(page, '1–3 of 3')
  const release = await holdRequests(page, '**/trpc/pets.counts**')
  await page.reload()
  await showing(page, '1–3')
  release()
  await showing(page, '1–3 of 3')
})

test('the list shows every digit of an id, and markup in a name as text', async ({ visit }) => {
  const database = await testDatabase()
  const { url, key, rpc } = await startConsole({ store: await database.open() })
  const name = '<img src="x" onerror="document.title = 1"> \u202e&amp;'
  await rpc.pets.create.mutate({ name, categoryId: -9007199254740993n })
  await database.execute(addingRow(maxInt64))
  const page = await visit(url, { key })
  await page.getByRole('cell', { name: String(maxInt64), exact: true }).waitFor()
  await page.getByRole('cell', { name: 'Filter by Category -9007199254740993', exact: true }).waitFor()
  expect(await names(page)).toEqual([name, 'Rex'])
  // Without <bdi>, the right-to-left override in the name would also reverse the text after it.
  expect(await page.locator('tbody bdi').allTextContents()).toEqual([name, 'Rex'])

  await page.getByRole('link', { name: 'Rex' }).click()
  await panel(page).getByRole('definition').getByText(String(maxInt64)).waitFor()
  expect(page.url()).toBe(`${url}/?pet=${maxInt64}`)
})

test('names are cut to one line, and show their outer spaces', async ({ start }) => {
  const { rpc, show } = await start()
  for (const name of ['M'.repeat(255), '  Rex ', 'ر'.repeat(250), '🐕‍🦺'.repeat(60)]) {
    await rpc.pets.create.mutate({ name, categoryId: 7n })
  }
  const page = await show()
  await showing(page, '1–4 of 4')
  const rows = await page.locator('.item-list tbody tr').evaluateAll((all) => all.map((row) => row.clientHeight))
  expect(new Set(rows).size).toBe(1)
  expect(await page.locator('.text-space').count()).toBe(3)
  // The accessible name has no dots, and a copied name has its spaces.
  await page.getByRole('link', { name: 'Rex', exact: true }).click()
  expect((await names(page))[1]).toBe('  Rex ')
  await beDeveloper(page)
  await panel(page).getByText('Request and JSON').click()
  await panel(page).getByText('"name": "  Rex "').waitFor()
  await inspect(page, 'names')
})

test('a refresh gets 304, and the body only if a pet was added', async ({ open }) => {
  const { store, log, page } = await open(2, { isIntercepted: false })
  await showing(page, '1–2 of 2')
  const statusesOf = (operation: string, lines: string[]) =>
    lines.map((line) => JSON.parse(line)).flatMap((line) => (line.operation === operation ? [line.status] : []))
  const unchanged = log.length
  await expect.poll(() => statusesOf('pets.list', log.slice(unchanged)).slice(0, 2)).toEqual([304, 304])
  expect(statusesOf('pets.counts', log.slice(unchanged))).toEqual([])
  const changed = log.length
  await store.pets.create({ name: 'Tom', categoryId: 7n, status: 'sold' })
  await showing(page, '1–3 of 3')
  for (const name of ['All 3', 'Sold 1']) await counting(page, name)
  expect(statusesOf('pets.list', log.slice(changed))).toContain(200)
  expect(statusesOf('pets.counts', log.slice(changed))).toEqual([200])
})

test('dragging selects the text of a row, and a click anywhere in a row opens it', async ({ open }) => {
  const { page } = await open(3)
  const name = await boxOf(page.getByRole('link', { name: 'pet 2' }))
  const row = await boxOf(page.getByRole('row', { name: '2 pet 2' }))
  const y = row.y + row.height / 2
  await page.mouse.move(name.x + 1, y)
  await page.mouse.down()
  await page.mouse.move(row.x + row.width - 2, y, { steps: 8 })
  await page.mouse.up()
  expect(await page.evaluate(() => String(getSelection()))).toContain('pet 2')
  expect(await panel(page).count()).toBe(0)
  await page.mouse.click(row.x + row.width - 2, y)
  await panel(page, 'pet 2').waitFor()
})

/** The names of the pets that are marked as changed. */
function marked(page: Page): Promise<string[]> {
  return page.locator('[data-changed] a').allTextContents()
}

function setVisibility(page: Page, state: DocumentVisibilityState): Promise<void> {
  return page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  }, state)
}

test('a new tab has the filter and the order of the last visit, until its address has others', async ({ open }) => {
  const { url, page } = await open(3)
  await showing(page, '1–3 of 3')
  await choose(page, 'Sold')
  await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
  const tab = await page.context().newPage()
  await tab.goto(url)
  await tab.getByRole('heading', { name: 'No sold pets' }).waitFor()
  expect(new URL(tab.url()).search).toBe('?status=sold')
  await tab.getByRole('link', { name: 'Pets', exact: true }).click()
  await showing(tab, '1–3 of 3')
  await choose(tab, 'Sold')
  await tab.getByRole('heading', { name: 'No sold pets' }).waitFor()
  // Going back leaves the filter, too.
  await tab.goBack()
  await showing(tab, '1–3 of 3')
  const last = await page.context().newPage()
  await last.goto(url)
  await showing(last, '1–3 of 3')
})
