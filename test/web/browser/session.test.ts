import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createKey, revokeKey } from '../../../server/ops/keys.ts'
import { addPets } from '../../support/database.ts'
import {
  addButton,
  counting,
  enterPet,
  inspect,
  names,
  pageButton,
  showing,
  signIn,
  startConsole,
  submitButton,
  test,
} from '../console.ts'

describe('the key of a session', () => {
  test('is kept in the tab until the sign-out', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url)
    await signIn(page, key)
    await page.reload()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    expect(page.url()).not.toContain(key)
    expect(JSON.stringify(await page.context().storageState())).not.toContain(key)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await isSignedOut(page)
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.reload()
    await isSignedOut(page)
  })

  test('is handed over to a new tab, without a flash of the sign-in form', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url)
    await signIn(page, key)
    const tab = await page.context().newPage()
    await tab.addInitScript(() => {
      new MutationObserver(() => {
        if (document.querySelector('form')) Object.assign(window, { flashed: true })
      }).observe(document, { childList: true, subtree: true })
    })
    await tab.goto(url)
    await tab.getByRole('heading', { name: 'No pets yet' }).waitFor()
    expect(await tab.evaluate(() => 'flashed' in window && !document.querySelector('search'))).toBe(false)

    // Each tab signs out for itself, and does not sign in again with the key of another one.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await isSignedOut(page)
    await page.reload()
    await isSignedOut(page)
    await tab.reload()
    await tab.getByRole('heading', { name: 'No pets yet' }).waitFor()
  })

  test('is not handed over after the service has rejected it', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url)
    await signIn(page, key)
    await revokeKey(store, 'test')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByRole('alert').getByText('You were signed out').waitFor()
    const tab = await page.context().newPage()
    await tab.goto(url)
    await isSignedOut(tab)
    expect(await tab.getByRole('alert').count()).toBe(0)
  })

  test('is kept on the device only if the user wants that, until the sign-out', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url)
    await page.getByLabel('Remember on this device').check()
    await signIn(page, key)
    await page.goto('about:blank')
    const tab = await page.context().newPage()
    await tab.goto(url)
    await tab.getByRole('heading', { name: 'No pets yet' }).waitFor()
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await isSignedOut(tab)
    const another = await page.context().newPage()
    await another.goto(url)
    await isSignedOut(another)
  })
})

test('a revoked key signs out, and signing in with another key returns to the same page', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 50)
  const page = await visit(`${url}/?cursor=20`, { key })
  await showing(page, '20 pets after id 20')
  // Otherwise the counts or the next page, which is loaded in advance, would be refused before the click.
  await counting(page, 'All 50')
  await page.waitForLoadState('networkidle')
  await revokeKey(store, 'test')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('alert').getByText('You were signed out').waitFor()
  await inspect(page, 'signed-out')
  await page.getByLabel('API key').fill('pet_wrong')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('This key is not valid.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(1)
  await signIn(page, await createKey(store, 'other'))
  await showing(page, '20 pets after id 20')
  await pageButton(page, 'Next').click()
  await showing(page, '41–50 of 50')
})

test('a create with a revoked key signs out', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  const page = await visit(url, { key })
  await addButton(page).waitFor()
  await enterPet(page, 'Rex', '7')
  await revokeKey(store, 'test')
  await submitButton(page).click()
  await page.getByRole('alert').getByText('You were signed out').waitFor()
})

test('pets that were loaded with one key are not shown after signing in with another', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  const page = await visit(url, { key })
  await showing(page, '1–3 of 3')
  await page.getByRole('button', { name: 'Sign out' }).click()
  // Only the check of the key gets a response.
  await page.route(
    (request) => /"limit":21\b/.test(request.searchParams.get('input') ?? ''),
    () => {},
  )
  await signIn(page, await createKey(store, 'other'))
  await showing(page, 'Loading…')
  expect(await names(page)).toEqual([])
})

function isSignedOut(page: Page): Promise<void> {
  return page.getByRole('heading', { name: 'Sign in' }).waitFor()
}
