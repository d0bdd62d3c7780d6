import type { FastifyInstance } from 'fastify'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, test as plainTest } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import type { AtEnd } from '../../../test/support/temporary.ts'
import { openBrowser } from './open-browser.ts'
import { panelsLoaded } from './panels.ts'
import { signIn } from './session.ts'

// For the tests of a product, outside of the folder with this package.
export type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Locator, Page, Route } from 'playwright-core'

interface VisitOptions extends BrowserContextOptions {
  /** Opens the console with this key stored in the tab. Without it, the console shows the sign-in form. */
  key?: string
  /** Whether the test may intercept requests. Intercepted responses are larger, and not cached. */
  isIntercepted?: boolean
  /** Whether the page accepts compressed files. Each service compresses its files anew, which takes it most of a second. */
  isCompressed?: boolean
}

interface OpenOptions extends VisitOptions {
  /** Whether to wait until the list is shown, and all panels are loaded. */
  isLoaded?: boolean
  /** Whether the tab has the key, by default, or is signed in with the form, or is not signed in. */
  session?: 'tab' | 'form' | 'none'
  /** The path below the URL of the service, with its query. */
  path?: string
}

/** Opens a page in a browser context of its own. Errors in the page, and requests to another origin, fail the test. */
export type Visit = (url: string, options?: VisitOptions) => Promise<Page>

const browserTest = plainTest.extend<{ browser: Browser }>({
  browser: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the required fixtures from the pattern.
    async ({}, use) => {
      const cleanings: Parameters<AtEnd>[0][] = []
      await use(await openBrowser((clean) => cleanings.push(clean)))
      for (const clean of cleanings) await clean()
    },
    { scope: 'worker' },
  ],
})

/** Tests that visit a console. It stores the API key under the name `storageKey`. */
export function consoleTest(storageKey: string) {
  return browserTest.extend<{ visit: Visit }>({
    visit: async ({ browser }, use) => {
      const problems: string[] = []
      const closings: (() => Promise<void>)[] = []
      await use(async (url, { key, isIntercepted = true, isCompressed = false, ...options } = {}) => {
        const context = await browser.newContext({
          viewport: { width: 1280, height: 800 },
          ...(!isCompressed && { extraHTTPHeaders: { 'accept-encoding': 'identity' } }),
          ...options,
        })
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
}

type Rows<Row> = number | (number | Row)[]

/** Starts a service with so many rows, or with these in their order. `show` visits its console with a key. */
export type Start<Service, Row, Options> = (
  rows?: Rows<Row>,
  options?: Options,
) => Promise<Service & { show: (options?: OpenOptions) => Promise<Page> }>

/** Starts a service with these rows, and visits its console with a key. */
export type Open<Service, Row> = (rows?: Rows<Row>, options?: OpenOptions) => Promise<Service & { page: Page }>

export function starter<Service extends { url: string; key: string; store: Store }, Store, Row, Options>(
  startService: (options?: Options) => Promise<Service>,
  add: { many: (store: Store, count: number) => Promise<void>; one: (store: Store, row: Row) => Promise<unknown> },
  visit: Visit,
): Start<Service, Row, Options> {
  return async (rows = 0, serviceOptions) => {
    const service = await startService(serviceOptions)
    for (const each of [rows].flat()) {
      if (typeof each === 'number') await add.many(service.store, each)
      else await add.one(service.store, each)
    }
    async function show({ path = '', isLoaded = false, session = 'tab', ...options }: OpenOptions = {}) {
      const page = await visit(service.url + path, { ...(session === 'tab' && { key: service.key }), ...options })
      if (session === 'form') await signIn(page, service.key)
      if (isLoaded) await panelsLoaded(page)
      return page
    }
    return { ...service, show }
  }
}

export function opener<Service, Row, Options>(start: Start<Service, Row, Options>): Open<Service, Row> {
  return async (rows, options) => {
    const service = await start(rows)
    return { ...service, page: await service.show(options) }
  }
}

function collectProblems(page: Page, origin: string, problems: string[]): void {
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) problems.push(`request to another origin: ${request.url()}`)
  })
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    const isExpected = /^\/(trpc|v1)\//.test(pathname) || response.request().isNavigationRequest()
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

/** Listens on a port that no other test takes, so that a successor can listen on it after a restart. */
export async function listen(app: FastifyInstance, port?: number): Promise<string> {
  return app.listen({ host: '127.0.0.1', port: port ?? (await freePort()) })
}
