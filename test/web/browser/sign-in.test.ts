import { expect } from 'vitest'
import { bannerKey, startServer, waitForOutput } from '../../support/process.ts'
import { describes, enterPet, inspect, isFocused, panel, signIn, startConsole, submitButton, test } from '../console.ts'

test('the URL and the key that the first start prints open the console', async ({ visit }) => {
  const server = await startServer()
  const key = await waitForOutput(server, bannerKey)
  const page = await visit(await waitForOutput(server, /"console":"([^"]+)"/))
  await signIn(page, key)
  await enterPet(page, 'Rex', '7')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: '1 Rex 7 Available' }).first().waitFor()
})

test('the console of an empty store leads to the first pet', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  const page = await visit(url)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.title()).toBe('Sign in · Petstore')
  await page.getByText('npx petstore keys create shop').waitFor()
  await inspect(page, 'sign-in')
  await signIn(page, key)
  await page.getByRole('heading', { name: 'No pets yet' }).waitFor()
  expect(await page.getByText('curl').textContent()).toContain(`${url}/v1/pets`)
  await inspect(page, 'empty')

  await page.locator('.pet-list').getByRole('button', { name: 'Add pet' }).click()
  await panel(page, 'Add pet').waitFor()
  await inspect(page, 'add')
  await page.getByRole('textbox', { name: 'Name' }).fill('Rex')
  await page.getByRole('textbox', { name: 'Category' }).fill('9007199254740993')
  await page.getByRole('combobox', { name: 'Status' }).selectOption('Pending')
  await submitButton(page).click()

  await panel(page).waitFor({ state: 'hidden' })
  await page.locator('.pet-list').getByRole('row', { name: '1 Rex 9007199254740993 Pending' }).waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Pets')
  expect(await store.pets.get(1n)).toMatchObject({ name: 'Rex', categoryId: 9007199254740993n, status: 'pending' })
})

test('the form rejects invalid keys at the field and then accepts a valid one', async ({ visit }) => {
  const { url, key } = await startConsole()
  const page = await visit(url)
  const field = page.getByRole('textbox', { name: 'API key' })
  expect(await field.getAttribute('type')).toBe('password')
  // Consecutive messages differ, because the previous one stays until the check has finished.
  for (const wrong of ['pet_…', '', 'pet_wrong']) {
    await field.fill(wrong)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page
      .getByRole('alert')
      .getByText(wrong === '' ? 'Enter an API key.' : 'This key is not valid.')
      .waitFor()
    expect(await describes(page, 'API key')).toContain(await page.getByRole('alert').textContent())
    expect(await isFocused(field)).toBe(true)
  }
  // A repeated message is a new element, so a screen reader announces it again.
  await page.getByRole('alert').evaluate((alert) => alert.setAttribute('data-former', ''))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('[role=alert]:not([data-former])').waitFor()
  await inspect(page, 'wrong-key')
  await page.getByRole('button', { name: 'Show the key' }).click()
  expect(await field.getAttribute('type')).toBe('text')
  await signIn(page, ` ${key} `)
})

test('the console works without session storage', async ({ visit }) => {
  const { url, key } = await startConsole()
  const page = await visit(url)
  await page.addInitScript(() => {
    Object.defineProperty(window, 'sessionStorage', {
      get() {
        throw new DOMException('denied', 'SecurityError')
      },
    })
  })
  await page.reload()
  await signIn(page, key)
  await page.getByRole('heading', { name: 'No pets yet' }).waitFor()
})

test('an unreachable service is not reported as an invalid key', async ({ visit }) => {
  const { url, key, app } = await startConsole()
  const page = await visit(url)
  await page.getByLabel('API key').fill(key)
  await app.close()
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('The key could not be checked').waitFor()
  await inspect(page, 'not-checked')
})
