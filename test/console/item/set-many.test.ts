import { expect } from 'vitest'
import { inspect, isFocused, panelsLoaded, showing } from '../../../engine/console/test/browser/page.ts'
import { addPets } from '../../support/petstore.ts'
import { startConsole, test } from '../console.ts'

test('the category of all selected pets is set with the rules of the form, and can be undone', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 5)
  await store.pets.update({ id: 5n, set: { categoryId: 7n } })
  const page = await visit(url, { key })
  await showing(page, '1–5 of 5')
  await panelsLoaded(page)
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  await page.getByRole('button', { name: 'Set category' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set category', exact: true })
  const field = dialog.getByRole('textbox', { name: 'Category' })
  await expect.poll(() => isFocused(field)).toBe(true)
  for (const [entered, message] of [
    ['', 'The category is missing.'],
    ['seven', 'The category is not an integer.'],
    ['9223372036854775808', 'The category does not fit into 64 bits.'],
  ] as const) {
    await field.fill(entered)
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').getByText(message).waitFor()
  }
  await inspect(page, 'set-category-invalid')
  await field.fill('7')
  await dialog.getByText('4 pets will change, 1 will not.').waitFor()
  await inspect(page, 'set-category')
  await page.keyboard.press('Enter')
  const notice = page.getByRole('region', { name: 'Last change' })
  await notice.getByText('Category of 4 pets is now 7, 1 had it already.').waitFor()
  expect(await categories(store)).toEqual([7n, 7n, 7n, 7n, 7n])
  await page.keyboard.press('z')
  await notice.getByText('4 pets were changed back.').waitFor()
  expect(await categories(store)).toEqual([1n, 1n, 1n, 1n, 7n])
})

test('a category that somebody else has set meanwhile is not overwritten', async ({ openConsole }) => {
  const { store, page } = await openConsole(3)
  await showing(page, '1–3 of 3')
  await panelsLoaded(page)
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  await page.getByRole('button', { name: 'Set category' }).click()
  await page.route('**/trpc/pets.update**', async (route) => {
    await store.pets.update({ id: 2n, set: { categoryId: 8n } })
    await page.unroute('**/trpc/pets.update**')
    await route.continue()
  })
  await page.keyboard.type('7')
  await page.keyboard.press('Enter')
  const result = page.getByRole('dialog', { name: 'Set category to 7', exact: true })
  await result.getByText('2 done, 1 skipped').waitFor()
  await result.getByText('pet 2 #2').waitFor()
  expect(await categories(store)).toEqual([7n, 8n, 7n])
})

test('a status that all selected pets have already changes nothing, and says so', async ({ openConsole }) => {
  const { page } = await openConsole(2)
  await showing(page, '1–2 of 2')
  await panelsLoaded(page)
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  await page.getByRole('button', { name: 'Set status' }).click()
  await page.getByRole('menuitemradio', { name: 'Available' }).click()
  const notice = page.getByRole('region', { name: 'Last change' })
  await notice.getByText('2 pets have it already.').waitFor()
  expect(await notice.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  await page.getByRole('region', { name: '2 selected' }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

async function categories(store: Awaited<ReturnType<typeof startConsole>>['store']): Promise<bigint[]> {
  return (await store.pets.list({ limit: 100, cursor: 0n })).map(({ categoryId }) => categoryId)
}
