import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** What tests do on a page of the console, whatever its resources are. */

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

/** Holds back requests to the service until the function that it returns is called. */
export async function holdRequests(page: Page, url: Parameters<Page['route']>[0] = '**/trpc/**'): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

/** Replaces the text by the clipboard. Playwright's `fill` takes a minute for 10,000 lines. */
export async function pasteRows(sheet: Locator, text: string): Promise<void> {
  const page = sheet.page()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate((copied) => navigator.clipboard.writeText(copied), text)
  await sheet.getByRole('textbox', { name: 'Paste CSV, TSV or JSON' }).selectText()
  await page.keyboard.press('Control+V')
}

/** The panel beside the list: an item, or the form for a new one. */
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

/** A button of the pager. */
export function pageButton(page: Page, name: string): Locator {
  return page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('button', { name })
}

/** The titles of the items in the list. */
export function names(page: Page): Promise<string[]> {
  return page.locator('.item-list tbody a').allTextContents()
}

/** Waits until the status line shows this text. */
export function showing(page: Page, text: string): Promise<void> {
  return page.getByRole('status').getByText(text, { exact: true }).waitFor()
}

/** Filters the list by a choice, such as `Done`. */
export function choose(page: Page, choice: string): Promise<void> {
  return page.getByRole('radio', { name: new RegExp(`^${choice}\\b`) }).check()
}

/** Waits until the filter shows this choice and count, such as `All 3`. */
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

/** The button that opens the form for a new item. */
export function addButton(page: Page): Locator {
  return page.locator('.tools').getByRole('button', { name: /^Add (?!many)/ })
}

/** Shows what only developers need, as after the requests were opened. */
export async function beDeveloper(page: Page): Promise<void> {
  await page.evaluate(() => document.documentElement.toggleAttribute('data-developer', true))
}

/** The button that submits the form for a new item. */
export function submitButton(page: Page): Locator {
  return page.locator('form').getByRole('button', { name: /^(Add \w+|Try again)$/ })
}

/** Opens the menu with the tools of the list, if the window has no room for them. */
export async function openTools(page: Page): Promise<void> {
  const more = page.getByRole('button', { name: 'More' })
  if (await more.isVisible()) await more.click()
}

/** Opens the sheet that adds many items. */
export async function openBulkAdd(page: Page): Promise<Locator> {
  await openTools(page)
  await page.locator('.tools').getByRole('button', { name: 'Add many' }).click()
  const sheet = page.getByRole('dialog', { name: /^Add many / })
  await sheet.waitFor()
  return sheet
}

export function searchField(page: Page): Locator {
  return page.getByRole('textbox', { name: /^Search / })
}
