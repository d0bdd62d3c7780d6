import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** What tests measure and do on any page of the console. */

const screenshots = join(import.meta.dirname, 'screenshots')

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

/** Waits until nothing fades or slides in any more. Before that, no place and no contrast of an element is its last. */
export async function waitForAnimations(page: Page): Promise<void> {
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
        .map(({ finished }) => finished),
    ),
  )
}

/** Where an element is once nothing moves any more, in pixels of CSS. Throws if it is not visible. */
export async function boxOf(element: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  await element.waitFor()
  await waitForAnimations(element.page())
  const box = await element.boundingBox()
  if (!box) throw new Error(`${element} is not visible.`)
  return box
}

/** The red, green and blue (0 to 255) of a place of the page, in pixels of CSS, once nothing moves any more. */
export async function colorAt(page: Page, x: number, y: number): Promise<number[]> {
  await waitForAnimations(page)
  const png = await page.screenshot({ clip: { x, y, width: 1, height: 1 } })
  return page.evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/png' }))
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')
    canvas?.drawImage(image, 0, 0)
    return Array.from(canvas?.getImageData(0, 0, 1, 1).data ?? []).slice(0, 3)
  }, Array.from(png))
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

/** Holds back requests to the service until the function that it returns is called. */
export async function holdRequests(page: Page, url: Parameters<Page['route']>[0] = '**/trpc/**'): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

/** Lets the service do what so many requests ask for, all by default. The page gets no response. */
export async function loseResponses(page: Page, url: string, count = Number.POSITIVE_INFINITY): Promise<void> {
  let sent = 0
  await page.route(url, async (route) => {
    if (sent++ < count) await route.fetch()
    await route.abort()
  })
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

/** Shows what only developers need, as after the requests were opened. */
export async function beDeveloper(page: Page): Promise<void> {
  await page.evaluate(() => document.documentElement.toggleAttribute('data-developer', true))
}

/** Presses these keys, one after the other. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const each of keys) await page.keyboard.press(each)
}

/** Presses Escape, and waits until what it closes is gone. */
export async function closeByEscape(closed: Locator): Promise<void> {
  await closed.page().keyboard.press('Escape')
  await closed.waitFor({ state: 'hidden' })
}
