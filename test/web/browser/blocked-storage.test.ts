import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { addPets } from '../../support/database.ts'
import { choose, names, signIn, startConsole, test } from '../console.ts'

/** What browsers block together with cookies. */
const blocked = {
  Chromium: ['localStorage', 'sessionStorage', 'indexedDB'],
  Firefox: ['localStorage', 'sessionStorage', 'indexedDB', 'BroadcastChannel'],
}

/** A page on which reading these properties of the window throws a SecurityError. */
async function blockStorage(page: Page, properties: string[]): Promise<void> {
  await page.addInitScript((names) => {
    for (const name of names) {
      Object.defineProperty(window, name, {
        configurable: true,
        get() {
          throw new DOMException('Access is denied for this document.', 'SecurityError')
        },
      })
    }
  }, properties)
  await page.reload()
}

describe.for(Object.entries(blocked))('where a browser blocks storage as %s does', ([, properties]) => {
  test('the console works, and the sign-in lasts until the page is left', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 3)
    const page = await visit(url)
    await blockStorage(page, properties)
    await page.getByLabel('Remember on this device').check()
    await signIn(page, key)
    await choose(page, 'All')
    await expect.poll(() => names(page)).toHaveLength(3)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn(page, key)
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('the API reference shows the operations and sends requests', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(`${url}/docs/`)
    await blockStorage(page, properties)
    await page.getByRole('button', { name: 'Use the key of the console' }).click()
    await page.getByRole('status').getByText('No tab of the console is signed in.').waitFor()
    await page.getByRole('button', { name: 'Test Request (get /pets)' }).click()
    const form = page.getByRole('dialog')
    await form.getByPlaceholder('Token').fill(key)
    const [response] = await Promise.all([
      page.waitForResponse((each) => each.url().includes('/v1/')),
      form
        .getByRole('button', { name: /^Send / })
        .first()
        .click(),
    ])
    expect(response.status()).toBe(200)
  })
})
