import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { FastifyInstance } from 'fastify'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect, test as plainTest } from 'vitest'
import { openBrowser } from '../support/browser.ts'
import { startTestApi, type TestApi } from '../support/helpers.ts'
import type { AtEnd } from '../support/temporary.ts'

export const consoleFolder = join(import.meta.dirname, '../../web/dist')
const screenshots = join(import.meta.dirname, 'screenshots')

/** Opens the page of a service. Whatever a browser would complain of fails the test. */
type Visit = (url: string, options?: BrowserContextOptions) => Promise<Page>

export const test = plainTest.extend<{ browser: Browser; visit: Visit }>({
  browser: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads from it which other fixtures are wanted.
    async ({}, use) => {
      const cleanings: Parameters<AtEnd>[0][] = []
      await use(await openBrowser((clean) => cleanings.push(clean)))
      for (const clean of cleanings) await clean()
    },
    { scope: 'file' },
  ],
  visit: async ({ browser }, use) => {
    const problems: string[] = []
    const closings: (() => Promise<void>)[] = []
    await use(async (url, options) => {
      const context = await browser.newContext({ viewport: { width: 1000, height: 700 }, ...options })
      closings.push(() => context.close())
      context.setDefaultTimeout(10_000)
      const page = await context.newPage()
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== new URL(url).origin) problems.push(`left the origin: ${request.url()}`)
      })
      page.on('response', (response) => {
        const { pathname } = new URL(response.url())
        if (response.status() >= 400 && !pathname.startsWith('/trpc/'))
          problems.push(`${response.status()} of ${pathname}`)
      })
      page.on('pageerror', ({ message }) => void problems.push(message))
      page.on('console', (message) => {
        // The browser itself tells of each answer that is no success, and of each that did not come.
        if (!message.text().startsWith('Failed to load resource:')) problems.push(message.text())
      })
      await page.goto(url)
      return page
    })
    for (const close of closings) await close()
    expect(problems).toEqual([])
  },
})

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

/** Looks at a state as people with and without eyes do: takes a picture, and asks axe what keeps anybody from using it. */
export async function inspect(page: Page, name: string): Promise<void> {
  // What is still fading in cannot be judged.
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
        .map(({ finished }) => finished),
    ),
  )
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: join(screenshots, `${name}.png`) })
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
}

/** Chooses a status to see the pets of. */
export function choose(page: Page, status: string): Promise<void> {
  return page.getByRole('radiogroup', { name: 'Which pets' }).getByText(status, { exact: true }).click()
}

/** Lets the service's answers through only once this has been called. */
export async function holdAnswers(page: Page, url = '**/trpc/**'): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

/** Opens the form for a new pet, and fills it in. */
export async function enterPet(page: Page, name: string, category: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a pet' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('textbox', { name: 'Category' }).fill(category)
}

/** A button above the list that turns to another page of it. */
export function pageButton(page: Page, name: string): Locator {
  return page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('button', { name })
}

export function names(page: Page): Promise<string[]> {
  return page.locator('tbody a').allTextContents()
}

export const showing = (page: Page, text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()

/** What a screen reader adds to the name of a field. */
export function describes(page: Page, label: string): Promise<string> {
  return page.getByRole('textbox', { name: label }).evaluate((input) =>
    (input.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent ?? '')
      .join(' '),
  )
}
