import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { addPets } from '../support/database.ts'
import { choose, counting, inspect, names, pageButton, showing, startConsole, test } from './console.ts'

test('the layout does not shift while the console loads', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 45)
  const page = await visit(url, { key })
  // A layout shift within 500 ms of a key press or a click counts as expected, so the responses arrive later than that.
  await page.route('**/trpc/**', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 600))
    await route.continue()
  })
  await page.addInitScript(() => {
    Object.assign(window, { moved: 0 })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        // Safe: an entry of type layout-shift has these fields (Layout Instability API); TypeScript does not declare them.
        const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean }
        if (!hadRecentInput) Object.assign(window, { moved: Reflect.get(window, 'moved') + value })
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
  await page.reload()
  await showing(page, 'Loading…')
  const table = page.getByRole('table')
  const expected = await table.boundingBox()
  await inspect(page, 'loading')
  await showing(page, 'Pets 1 to 20')
  // The API ignores shifts below the viewport.
  expect(await table.boundingBox()).toEqual(expected)
  await counting(page, 'all 45')
  await pageButton(page, 'Next').click()
  await showing(page, 'Loading…')
  expect(await names(page)).toHaveLength(20)
  expect(await table.getAttribute('aria-busy')).toBe('true')
  await showing(page, 'Pets 21 to 40')
  expect(await table.getAttribute('aria-busy')).toBe('false')
  await page.getByRole('link', { name: 'pet 21' }).click()
  await page.getByRole('dialog').getByLabel('Loading').waitFor()
  await page.getByRole('definition').getByText('pet 21').waitFor()
  await page.keyboard.press('Escape')
  await choose(page, 'sold')
  await page.getByRole('heading', { name: 'No pet is sold' }).waitFor()
  expect(await page.evaluate(() => Reflect.get(window, 'moved'))).toBe(0)
})

test('the console can be used with the keyboard alone', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 25)
  const page = await visit(url)
  const press = async (...keys: string[]) => {
    for (const each of keys) await page.keyboard.press(each)
  }
  await page.getByLabel('API key').waitFor()
  await page.keyboard.type(key)
  await press('Enter')
  await showing(page, 'Pets 1 to 20')

  await tabTo(page, 'Next')
  await press('Enter')
  await showing(page, 'Pets 21 to 25')
  expect(await focused(page)).toBe('Next')
  await tabTo(page, 'pet 21')
  await press('Enter')
  await page.getByRole('dialog', { name: 'pet 21' }).waitFor()
  await press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await expect.poll(() => focused(page)).toBe('pet 21')

  await page.reload()
  await showing(page, 'Pets 21 to 25')
  await tabTo(page, 'all')
  await press('ArrowRight', 'ArrowRight')
  await page.getByRole('heading', { name: 'No pet is pending' }).waitFor()
  await tabTo(page, 'Add a pet')
  await press('Enter')
  await expect.poll(() => focused(page)).toBe('name')
  await page.keyboard.type('Tom')
  await press('Tab')
  await page.keyboard.type('7')
  await press('Tab', 'Tab', 'Enter')
  await page.getByRole('row', { name: '26 Tom 7 pending' }).waitFor()
  await expect.poll(() => focused(page)).toBe('Add a pet')
})

test('the first load is under 200 kB, and the console links to the API reference', async ({ visit }) => {
  const { url, key } = await startConsole()
  const page = await visit(url, { key })
  await page.getByRole('heading', { name: 'There are no pets yet' }).waitFor()
  const total = await page.evaluate(() =>
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      // Safe: both types of entries are PerformanceResourceTiming.
      .map((entry) => (entry as PerformanceResourceTiming).transferSize)
      .reduce((sum, size) => sum + size),
  )
  expect(total).toBeGreaterThan(50_000)
  expect(total).toBeLessThan(200_000)
  expect(await page.getByRole('link', { name: 'API reference' }).getAttribute('href')).toBe('/docs/')
})

async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    if ((await focused(page)) === name) return
  }
  throw new Error(`60 presses of Tab do not reach ${name}.`)
}

/** The text of the focused element, or the name or value of a focused field. */
function focused(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (element instanceof HTMLInputElement) return element.type === 'radio' ? element.value : element.name
    return element?.textContent ?? undefined
  })
}
