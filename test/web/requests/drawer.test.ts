import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { runCurl } from '../../support/curl.ts'
import { addPets } from '../../support/database.ts'
import { parseExactly } from '../../support/exact-json.ts'
import { awkwardNames } from '../../support/pet-names.ts'
import {
  addButton,
  enterPet,
  inspect,
  isFocused,
  panel,
  showing,
  startConsole,
  submitButton,
  test,
} from '../console.ts'

const permissions = ['clipboard-read', 'clipboard-write']
const category = 9007199254740993n

describe('the request drawer', () => {
  test('shows the list as a request that lists the same pets', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 6)
    await store.pets.create({ name: String(awkwardNames[0]), categoryId: category, status: 'sold' })
    await addPets(store, 20)
    const page = await visit(`${url}/?cursor=5`, { key, permissions })
    await showing(page, '20 pets after id 5')
    const drawer = await openRequest(page)
    await drawer.getByText('GET /v1/pets?cursor=5&limit=20', { exact: true }).waitFor()
    const listed = await run(page, drawer, key)
    expect(listed).toEqual(await store.pets.list({ cursor: 5n, limit: 20 }))
    expect(listed).toHaveLength(20)
    expect(await response(page, drawer)).toEqual(listed)
    await inspect(page, 'request-response')

    await page.keyboard.press('Escape')
    await page.goto(`${url}/?status=sold`)
    await showing(page, '1–1 of 1')
    await openRequest(page)
    await drawer.getByText('GET /v1/pets?status=sold&limit=20', { exact: true }).waitFor()
    expect(await run(page, drawer, key)).toMatchObject([{ id: 7n, categoryId: category }])
  })

  test('shows a pet as two requests, and keeps the panel', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const pet = await store.pets.create({ name: String(awkwardNames[4]), categoryId: category, status: 'sold' })
    const page = await visit(`${url}/?pet=1`, { key, permissions })
    const beside = panel(page)
    await beside.getByRole('definition').getByText(String(category)).waitFor()
    const drawer = await openRequest(beside)
    await drawer.getByText('GET /v1/pets?cursor=0&limit=1', { exact: true }).waitFor()
    expect(await response(page, drawer)).toEqual([pet])
    expect(await run(page, drawer, key)).toEqual([pet])
    await drawer.getByLabel('Call').selectOption('By id (deprecated)')
    await drawer.getByText('GET /v1/pets/1', { exact: true }).waitFor()
    expect(await run(page, drawer, key)).toEqual(pet)
    expect(await response(page, drawer)).toEqual(pet)
    await inspect(page, 'request-pet')

    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    await expect.poll(() => isFocused(beside.getByRole('button', { name: 'Request', exact: true }))).toBe(true)
    await page.keyboard.press('Escape')
    await beside.waitFor({ state: 'hidden' })

    await page.goto(`${url}/?pet=999`)
    await page.getByRole('heading', { name: 'No pet has the id 999' }).waitFor()
    await openRequest(panel(page))
    await drawer.getByLabel('Call').selectOption('By id (deprecated)')
    expect(await response(page, drawer)).toEqual(await run(page, drawer, key))
  })

  test('shows the form as the request that it sends: both together add one pet', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url, { key, permissions })
    const form = panel(page, 'Add pet')
    const name = String(awkwardNames[0])
    await enterPet(page, name, String(category))
    const drawer = await openRequest(form)
    await drawer.getByText('POST /v1/pets', { exact: true }).waitFor()
    await drawer.getByRole('tab', { name: 'Response' }).click()
    await drawer.getByText('There is no response yet.').waitFor()
    expect(await run(page, drawer, key)).toMatchObject({ id: 1n, name, categoryId: category, status: 'available' })
    await inspect(page, 'request-form')
    await page.keyboard.press('Escape')
    await submitButton(page).click()
    await form.waitFor({ state: 'hidden' })
    expect(await store.pets.list({ cursor: 0n, limit: 9 })).toHaveLength(1)

    // The next form adds another pet, even if it is an equal one. It keeps its entries while it is closed.
    await enterPet(page, name, String(category))
    await openRequest(form)
    await run(page, drawer, key)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'hidden' })
    await addButton(page).click()
    await submitButton(page).click()
    await form.waitFor({ state: 'hidden' })
    expect(await store.pets.list({ cursor: 0n, limit: 9 })).toHaveLength(2)

    await enterPet(page, ' ', 'seven')
    await submitButton(page).click()
    await form.getByText('The category is not an integer.').waitFor()
    await openRequest(form)
    expect(await response(page, drawer)).toEqual(await run(page, drawer, key))
    await page.keyboard.press('Escape')
    await form.getByRole('textbox', { name: 'Name' }).fill('Rex')
    await openRequest(form)
    await drawer.getByRole('tab', { name: 'Response' }).click()
    await drawer.getByText('There is no response yet.').waitFor()
  })

  test('contains the API key only while it is shown, and copies exactly what it shows', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key, permissions })
    const drawer = await openRequest(page)
    await drawer.getByText(`${key.slice(0, 10)}…`).waitFor()
    const hidden = ['$PETSTORE_API_KEY', 'process.env.PETSTORE_API_KEY', 'process.env.PETSTORE_API_KEY']
    expect(await page.content()).not.toContain(key.slice(10))
    expect(await copiedKeys(page, drawer)).toEqual(hidden)
    expect(await page.content()).not.toContain(key.slice(10))

    await drawer.getByRole('button', { name: 'Show the API key' }).click()
    await drawer.getByText(key, { exact: true }).waitFor()
    expect(await copiedKeys(page, drawer)).toEqual([key, key, key])
    await inspect(page, 'request-key')
    await drawer.getByRole('button', { name: 'Hide the API key' }).click()
    expect(await copiedKeys(page, drawer)).toEqual(hidden)

    await drawer.getByRole('button', { name: 'Show the API key' }).click()
    await page.keyboard.press('Escape')
    await openRequest(page)
    expect(await page.content()).not.toContain(key.slice(10))
  })

  test('selects the text if the browser refuses to copy it', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    // Pages that are served by plain HTTP have no clipboard.
    await page.evaluate(() => Reflect.deleteProperty(Navigator.prototype, 'clipboard'))
    const drawer = await openRequest(page)
    await drawer.getByRole('button', { name: 'Copy the command' }).click()
    await drawer.getByRole('status').getByText('Selected: press Ctrl+C').waitFor()
    expect(await page.evaluate(() => String(getSelection()))).toBe(await drawer.locator('code').last().textContent())
  })

  test('works with the keyboard alone, and the page behind it stays where it is', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 45)
    const page = await visit(url, { key, permissions })
    await showing(page, '1–20 of 45')
    const table = page.getByRole('table')
    const expected = await table.boundingBox()
    // A hovered row has such a button, too.
    const opener = page.locator('.tools').getByRole('button', { name: 'Request', exact: true })
    await opener.focus()
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog', { name: 'Request' })
    const tab = (name: string) => drawer.getByRole('tab', { name })
    await expect.poll(() => isFocused(tab('curl'))).toBe(true)
    for (const name of ['Typed client', 'Generated client', 'Response']) {
      await page.keyboard.press('ArrowRight')
      expect(await isFocused(tab(name))).toBe(true)
      await drawer.getByRole('tabpanel', { name }).waitFor()
    }
    await page.mouse.move(100, 400)
    await page.mouse.wheel(0, 500)
    // The focus stays in the drawer.
    for (let presses = 0; presses < 12; presses++) {
      await page.keyboard.press('Tab')
      expect(await drawer.evaluate((element) => element.contains(document.activeElement))).toBe(true)
    }
    expect(await page.evaluate(() => scrollY)).toBe(0)
    expect(await table.boundingBox()).toEqual(expected)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    await expect.poll(() => isFocused(opener)).toBe(true)

    await opener.click()
    await drawer.waitFor()
    await page.mouse.click(10, 300)
    await drawer.waitFor({ state: 'hidden' })
  })

  test('fits each width, and is readable in dark and in forced colors', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await store.pets.create({ name: 'W'.repeat(255), categoryId: -category, status: 'sold' })
    for (const [name, options] of Object.entries({
      phone: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
      'tablet-dark': { viewport: { width: 768, height: 1024 }, colorScheme: 'dark' },
      'forced-colors': { viewport: { width: 1440, height: 900 }, forcedColors: 'active', reducedMotion: 'reduce' },
      wide: { viewport: { width: 1920, height: 1080 } },
    } as const)) {
      const page = await visit(url, { key, ...options })
      await showing(page, '1–1 of 1')
      const drawer = await openRequest(page)
      for (const tab of await drawer.getByRole('tab').all()) {
        await tab.click()
        expect(await overflow(page), await tab.innerText()).toBe(0)
        await inspect(page, `request-${name}-${(await tab.innerText()).toLowerCase().replace(' ', '-')}`)
      }
      expect((await drawer.boundingBox())?.width).toBeLessThanOrEqual(options.viewport.width)
    }
  })

  test('is not part of the first load, and says so if it cannot be loaded', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    await page.getByRole('heading', { name: 'No pets yet' }).waitFor()
    const earlyFiles = await page.evaluate(() => {
      const files = performance.getEntriesByType('resource').map(({ name }) => name)
      return files.slice(
        0,
        files.findIndex((name) => name.includes('/trpc/pets.list')),
      )
    })
    expect(earlyFiles).not.toEqual([])
    expect(earlyFiles.filter((file) => file.includes('request'))).toEqual([])
    await page.route('**/assets/request-drawer*.js', (route) => route.abort())
    await page.reload()
    await page.getByRole('button', { name: 'Request', exact: true }).click()
    await page.getByRole('alert').getByText('Reload the page.').waitFor()
    await inspect(page, 'request-not-loaded')
    await page.unroute('**/assets/request-drawer*.js')
    await page.getByRole('button', { name: 'Reload' }).click()
    await openRequest(page)
  })
})

async function openRequest(place: Page | Locator): Promise<Locator> {
  await place.getByRole('button', { name: 'Request', exact: true }).click()
  const page = 'page' in place ? place.page() : place
  const drawer = page.getByRole('dialog', { name: 'Request' })
  await drawer.waitFor()
  return drawer
}

/** Runs the command that the drawer copies. */
async function run(page: Page, drawer: Locator, key: string): Promise<unknown> {
  await drawer.getByRole('tab', { name: 'curl' }).click()
  return parseExactly(await runCurl(await copy(page, drawer), { PETSTORE_API_KEY: key }))
}

async function response(page: Page, drawer: Locator): Promise<unknown> {
  await drawer.getByRole('tab', { name: 'Response' }).click()
  return parseExactly(await copy(page, drawer))
}

/** The text that the last button of a tab copies, which must be what the tab shows. */
async function copy(page: Page, drawer: Locator): Promise<string> {
  const tab = drawer.getByRole('tabpanel')
  await page.evaluate(() => navigator.clipboard.writeText(''))
  await tab.getByRole('button', { name: 'Copy the' }).last().click()
  await tab.getByRole('status').getByText('Copied').waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toBe(await tab.locator('code').last().textContent())
  return copied
}

/** Where each text that makes a call has the API key from: the variable, or the key itself. */
async function copiedKeys(page: Page, drawer: Locator): Promise<string[]> {
  const found: string[] = []
  for (const name of ['curl', 'Typed client', 'Generated client']) {
    await drawer.getByRole('tab', { name }).click()
    const text = await copy(page, drawer)
    found.push(/(?:[$]|process\.env\.)PETSTORE_API_KEY|pet_\w{38}/.exec(text)?.[0] ?? '')
  }
  return found
}

/** The number of pixels by which the page or the drawer is too wide. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const boxes = [document.documentElement, ...document.querySelectorAll('[role=dialog], [role=tablist], pre')]
    return Math.max(...boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
  })
}
