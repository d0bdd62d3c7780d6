import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { runCurl } from '../../support/curl.ts'
import { addPets } from '../../support/database.ts'
import {
  account,
  counting,
  enterPet,
  inspect,
  isFocused,
  panel,
  showing,
  signIn,
  signOut,
  startConsole,
  submitButton,
  test,
} from '../console.ts'

const permissions = ['clipboard-read', 'clipboard-write']

describe('the request log', () => {
  test('lists the procedures of each request, without the API key', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 3)
    const page = await visit(`${url}/?pet=2`, { key })
    await showing(page, '1–3 of 3')
    const log = await openLog(page)
    const list = log.getByRole('button', { name: /GET pets\.list, pets\.get 200 \d+ ms$/ })
    await list.click()
    await log.getByText('Request id').waitFor()
    await log.getByText('Input of pets.get').waitFor()
    await log.getByText('"petId": 2', { exact: false }).waitFor()
    expect(await log.evaluate((element) => element.outerHTML)).not.toContain(key.slice(10))
    await inspect(page, 'log')
    await page.keyboard.press('Escape')
    await log.waitFor({ state: 'hidden' })
    await panel(page, 'pet 2').waitFor()
  })

  test('begins with the newest request, and has one line for equal queries', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 85)
    const page = await visit(url, { key })
    await counting(page, 'All 85')
    for (let refreshes = 0; refreshes < 2; refreshes++) {
      const counts = page.waitForResponse(/pets\.counts/)
      await page.getByRole('button', { name: 'Refresh' }).click()
      await counts
    }
    for (const range of ['21–40', '41–60', '61–80']) {
      await page.keyboard.press(']')
      await showing(page, `${range} of 85`)
    }
    await page.waitForLoadState('networkidle')
    const log = await openLog(page)
    await log.getByRole('button', { name: /GET pets\.counts 3 times 200/ }).waitFor()
    const lines = log.locator('.log-line')
    expect(await lines.count()).toBeGreaterThan(4)
    const times = await lines
      .locator('time')
      .evaluateAll((all) => all.map((time) => String(time.getAttribute('datetime'))))
    expect(times).toEqual(times.toSorted().reverse())
    await lines.first().click()
    await log.getByText('"cursor": 80').waitFor()
  })

  test('is in the account menu, where the header has no room for its button', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key, viewport: { width: 360, height: 740 } })
    await showing(page, 'No pets')
    await account(page).click()
    const menu = page.getByRole('dialog', { name: 'Account' })
    await menu.getByRole('button', { name: 'Requests of this tab' }).click()
    const log = page.getByRole('dialog', { name: 'Requests of this tab' })
    await log.getByRole('button', { name: 'GET pets.list' }).click()
    await menu.waitFor({ state: 'hidden' })
    await closeLog(log)
    await expect.poll(() => isFocused(account(page))).toBe(true)
  })

  test('a command repeats a request, and repeating a create adds no second pet', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url, { key, permissions })
    await enterPet(page, "O'Hara", '9007199254740993')
    await submitButton(page).click()
    await panel(page, 'Add pet').waitFor({ state: 'hidden' })
    const log = await openLog(page)
    const creates = log.getByRole('button', { name: 'POST pets.create' })
    await creates.click()
    await log.getByRole('button', { name: 'Copy the command' }).click()
    const command = await page.evaluate(() => navigator.clipboard.readText())
    expect(command).toBe(await log.locator('code', { hasText: 'curl' }).textContent())
    const response = await runCurl(command, { PETSTORE_API_KEY: key })
    expect(JSON.parse(response)).toMatchObject({ result: { data: { json: { name: "O'Hara" } } } })
    await log.getByRole('button', { name: 'Repeat' }).press('Enter')
    await expect.poll(() => creates.count()).toBe(2)
    expect(await creates.first().getAttribute('aria-expanded')).toBe('true')
    await log.getByText('Request id').waitFor()
    expect(await store.pets.list({ limit: 9, cursor: 0n })).toHaveLength(1)

    await log.getByRole('button', { name: 'GET pets.list' }).first().click()
    const query = await log.locator('code', { hasText: 'curl' }).textContent()
    expect(JSON.parse(await runCurl(String(query), { PETSTORE_API_KEY: key }))).toMatchObject([{ result: {} }])
  })

  test('a failure shows its request, and its retries are counted', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    await showing(page, 'No pets')
    await openLog(page).then(closeLog)
    await page.route('**/trpc/pets.create', (route) => route.abort())
    await enterPet(page, 'Rex', '7')
    await submitButton(page).click()
    const alert = page.getByRole('alert').filter({ hasText: 'The pet may not have been added' })
    await alert.getByRole('button', { name: 'Show the request' }).click()
    const log = page.getByRole('dialog', { name: 'Requests of this tab' })
    const entry = log.getByRole('button', { name: /POST pets\.create Attempt 2 No response/ })
    expect(await entry.getAttribute('aria-expanded')).toBe('true')
    await inspect(page, 'log-unanswered')
    await closeLog(log)
    await page.unroute('**/trpc/pets.create')

    await page.getByRole('textbox', { name: 'Category' }).fill('seven')
    await submitButton(page).click()
    await page.getByText('The category is not an integer.').waitFor()
    await openLog(page)
    await log.getByRole('button', { name: /POST pets\.create 400/ }).click()
    await log.getByText('"message":').first().waitFor()
    await inspect(page, 'log-response')
  })

  test('a row that the service rejects shows its request', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    await showing(page, 'No pets')
    await page.route('**/trpc/pets.create', (route) =>
      route.continue({ postData: route.request().postData()?.replace('"Rex"', '""') ?? '' }),
    )
    await page.getByRole('button', { name: 'Add many' }).first().click()
    const sheet = page.getByRole('dialog', { name: 'Add many pets' })
    await sheet.getByRole('textbox').fill('Rex,7')
    await sheet.getByRole('button', { name: 'Add 1 pet' }).click()
    await sheet.getByRole('row').getByRole('button', { name: 'Show the request' }).click()
    const log = page.getByRole('dialog', { name: 'Requests of this tab' })
    await log.getByRole('button', { name: /POST pets\.create 400/, expanded: true }).waitFor()
    await closeLog(log)
    await sheet.waitFor()
  })

  test('is available before sign-in, and is empty for the next user', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url)
    await page.getByLabel('API key').fill('pet_wrong')
    await page.keyboard.press('Enter')
    await page.getByText('This key is not valid.').waitFor()
    const log = await openLog(page)
    await log.getByRole('button', { name: /GET session\.current 401/ }).click()
    await log.getByText('Command').waitFor()
    expect(await log.getByRole('button', { name: 'Repeat' }).count()).toBe(0)
    await inspect(page, 'log-sign-in')
    await closeLog(log)
    await signIn(page, key)
    await showing(page, 'No pets')
    await openLog(page)
    expect(await log.getByRole('button', { name: /401/ }).count()).toBe(0)
    await closeLog(log)
    await signOut(page)
    await openLog(page)
    await log.getByText('This tab has sent no request yet.').waitFor()
  })

  test('opens while the service is away, within 100 ms, and fits each width', async ({ visit }) => {
    const { url, key, app, store } = await startConsole()
    await addPets(store, 3)
    for (const [name, options] of Object.entries({
      phone: { viewport: { width: 640, height: 640 }, colorScheme: 'dark' },
      'forced-colors': { viewport: { width: 1440, height: 900 }, forcedColors: 'active' },
    } as const)) {
      const page = await visit(url, { key, ...options })
      await showing(page, '1–3 of 3')
      const log = await openLog(page)
      await log.getByRole('button', { name: 'GET pets.list' }).first().click()
      if (name === 'phone') await page.setViewportSize({ width: 320, height: 640 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
      await inspect(page, `log-${name}`)
    }
    const page = await visit(url, { key })
    await page.waitForResponse(/request-log.*js/)
    await page.waitForLoadState('networkidle')
    await app.close()
    const milliseconds = await page.getByRole('button', { name: 'Requests of this tab' }).evaluate(async (button) => {
      const start = performance.now()
      // Safe: it is a button.
      ;(button as HTMLButtonElement).click()
      while (!document.querySelector('.log')) await new Promise(requestAnimationFrame)
      return performance.now() - start
    })
    // The target is 100 ms. A busy machine takes longer.
    expect(milliseconds).toBeLessThan(1_000)
  })
})

async function openLog(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Requests of this tab' }).click()
  const log = page.getByRole('dialog', { name: 'Requests of this tab' })
  await log.waitFor()
  return log
}

async function closeLog(log: Locator): Promise<void> {
  await log.page().keyboard.press('Escape')
  await log.waitFor({ state: 'hidden' })
}
