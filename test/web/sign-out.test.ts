import { expect } from 'vitest'
import { createKey, revokeKey } from '../../server/ops/keys.ts'
import { addPets } from '../support/database.ts'
import { inspect, pageButton, showing, signIn, startConsole, test } from './console.ts'

test('a revoked key signs out, and signing in with another key returns to the same page', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 50)
  const page = await visit(url, { key })
  await pageButton(page, 'Next').click()
  await showing(page, 'Pets 21 to 40')

  await revokeKey(store, 'test')
  await pageButton(page, 'Next').click()
  await page.getByRole('alert').getByText('You were signed out').waitFor()
  await inspect(page, 'signed-out')
  await page.getByLabel('API key').fill('pet_wrong')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('This key is not valid.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(1)
  await signIn(page, await createKey(store, 'other'))
  await showing(page, 'Pets 41 to 50')
})

test('a create with a revoked key signs out', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  const page = await visit(url, { key })
  await page.getByRole('button', { name: 'Add the first one' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Rex')
  await page.getByRole('textbox', { name: 'Category' }).fill('7')
  await revokeKey(store, 'test')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('You were signed out').waitFor()
})

test('pets that were loaded with one key are not shown after signing in with another', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  const page = await visit(url, { key })
  await showing(page, 'Pets 1 to 3')
  await page.getByRole('button', { name: 'Sign out' }).click()
  // Only the check of the key gets a response.
  await page.route(
    (request) => /"limit":(21|100)\b/.test(request.searchParams.get('input') ?? ''),
    () => {},
  )
  await signIn(page, await createKey(store, 'other'))
  await showing(page, 'Loading…')
})
