import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openBrowser } from '../../../engine/console/test/browser/open-browser.ts'
import { inspect, measureShifts } from '../../../engine/console/test/browser/page.ts'
import { openRequest, takeKeyOfConsole } from '../../../engine/console/test/browser/reference.ts'
import { signIn } from '../../../engine/console/test/browser/session.ts'
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Page,
} from '../../../engine/console/test/browser/visit.ts'
import type { AtEnd } from '../../../engine/test/support/temporary.ts'
import { consoleFolder } from '../../support/built-console.ts'
import { shareTestApi } from '../../support/petstore.ts'
import { storageKey } from '../console.ts'

describe('the API reference in a browser', () => {
  const api = shareTestApi({ consoleFolder })
  const requested: string[] = []
  const problems: string[] = []
  const cleanings: Parameters<AtEnd>[0][] = []
  let url: string
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    url = await api().app.listen({ host: '127.0.0.1', port: 0 })
    browser = await openBrowser((clean) => cleanings.push(clean))
    page = await openReference(await browser.newContext())
  })
  afterAll(async () => {
    for (const clean of cleanings) await clean()
  })

  async function openReference(context: BrowserContext): Promise<Page> {
    const opened = await context.newPage()
    opened.setDefaultTimeout(20_000)
    opened.on('request', (request) => void requested.push(request.url()))
    opened.on('pageerror', (error) => void problems.push(error.message))
    opened.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    await opened.goto(`${url}/docs/`)
    return opened
  }

  async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await browser.newContext(options)
    onTestFinished(() => context.close())
    return context
  }

  test('shows every operation and sends no request to another origin', async () => {
    for (const summary of ['List all pets', 'Add a pet', 'Get a pet']) {
      await page.getByText(summary).first().waitFor()
    }
    expect(requested).toContain(`${url}/openapi.json`)
    expect(requested.filter((each) => !each.startsWith(`${url}/`) && !/^(data|blob):/.test(each))).toEqual([])
    expect(problems).toEqual([])
  })

  test('prepares a list request for pets of every status', async () => {
    const send = await openRequest(page, 'get /pets', api().key)
    const response = await send()
    expect([response.status, new URL(response.url).searchParams.toString()]).toEqual([200, 'limit=20'])
    expect(problems).toEqual([])
    await page.keyboard.press('Escape')
  })

  test('prepares a create request that adds a pet each time', async () => {
    const send = await openRequest(page, 'post /pets', api().key)
    expect([(await send()).status, (await send()).status]).toEqual([201, 201])
    expect((await api().rest.get('/v1/pets')).body).toHaveLength(2)
    expect(problems).toEqual([])
  })

  test('uses the key of the console in this tab, and no longer the one that was entered, when it is asked to', async () => {
    const { key } = api()
    const context = await openContext()
    await context.addInitScript(([name, value]) => sessionStorage.setItem(name, value), [storageKey, key] as const)
    const tab = await openReference(context)
    const send = await openRequest(tab, 'get /pets', 'another')
    expect((await send()).status).toBe(401)
    await tab.keyboard.press('Escape')
    await takeKeyOfConsole(tab)
    await tab
      .getByRole('status')
      .getByText(`Requests use the key ${key.slice(0, 10)}…`)
      .waitFor()
    const sendWithKey = await openRequest(tab, 'get /pets')
    expect((await sendWithKey()).status).toBe(200)
  })

  test('uses the key of a console in another tab', async () => {
    const context = await openContext()
    const tab = await openReference(context)
    await tab.evaluate(() => {
      // The other tab has as much time as it needs.
      const wait = window.setTimeout
      Object.assign(window, { setTimeout: (run: () => void, ms = 0) => wait(run, ms === 500 ? 60_000 : ms) })
    })
    const other = await context.newPage()
    await other.goto(url)
    await signIn(other, api().key)
    await takeKeyOfConsole(tab)
    await tab.getByRole('status').getByText('Requests use the key').waitFor()
    const send = await openRequest(tab, 'get /pets')
    expect((await send()).status).toBe(200)
  })

  test.for([360, 1_440])('shows a text at once on a page of %i px, and then nothing moves', async (width) => {
    const context = await openContext({ viewport: { width, height: 740 } })
    await context.addInitScript(measureShifts)
    const { promise, resolve } = Promise.withResolvers<void>()
    await context.route('**/scalar.js', async (route) => {
      await promise
      await route.continue()
    })
    const opening = openReference(context)
    const [tab = await context.waitForEvent('page')] = context.pages()
    await tab.getByText('Loading the reference').waitFor()
    resolve()
    await (await opening).getByText('Loading the reference').waitFor({ state: 'detached' })
    await tab.getByText('Download OpenAPI Document').first().waitFor()
    expect(await tab.evaluate(() => Reflect.get(window, 'moved'))).toBeLessThan(0.01)
  })

  test('says that the script of the reference is missing', async () => {
    const context = await openContext()
    await context.route('**/scalar.js', (route) => route.abort())
    const tab = await openReference(context)
    await tab.getByText('The reference could not be loaded. Reload the page.').waitFor()
    // The browser itself logs each failed request.
    expect(problems.splice(0)).toContainEqual(expect.stringContaining('Failed to load resource'))
  })

  test('leads to the console', async () => {
    const tab = await openReference(await openContext())
    await tab.getByRole('link', { name: 'Pets', exact: true }).click()
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(tab.url()).toBe(`${url}/`)
  })

  test('links of Scalar lead to sections of the page', async () => {
    const hrefs = await page.locator('a[href^="#"]').evaluateAll((links) => links.map(({ baseURI }) => baseURI))
    expect(hrefs.length).toBeGreaterThan(2)
    for (const each of hrefs) expect(each).toMatch(`${url}/docs/`)
  })

  test.for([320, 768, 1_440])('fits a page of %i px, and axe-core reports no violations', async (width) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const tab = await openReference(await openContext({ colorScheme, viewport: { width, height: 740 } }))
      await takeKeyOfConsole(tab)
      await tab.getByRole('status').getByText('No tab').waitFor()
      await tab.getByText('Download OpenAPI Document').first().waitFor()
      expect(
        await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
      ).toBe(0)
      await inspect(tab, `reference-${width}-${colorScheme}`)
    }
  })
})
