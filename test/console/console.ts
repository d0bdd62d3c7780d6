import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { FastifyInstance } from 'fastify'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect, test as plainTest } from 'vitest'
import { freePort } from '../../engine/test/support/free-port.ts'
import type { AtEnd } from '../../engine/test/support/temporary.ts'
import { consoleFolder } from '../support/built-console.ts'
import { startTestApi, type TestApi } from '../support/petstore.ts'
import { openBrowser } from './open-browser.ts'

/** Users stay signed in across releases. */
export const storageKey = 'petstore-api-key'
const screenshots = join(import.meta.dirname, 'screenshots')

interface VisitOptions extends BrowserContextOptions {
  /** Opens the console with this key stored in the tab. Without it, the console shows the sign-in form. */
  key?: string
  /** Whether the test may intercept requests. Intercepted responses are larger, and not cached. */
  isIntercepted?: boolean
}

/** Opens a page in a browser context of its own. Errors in the page, and requests to another origin, fail the test. */
export type Visit = (url: string, options?: VisitOptions) => Promise<Page>

export const test = plainTest.extend<{ browser: Browser; visit: Visit }>({
  browser: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the required fixtures from the pattern.
    async ({}, use) => {
      const cleanings: Parameters<AtEnd>[0][] = []
      await use(await openBrowser((clean) => cleanings.push(clean)))
      for (const clean of cleanings) await clean()
    },
    { scope: 'worker' },
  ],
  visit: async ({ browser }, use) => {
    const problems: string[] = []
    const closings: (() => Promise<void>)[] = []
    await use(async (url, { key, isIntercepted = true, ...options } = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
      closings.push(() => context.close())
      context.setDefaultTimeout(20_000)
      const page = await context.newPage()
      // A page that begins to intercept requests while it works lets one of the next requests pass.
      if (isIntercepted) await page.route('**/never', (route) => route.continue())
      collectProblems(page, new URL(url).origin, problems)
      if (key !== undefined) await page.addInitScript(storeKey, [storageKey, key] as const)
      await page.goto(url)
      return page
    })
    for (const close of closings) await close()
    expect(problems).toEqual([])
  },
})

function collectProblems(page: Page, origin: string, problems: string[]): void {
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) problems.push(`request to another origin: ${request.url()}`)
  })
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    const isExpected = pathname.startsWith('/trpc/') || response.request().isNavigationRequest()
    if (response.status() >= 400 && !isExpected) problems.push(`${response.status()} of ${pathname}`)
  })
  page.on('pageerror', ({ message }) => void problems.push(message))
  page.on('console', (message) => {
    // The browser itself logs each failed request and each error status, and Scalar its version.
    if (message.type() !== 'info' && !message.text().startsWith('Failed to load resource:'))
      problems.push(message.text())
  })
}

function storeKey([name, key]: readonly [string, string]): void {
  sessionStorage.setItem(name, key)
}

export interface Console extends TestApi {
  url: string
}

export async function startConsole(options: Parameters<typeof startTestApi>[0] = {}): Promise<Console> {
  const api = await startTestApi({ ...options, consoleFolder })
  return { ...api, url: await listen(api.app) }
}

/** Listens on a port that no other test takes, so that a successor can listen on it after a restart. */
export async function listen(app: FastifyInstance, port?: number): Promise<string> {
  return app.listen({ host: '127.0.0.1', port: port ?? (await freePort()) })
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await account(page).waitFor()
}

/** The button that opens the account menu. Only a page that is signed in has it. */
export function account(page: Page): Locator {
  return page.getByRole('button', { name: 'Account' })
}

export async function signOut(page: Page): Promise<void> {
  await account(page).click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
}

/** Saves a screenshot of the page, and fails if axe-core reports violations of the accessibility rules. */
export async function inspect(page: Page, name: string): Promise<void> {
  await waitForAnimations(page)
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: join(screenshots, `${name}.png`) })
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    // The script above defines this global, and its declarations are the same as those of the import.
    const { run } = Reflect.get(window, 'axe') as typeof axe
    const { violations } = await run({ resultTypes: ['violations'] })
    return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
  })
  expect(found).toEqual([])
  // Screen readers say an alert as one text.
  expect(await page.locator('[role=alert] :is(a, button, input, select)').count()).toBe(0)
}

/** Sums up the layout shifts of a page that no input caused, in `window.moved`. */
export function measureShifts(): void {
  Object.assign(window, { moved: 0 })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // Safe: an entry of type layout-shift has these fields (Layout Instability API); TypeScript does not declare them.
      const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean }
      if (!hadRecentInput) Object.assign(window, { moved: Reflect.get(window, 'moved') + value })
    }
  }).observe({ type: 'layout-shift', buffered: true })
}

/** Waits until nothing fades in any more. axe-core cannot judge the contrast before that. */
async function waitForAnimations(page: Page): Promise<void> {
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
        .map(({ finished }) => finished),
    ),
  )
}

/** Filters the list by status, such as `Sold`. */
export function choose(page: Page, status: string): Promise<void> {
  return page.getByRole('radio', { name: new RegExp(`^${status}\\b`) }).check()
}

/** Holds back requests to the service until the function that it returns is called. */
export async function holdRequests(page: Page, url: Parameters<Page['route']>[0] = '**/trpc/**'): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

/** Opens the form for a new pet and fills it in. */
export async function enterPet(page: Page, name: string, category: string): Promise<void> {
  await addButton(page).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('textbox', { name: 'Category' }).fill(category)
}

/** The button that opens the form for a new pet. */
export function addButton(page: Page): Locator {
  return page.locator('.tools').getByRole('button', { name: 'Add pet' })
}

/** The button that submits the form for a new pet. */
export function submitButton(page: Page): Locator {
  return page.locator('form').getByRole('button', { name: /^(Add pet|Try again)$/ })
}

/** Opens the sheet that adds many pets. */
export async function openBulkAdd(page: Page): Promise<Locator> {
  await page.locator('.tools').getByRole('button', { name: 'Add many' }).click()
  const sheet = page.getByRole('dialog', { name: 'Add many pets' })
  await sheet.waitFor()
  return sheet
}

/** Replaces the text by the clipboard. Playwright's `fill` takes a minute for 10,000 lines. */
export async function pasteRows(sheet: Locator, text: string): Promise<void> {
  const page = sheet.page()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate((copied) => navigator.clipboard.writeText(copied), text)
  await sheet.getByRole('textbox', { name: 'Paste CSV, TSV or JSON' }).selectText()
  await page.keyboard.press('Control+V')
}

/** The panel beside the list: a pet, or the form for a new one. */
export function panel(page: Page, name?: string): Locator {
  return page.getByRole('complementary', name === undefined ? {} : { name, exact: true })
}

/** Waits until the panels are loaded. They are loaded one after the other, and this is the last one. */
export function panelsLoaded(page: Page): Promise<void> {
  return received(page, '/export-sheet-')
}

/** As {@link panelsLoaded}, for a page whose clock the test sets: it reports no resources. Called before the sign-in. */
export async function panelsWillLoad(page: Page): Promise<void> {
  await page.waitForEvent('requestfinished', (request) => /\/export-sheet-.*\.js$/.test(request.url()))
}

/**
 * Waits until the page has received a response from a URL that contains this text, also if that was before. Playwright's
 * `finished` never resolves for a request that the browser reports as aborted after its response.
 */
export async function received(page: Page, text: string): Promise<void> {
  await page.waitForFunction(
    (part) => performance.getEntriesByType('resource').some(({ name }) => name.includes(part)),
    text,
  )
}

/** The line above the list that says what was just added. */
export function justAdded(page: Page): Locator {
  return page.getByRole('region', { name: 'Just added' })
}

export function searchField(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Search pets' })
}

/** A button of the pager. */
export function pageButton(page: Page, name: string): Locator {
  return page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('button', { name })
}

/** The names of the pets in the list. */
export function names(page: Page): Promise<string[]> {
  return page.locator('.item-list tbody a').allTextContents()
}

/** Waits until the status line shows this text. */
export function showing(page: Page, text: string): Promise<void> {
  return page.getByRole('status').getByText(text, { exact: true }).waitFor()
}

/** Waits until the filter shows this status and count, such as `All 3`. */
export function counting(page: Page, name: string): Promise<void> {
  return page.getByRole('radio', { name, exact: true }).waitFor({ state: 'attached' })
}

export function isFocused(field: Locator): Promise<boolean> {
  return field.evaluate((element) => element === document.activeElement)
}

/** The accessible description of a field: the text that a screen reader reads after its name. */
export function describes(page: Page, label: string): Promise<string> {
  return page.getByRole('textbox', { name: label }).evaluate((input) =>
    (input.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent ?? '')
      .join(' '),
  )
}

/** Lets the API reference use the key of the console. */
export function takeKeyOfConsole(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Use the key of the console' }).click()
}

/** Opens the form of the API reference for an operation and enters the API key, if there is one. The returned function sends the form. */
export async function openRequest(page: Page, operation: string, key?: string) {
  await page.getByRole('button', { name: `Test Request (${operation})` }).click()
  const form = page.getByRole('dialog')
  if (key !== undefined) await form.getByPlaceholder('Token').fill(key)
  return async () => {
    const [response] = await Promise.all([
      page.waitForResponse((each) => each.url().includes('/v1/')),
      form
        .getByRole('button', { name: /^Send / })
        .first()
        .click(),
    ])
    // Another request while Scalar reads the response would cancel it.
    const text = await response.text()
    await form
      .getByText(text.match(/"\w+"/)?.[0] ?? text)
      .first()
      .waitFor()
    return { status: response.status(), url: response.url() }
  }
}
