import type { Locator, Page } from 'playwright-core'

/** What tests do with the session of a page. */

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await account(page).waitFor()
}

/** The button that opens the account menu. Only a page that is signed in has it. */
export function account(page: Page): Locator {
  return page.getByRole('button', { name: 'Account' })
}

export async function openAccount(page: Page): Promise<Locator> {
  await account(page).click()
  return page.getByRole('dialog', { name: 'Account' })
}

/** Opens the requests: in the account menu, or in the header before the sign-in. */
export async function openRequests(page: Page): Promise<Locator> {
  const button = page.getByRole('button', { name: 'Requests', exact: true })
  await button.or(account(page)).waitFor()
  if (!(await button.isVisible())) await account(page).click()
  await button.click()
  const drawer = drawerOf(page)
  await drawer.waitFor()
  return drawer
}

export function drawerOf(page: Page): Locator {
  return page.getByRole('dialog', { name: 'Requests' })
}

export async function signOut(page: Page): Promise<void> {
  await account(page).click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
}
