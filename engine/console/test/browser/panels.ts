import type { Locator, Page } from 'playwright-core'
import { received } from './page.ts'

/** What tests open beside or above the list. */

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

/** The button that opens the form for a new item. */
export function addButton(page: Page): Locator {
  return page.locator('.tools').getByRole('button', { name: /^Add (?!many)/ })
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

/** Opens the sheet that adds many items, and pastes the rows if there are some. */
export async function openBulkAdd(page: Page, rows?: string): Promise<Locator> {
  await openTools(page)
  await page.locator('.tools').getByRole('button', { name: 'Add many' }).click()
  const sheet = page.getByRole('dialog', { name: /^Add many / })
  await sheet.waitFor()
  if (rows !== undefined) await pasteRows(sheet, rows)
  return sheet
}

/** Replaces the text by the clipboard. Playwright's `fill` takes a minute for 10,000 lines. */
export async function pasteRows(sheet: Locator, text: string): Promise<void> {
  const page = sheet.page()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate((copied) => navigator.clipboard.writeText(copied), text)
  await sheet.getByRole('textbox', { name: 'Paste rows of a spreadsheet, CSV or JSON' }).selectText()
  await page.keyboard.press('Control+V')
}

/** Opens the panel of an item by its link in the list. */
export async function openItem(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
  await panel(page, name).waitFor()
}

/** Opens the panel with the changes of all items. */
export async function openChanges(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Changes' }).click()
  return page.getByRole('complementary', { name: /^Changes of / })
}
