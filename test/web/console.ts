import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { FastifyInstance } from 'fastify'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect, test as plainTest } from 'vitest'
import { storageKey } from '../../web/session.ts'
import { openBrowser } from '../support/browser.ts'
import type { AtEnd } from '../support/temporary.ts'
import { startTestApi, type TestApi } from '../support/test-api.ts'

export const consoleFolder = join(import.meta.dirname, '../../web/dist')
const screenshots = join(import.meta.dirname, 'screenshots')

interface VisitOptions extends BrowserContextOptions {
  /** Opens the console with this key stored in the tab. Without it, the console shows the sign-in form. */
  key?: string
}

/** Opens a page in a browser context of its own. Errors in the page, and requests to another origin, fail the test. */
type Visit = (url: string, options?: VisitOptions) => Promise<Page>

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
    await use(async (url, { key, ...options } = {}) => {
      const context = await browser.newContext({ viewport: { width: 1000, height: 700 }, ...options })
      closings.push(() => context.close())
      context.setDefaultTimeout(10_000)
      const page = await context.newPage()
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
    if (response.status() >= 400 && !pathname.startsWith('/trpc/')) problems.push(`${response.status()} of ${pathname}`)
  })
  page.on('pageerror', ({ message }) => void problems.push(message))
  page.on('console', (message) => {
    // The browser itself logs each failed request and each error status.
    if (!message.text().startsWith('Failed to load resource:')) problems.push(message.text())
  })
}

function storeKey([name, key]: readonly [string, string]): void {
  sessionStorage.setItem(name, key)
}

interface Console extends TestApi {
  url: string
}

export async function startConsole(options: Parameters<typeof startTestApi>[0] = {}): Promise<Console> {
  const api = await startTestApi({ ...options, consoleFolder })
  return { ...api, url: await listen(api.app) }
}

export async function listen(app: FastifyInstance, port = 0): Promise<string> {
  return app.listen({ host: '127.0.0.1', port })
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
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

/** Filters the list by status. */
export function choose(page: Page, status: string): Promise<void> {
  return page.getByRole('radiogroup', { name: 'Which pets' }).getByText(status, { exact: true }).click()
}

/** Holds back requests to the service until the function that it returns is called. */
export async function holdRequests(page: Page, url = '**/trpc/**'): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

/** Opens the form for a new pet and fills it in. */
export async function enterPet(page: Page, name: string, category: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a pet' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('textbox', { name: 'Category' }).fill(category)
}

/** A button of the pager above the list. */
export function pageButton(page: Page, name: string): Locator {
  return page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('button', { name })
}

/** The names of the pets in the list. */
export function names(page: Page): Promise<string[]> {
  return page.locator('tbody a').allTextContents()
}

/** Waits until the status line shows this text. */
export function showing(page: Page, text: string): Promise<void> {
  return page.getByRole('status').getByText(text, { exact: true }).waitFor()
}

/** Waits until the filter shows this status and count, such as `all 3`. */
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
