import { describe, expect } from 'vitest'
import { choose, counting, names, showing, turnPage } from '../../../engine/console/test/browser/list.ts'
import { boxOf, closeByEscape, measureShifts, received } from '../../../engine/console/test/browser/page.ts'
import { addButton, openBulkAdd, panelsLoaded } from '../../../engine/console/test/browser/panels.ts'
import { account, openAccount, signIn, signOut } from '../../../engine/console/test/browser/session.ts'
import type { CDPSession, Locator, Page } from '../../../engine/console/test/browser/visit.ts'
import { addPets } from '../../support/petstore.ts'
import { startConsole, test } from '../console.ts'

test('the layout does not shift while the console loads', async ({ open }) => {
  const { page } = await open(45)
  let gate = Promise.withResolvers<void>()
  // A layout shift within 500 ms of a key press or a click counts as expected, so the responses arrive later than that.
  await page.route('**/trpc/**', async (route) => {
    await Promise.all([gate.promise, new Promise((resolve) => setTimeout(resolve, 600))])
    await route.continue()
  })
  await page.addInitScript(measureShifts)
  await page.reload()
  await showing(page, 'Loading…')
  const table = page.getByRole('table')
  const expected = await boxOf(table)
  gate.resolve()
  await showing(page, '1–20 of 45')
  // The API ignores shifts below the viewport.
  expect(await boxOf(table)).toEqual(expected)
  await counting(page, 'All 45')
  gate = Promise.withResolvers()
  await choose(page, 'Available')
  await showing(page, 'Loading…')
  expect(await names(page)).toHaveLength(20)
  expect(await table.getAttribute('aria-busy')).toBe('true')
  gate.resolve()
  await showing(page, '1–20 of 45')
  expect(await table.getAttribute('aria-busy')).toBe('false')
  expect(await moved(page)).toBe(0)
  await choose(page, 'Sold')
  await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
  await choose(page, 'All')
  await showing(page, '1–20 of 45')
  await page.getByRole('checkbox', { name: 'Select pet 2', exact: true }).check()
  await page.getByRole('region', { name: '1 selected' }).waitFor()
  await page.getByRole('combobox', { name: 'Pets per page' }).selectOption('50')
  await showing(page, '1–45 of 45')
  expect(await moved(page)).toBe(0)
})

/** What {@link measureShifts} has summed up, including the last frame. */
function moved(page: Page): Promise<number> {
  return page.evaluate(async () => {
    for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame)
    return Reflect.get(window, 'moved')
  })
}

describe('speed', () => {
  test('the page, its scripts and its styles are at most 115 kB, until the list is shown', async ({ open }) => {
    const { page } = await open(25, { session: 'form', isIntercepted: false, isCompressed: true })
    await showing(page, '1–20 of 25')
    const total = await transferred(page)
    expect(total).toBeGreaterThan(50_000)
    expect(total).toBeLessThanOrEqual(115_000)
  })

  test('a slow network shows the name of the service within a second, long before the script', async ({ start }) => {
    const { url, show } = await start(3)
    const delays: number[] = []
    for (let round = 0; round < 3; round++) {
      const page = await show({ path: '/livez', isCompressed: true })
      const client = await page.context().newCDPSession(page)
      await client.send('Network.enable')
      await client.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 400,
        downloadThroughput: 50_000,
        uploadThroughput: 50_000,
      })
      await page.goto(url, { waitUntil: 'commit' })
      await page.locator('#root').getByText('Petstore').waitFor()
      await showing(page, '1–3 of 3')
      const [delay, size] = await page.evaluate(() => {
        const [paint] = performance.getEntriesByName('first-contentful-paint')
        // Safe: the entries of this type are these.
        const [loaded] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
        return [(paint?.startTime ?? Number.NaN) / (loaded?.responseEnd ?? 0), loaded?.transferSize] as const
      })
      // So the page itself takes half a second of this network. A busy machine is slower with both.
      expect(size).toBeLessThanOrEqual(5_000)
      delays.push(delay)
    }
    expect(Math.min(...delays)).toBeLessThanOrEqual(2)
  })

  // The target is 300 ms. A busy machine takes longer.
  test('the list is interactive soon after the first request', async ({ start }) => {
    const { url, show } = await start(25)
    const times: number[] = []
    for (let round = 0; round < 3; round++) {
      // A page of the same origin that loads none of the console.
      const page = await show({ path: '/livez' })
      await page.addInitScript(() => {
        new MutationObserver((_changes, observer) => {
          if (!document.querySelector('.item-list tbody a')) return
          Object.assign(window, { interactiveAfter: performance.now() })
          observer.disconnect()
        }).observe(document, { childList: true, subtree: true })
      })
      await page.goto(url)
      await showing(page, '1–20 of 25')
      times.push(await page.evaluate(() => Reflect.get(window, 'interactiveAfter')))
    }
    expect(Math.min(...times)).toBeLessThan(5_000)
  })

  test('the next page is loaded in advance and shown within one frame', async ({ open }) => {
    const { page } = await open(45)
    await showing(page, '1–20 of 45')
    await received(page, 'cursor%22%3A%2220')
    await panelsLoaded(page)
    await page.waitForLoadState('networkidle')
    const rowAfter = (name: string) =>
      page.getByRole('button', { name, exact: true }).evaluate(async (button) => {
        // Safe: it is a button.
        ;(button as HTMLButtonElement).click()
        await new Promise(requestAnimationFrame)
        return document.querySelector('.item-list tbody a')?.textContent
      })
    expect(await rowAfter('Next')).toBe('pet 21')
    expect(await rowAfter('Previous')).toBe('pet 1')
  })
})

test('a list of 100 rows scrolls without a long task', async ({ open }) => {
  const { page } = await open(120, { path: '/?size=100' })
  await showing(page, '1–100 of 120')
  await page.waitForLoadState('networkidle')
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.locator('tbody tr').first().hover()
  let step = -150
  /** Returns the median time of a step in milliseconds. A step has several tasks. */
  async function scroll(): Promise<number> {
    step = -step
    const times: number[] = []
    for (let turns = 0; turns < 20; turns++) {
      const before = await taskTime(client)
      await page.mouse.wheel(0, step)
      await page.evaluate(() => new Promise(requestAnimationFrame))
      times.push((await taskTime(client)) - before)
    }
    return times.toSorted((a, b) => a - b)[times.length / 2] ?? Number.NaN
  }
  await scroll()
  expect(await page.locator('.item-list').evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(2_000)
  // A long task takes more than 50 ms.
  await expect.poll(scroll).toBeLessThan(50)
})

/** Milliseconds on the processor, which do not count the time of other processes. */
async function taskTime(client: CDPSession): Promise<number> {
  const { metrics } = await client.send('Performance.getMetrics')
  return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
}

describe('the first use of each panel', () => {
  // React's fallback would take 300 ms, so many frames. To evaluate and render the form takes longer on a slower machine.
  test.for([
    { slowdown: 1, limit: 250 },
    { slowdown: 4, limit: 1_000 },
  ])(
    'takes at most two frames, and at most $limit ms more of the processor than the second, if that is $slowdown times slower',
    async ({ slowdown, limit }, { start }) => {
      const { show } = await start(25)
      const samples: Record<string, number>[] = []
      for (let round = 0; round < rounds; round++) {
        const page = await show()
        await showing(page, '1–20 of 25')
        await panelsLoaded(page)
        await page.waitForLoadState('networkidle')
        const devTools = await page.context().newCDPSession(page)
        await devTools.send('Performance.enable', { timeDomain: 'threadTicks' })
        await devTools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
        const sample: Record<string, number> = {}
        const modal = '[aria-modal=true]'
        for (const [name, target, panelSelector] of [
          ['pet', page.getByRole('link', { name: 'pet 3', exact: true }), 'aside'],
          ['add', addButton(page), 'aside'],
          ['import', page.getByRole('button', { name: 'Add many' }), modal],
          ['export', page.getByRole('button', { name: 'Export' }), modal],
          ['help', page.getByRole('button', { name: 'Keyboard shortcuts' }), modal],
        ] as const) {
          const before = await taskTime(devTools)
          expect(await framesToOpen(page, target, panelSelector), name).toBeLessThanOrEqual(2)
          const between = await taskTime(devTools)
          await framesToOpen(page, target, panelSelector)
          sample[name] = between - before - ((await taskTime(devTools)) - between)
        }
        samples.push(sample)
        await page.context().close()
      }
      const names = Object.keys(samples[0] ?? {})
      const delays = names.map((name): [string, number] => [name, Math.min(...samples.map((each) => each[name] ?? 0))])
      expect(names).toHaveLength(5)
      expect(delays.filter(([, milliseconds]) => milliseconds > limit)).toEqual([])
    },
  )

  test('keeps the letters that are typed after the shortcut', async ({ open }) => {
    const { page } = await open(25, { isLoaded: true })
    await page.keyboard.type('nRex')
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Rex')
  })
})

const rounds = 3

/** The number of frames from the click to the one that shows a panel. Closes it then. */
async function framesToOpen(page: Page, target: Locator, panelSelector: string): Promise<number> {
  const frames = await target.evaluate(async (element, selector) => {
    // Safe: it is a link or a button.
    ;(element as HTMLElement).click()
    for (let count = 1; ; count++) {
      await new Promise(requestAnimationFrame)
      if (document.querySelector(selector)) return count
    }
  }, panelSelector)
  await closeByEscape(page.locator(panelSelector))
  return frames
}

test('the console fits each width, and on a phone the first pet is near the top', async ({ open }) => {
  const { page } = await open([25, { name: 'M'.repeat(255), categoryId: -9223372036854775807n, status: 'sold' }], {
    path: '/?cursor=6',
  })
  await showing(page, '7–26 of 26')
  for (const width of [320, 360, 768, 1_024, 1_440, 1_920]) {
    await page.setViewportSize({ width, height: 740 })
    expect(await overflow(page), `${width}`).toBe(0)
    await page.getByRole('link', { name: 'MMM' }).click()
    await page.getByRole('definition').getByText('-9223372036854775807').waitFor()
    await page
      .getByRole('heading', { level: 2 })
      .and(page.getByTitle('M'.repeat(255)))
      .waitFor()
    expect(await overflow(page), `${width} with a pet`).toBe(0)
    await closeByEscape(page.getByRole('definition').first())
    for (const text of ['M'.repeat(255), '26', '-9223372036854775807', 'Sold']) {
      expect(await page.locator('.item-list').getByText(text, { exact: true }).isVisible(), `${width}: ${text}`).toBe(
        true,
      )
    }
  }
  await page.setViewportSize({ width: 360, height: 740 })
  expect((await boxOf(page.locator('.item-list tbody tr').first())).y).toBeLessThan(200)
})

test('no field of a phone is so small that the browser zooms in', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 25)
  const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
  const page = await visit(url, phone)
  const sizes = () =>
    page
      .locator('select, textarea, input:not([type=checkbox], [type=radio], [type=file], [hidden])')
      .evaluateAll((fields) => fields.map((field) => Number.parseFloat(getComputedStyle(field).fontSize)))
  async function expectLarge(fields: number): Promise<void> {
    expect(await sizes()).toHaveLength(fields)
    expect(Math.min(...(await sizes()))).toBeGreaterThanOrEqual(16)
    expect(await overflow(page)).toBe(0)
  }
  await page.getByLabel('API key').waitFor()
  await expectLarge(1)
  await signIn(page, key)
  await showing(page, '1–20 of 25')
  await expectLarge(2)
  await page.getByRole('link', { name: 'pet 1', exact: true }).click()
  await page.getByRole('button', { name: 'Edit the name' }).click()
  await expectLarge(3)
  await page.keyboard.press('Escape')
  await closeByEscape(page.getByRole('dialog'))
  await addButton(page).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).waitFor()
  await expectLarge(5)
  await closeByEscape(page.getByRole('dialog'))
  await openBulkAdd(page, ',seven,sold')
  await page.getByRole('textbox', { name: 'Name, row 1' }).waitFor()
  await expectLarge(6)
})

test('the style sheets of the panels take precedence over those of the first load', async ({ open }) => {
  const { page } = await open(0, { isLoaded: true })
  const names = await page.evaluate(() => Array.from(document.styleSheets, ({ href }) => href?.split('/').at(-1) ?? ''))
  expect(names.length).toBeGreaterThan(5)
  expect(names.findIndex((name) => name.startsWith('index-'))).toBe(0)
})

test('a page has as many rows as the window has room for, until the user chooses another number', async ({ start }) => {
  const { url, show } = await start(60)
  for (const [width, height, rows] of [
    [768, 1_024, 26],
    [1_280, 800, 20],
    [1_440, 900, 23],
    [1_920, 1_080, 29],
    [2_560, 1_440, 41],
  ] as const) {
    const page = await show({ viewport: { width, height } })
    await showing(page, `1–${rows} of 60`)
    const list = page.locator('.item-list')
    expect(await list.evaluate((each) => each.scrollHeight - each.clientHeight), `${height}`).toBe(0)
    // One more would not fit.
    const bottom = (await boxOf(page.locator('tbody tr').last())).y + 60
    expect((await boxOf(list)).y + (await boxOf(list)).height, `${height}`).toBeLessThan(bottom)
  }
  const page = await show({ viewport: { width: 1_920, height: 1_080 } })
  await showing(page, '1–29 of 60')
  const sizes = page.getByRole('combobox', { name: 'Pets per page' })
  expect(await sizes.getByRole('option').allTextContents()).toEqual([
    '20 / page',
    'Fits: 29',
    '50 / page',
    '100 / page',
  ])
  await sizes.selectOption('50')
  await showing(page, '1–50 of 60')
  await page.goto(url)
  await showing(page, '1–50 of 60')
  // The one that fits is not remembered as a number.
  await sizes.selectOption('29')
  await showing(page, '1–29 of 60')
  await page.setViewportSize({ width: 1_440, height: 900 })
  await page.goto(url)
  await showing(page, '1–23 of 60')
})

test('a page that is reloaded in a window of another height keeps its place', async ({ open }) => {
  const { page } = await open(90, { viewport: { width: 1_440, height: 900 } })
  await showing(page, '1–23 of 90')
  for (const range of ['24–46 of 90', '47–69 of 90']) {
    await turnPage(page, 'Next', range)
  }
  await page.setViewportSize({ width: 1_920, height: 1_080 })
  await page.reload()
  await showing(page, '47–75 of 90')
  await turnPage(page, 'Previous', '18–46 of 90')
})

test('the color scheme follows the system until the user chooses one', async ({ open }) => {
  const { page } = await open(3, { colorScheme: 'dark' })
  await showing(page, '1–3 of 3')
  expect(await background(page)).toBe('rgb(16, 18, 22)')
  await account(page).click()
  await page.getByRole('button', { name: 'Colors: system' }).click()
  expect(await background(page)).toBe('rgb(248, 249, 251)')
  // This property sets the colors of scroll bars and of native form controls.
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('light')
  await page.reload()
  await account(page).click()
  await page.getByRole('button', { name: 'Colors: light' }).click()
  expect(await background(page)).toBe('rgb(16, 18, 22)')
  await page.getByRole('button', { name: 'Colors: dark' }).click()
  await page.emulateMedia({ colorScheme: 'light' })
  await expect.poll(() => background(page)).toBe('rgb(248, 249, 251)')
})

test('a page whose script does not start says so', async ({ start }) => {
  const { url, show } = await start()
  const text = 'This page needs JavaScript, which has not started.'
  const page = await show({ path: '/livez' })
  await page.route('**/assets/*.js', (route) => route.abort())
  await page.goto(url)
  await page.getByText(text).waitFor()
  const plain = await show({ session: 'none', javaScriptEnabled: false })
  await plain.getByText(text).waitFor()
})

test('an unknown path has a page that leads to the pets, with the header of the user', async ({ open }) => {
  const { url, page } = await open()
  await page.goto(`${url}/shop/rex`)
  await page.getByRole('navigation').getByRole('link', { name: 'Pets' }).click()
  await page.getByRole('heading', { name: 'No pets yet' }).waitFor()
  await page.goBack()
  const menu = await openAccount(page)
  await menu.getByText('Reads and changes').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.getByText('This service has nothing at /shop/rex.').waitFor()
  expect(await page.title()).toBe('Page not found · Petstore')
  await page.getByRole('link', { name: 'Go to the pets' }).click()
  await page.getByRole('heading', { name: 'No pets yet' }).waitFor()
  await page.goBack()
  await signOut(page)
  await account(page).waitFor({ state: 'hidden' })
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
})

/** The bytes of everything that the page has requested before the list, and of the list, compressed and with headers. */
function transferred(page: Page): Promise<number> {
  return page.evaluate(() => {
    // Safe: both types of entries are PerformanceResourceTiming.
    const entries = [
      ...performance.getEntriesByType('navigation'),
      ...performance.getEntriesByType('resource'),
    ] as PerformanceResourceTiming[]
    const list = entries.find(({ name }) => name.includes('/trpc/pets.list'))?.responseEnd ?? 0
    return entries
      .filter(({ startTime, name }) => startTime <= list && !name.includes('/trpc/'))
      .map(({ transferSize }) => transferSize)
      .reduce((sum, size) => sum + size)
  })
}

/** The number of pixels by which the page, the filter, the list or a dialog is too wide. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const boxes = [
      document.documentElement,
      ...document.querySelectorAll('[role=radiogroup], [role=dialog], aside, .item-list'),
    ]
    return Math.max(...boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
  })
}

function background(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor)
}
