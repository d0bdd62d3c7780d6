import type { Locator, Page } from 'playwright-core'

/** What tests see and do in the list. */

/** The titles of the items in the list. */
export function names(page: Page): Promise<string[]> {
  return page.locator('.item-list tbody a').allTextContents()
}

/** Waits until the status line shows this text. */
export function showing(page: Page, text: string): Promise<void> {
  return page.getByRole('status').getByText(text, { exact: true }).waitFor()
}

/** The button with a choice of an item in the list, such as `State of Tea: Open`. */
export function choiceOf(page: Page, title: string, choice: string | RegExp): Locator {
  const link = page.getByRole('link', { name: title, exact: true })
  return page.getByRole('row').filter({ has: link }).getByRole('button', { name: choice })
}

/** Filters the list by a choice, such as `Done`. */
export function choose(page: Page, choice: string): Promise<void> {
  return page.getByRole('radio', { name: new RegExp(`^${choice}\\b`) }).check()
}

/** Waits until the filter shows this choice and count, such as `All 3`. */
export function counting(page: Page, name: string): Promise<void> {
  return page.getByRole('radio', { name, exact: true }).waitFor({ state: 'attached' })
}

/** A button of the pager. */
export function pageButton(page: Page, name: string): Locator {
  return page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('button', { name })
}

export function searchField(page: Page): Locator {
  return page.getByRole('textbox', { name: /^Search / })
}

/** The notice that says what was just added. */
export function justAdded(page: Page): Locator {
  return page.getByRole('region', { name: 'Last change' }).filter({ hasText: / added\./ })
}

/** Turns to another page of the list, and waits until it shows this text. */
export async function turnPage(page: Page, button: string, text: string): Promise<void> {
  await pageButton(page, button).click()
  await showing(page, text)
}
