import { expect } from 'vitest'
import { inspect, measureShifts } from '../../../engine/console/test/browser/page.ts'
import { openRequest, takeKeyOfConsole } from '../../../engine/console/test/browser/reference.ts'
import { signIn } from '../../../engine/console/test/browser/session.ts'
import { test } from '../console.ts'

const path = '/docs/'

test('the API reference prepares requests that list and add pets, and its links stay on its page', async ({ open }) => {
  const { url, key, rpc, page } = await open(0, { path, session: 'none', isIntercepted: false })
  for (const summary of ['List all pets', 'Add a pet', 'Get a pet']) await page.getByText(summary).first().waitFor()
  const list = await (await openRequest(page, 'get /pets', key))()
  expect(list).toEqual({ status: 200, url: `${url}/v1/pets?limit=20` })
  await page.keyboard.press('Escape')
  const send = await openRequest(page, 'post /pets', key)
  // Each adds a pet.
  expect([(await send()).status, (await send()).status]).toEqual([201, 201])
  expect(await rpc.pets.list.query()).toHaveLength(2)
  const bases = await page.locator('a[href^="#"]').evaluateAll((links) => links.map(({ baseURI }) => baseURI))
  expect(bases.length).toBeGreaterThan(2)
  for (const each of bases) expect(each).toMatch(url + path)
})

test('the key of the console in this tab replaces the one that was entered, when the user asks for it', async ({
  open,
}) => {
  const { key, page } = await open(0, { path, isIntercepted: false })
  const send = await openRequest(page, 'get /pets', 'another')
  expect((await send()).status).toBe(401)
  await page.keyboard.press('Escape')
  await takeKeyOfConsole(page)
  const text = `Requests use the key ${key.slice(0, 10)}…`
  await page.getByRole('status').getByText(text).waitFor()
  expect((await (await openRequest(page, 'get /pets'))()).status).toBe(200)
})

test('the reference uses the key of a console in another tab', async ({ open }) => {
  const { url, key, page } = await open(0, { path, session: 'none', isIntercepted: false })
  await page.evaluate(() => {
    // The other tab has as much time as it needs.
    const wait = window.setTimeout
    Object.assign(window, { setTimeout: (run: () => void, ms = 0) => wait(run, ms === 500 ? 60_000 : ms) })
  })
  const other = await page.context().newPage()
  await other.goto(url)
  await signIn(other, key)
  await takeKeyOfConsole(page)
  await page.getByRole('status').getByText('Requests use the key').waitFor()
  expect((await (await openRequest(page, 'get /pets'))()).status).toBe(200)
})

test.for([360, 1_440])(
  'the reference shows a text at once at %i px, and then nothing moves',
  async (width, { open }) => {
    const { url, page } = await open(0, { path: '/livez', viewport: { width, height: 740 } })
    await page.addInitScript(measureShifts)
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/scalar.js', async (route) => {
      await promise
      await route.continue()
    })
    const opening = page.goto(url + path)
    await page.getByText('Loading the reference').waitFor()
    resolve()
    await opening
    await page.getByText('Loading the reference').waitFor({ state: 'detached' })
    await page.getByText('Download OpenAPI Document').first().waitFor()
    expect(await page.evaluate(() => Reflect.get(window, 'moved'))).toBeLessThan(0.01)
  },
)

test('the reference says that its script is missing', async ({ open }) => {
  const { url, page } = await open(0, { path: '/livez' })
  await page.route('**/scalar.js', (route) => route.abort())
  await page.goto(url + path)
  await page.getByText('The reference could not be loaded. Reload the page.').waitFor()
})

test.for(['light', 'dark'] as const)('the reference fits each width in %s colors', async (colorScheme, { open }) => {
  const { page } = await open(0, { path, session: 'none', colorScheme, isIntercepted: false })
  await takeKeyOfConsole(page)
  await page.getByRole('status').getByText('No tab').waitFor()
  await page.getByText('Download OpenAPI Document').first().waitFor()
  for (const width of [320, 768, 1_440]) {
    await page.setViewportSize({ width, height: 740 })
    const overflow = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    await expect.poll(overflow, { message: `${width}` }).toBe(0)
    await inspect(page, `reference-${width}-${colorScheme}`)
  }
})
