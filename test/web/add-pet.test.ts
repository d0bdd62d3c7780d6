import { describe, expect } from 'vitest'
import {
  counting,
  describes,
  enterPet,
  holdRequests,
  inspect,
  isFocused,
  signIn,
  startConsole,
  test,
} from './console.ts'

describe('adding a pet', () => {
  test('a validation error appears at the field that caused it', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url, { key })
    await page.getByRole('button', { name: 'Add a pet' }).click()
    const add = page.getByRole('button', { name: 'Add', exact: true })
    const name = page.getByRole('textbox', { name: 'Name' })
    const category = page.getByRole('textbox', { name: 'Category' })

    await add.click()
    await page.getByText('Expected 1 to 255 characters.').waitFor()
    expect(await describes(page, 'Name')).toContain('Expected 1 to 255 characters.')
    expect(await describes(page, 'Category')).toContain('Required.')
    expect(await isFocused(name)).toBe(true)
    await inspect(page, 'invalid')

    await name.fill('Rex')
    for (const [text, message] of [
      ['seven', 'Expected an integer.'],
      ['9223372036854775808', 'Expected a 64-bit integer.'],
    ] as const) {
      await category.fill(text)
      await add.click()
      await page.getByText(message, { exact: true }).waitFor()
      expect(await describes(page, 'Category')).toContain(message)
      expect(await describes(page, 'Name')).toBe('')
      expect(await isFocused(category)).toBe(true)
    }
    await category.fill('-7')
    await add.click()
    await page.getByText('Rex was added').waitFor()
    expect(await store.pets.list({ limit: 9, cursor: 0n })).toMatchObject([{ name: 'Rex', categoryId: -7n }])
  })

  test('a click beside the dialog keeps its entries, and the form starts with the selected status', async ({
    visit,
  }) => {
    const { url, key } = await startConsole()
    const page = await visit(`${url}/?status=sold`, { key })
    await page.getByRole('button', { name: 'Add a pet' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Rex')
    await page.mouse.click(10, 10)
    await page.getByRole('textbox', { name: 'Category' }).fill('7')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('row', { name: '1 Rex 7 sold' }).waitFor()
  })

  test('the dialog stays open until the service has added the pet', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    const release = await holdRequests(page, '**/trpc/pets.create')
    await enterPet(page, 'Rex', '7')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('dialog').waitFor()
    release()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByText('Rex was added').waitFor()
  })

  test('retries after a lost response add the pet once', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url, { key })
    await enterPet(page, 'Rex', '7')
    await page.route('**/trpc/pets.create', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await page.getByRole('button', { name: 'Add', exact: true }).press('Enter')
    await page.getByRole('alert').getByText('The pet may not have been added').waitFor()
    await inspect(page, 'not-added')
    const button = page.getByRole('button', { name: 'Try again' })
    expect(await isFocused(button)).toBe(true)
    // The attempt for Rex stays open while another pet is tried and the dialog is closed and opened again.
    const uncertain = page.getByRole('alert').getByText('The pet may not have been added')
    await page.getByRole('textbox', { name: 'Name' }).fill('Tom')
    await page.getByRole('button', { name: 'Try again' }).click()
    await uncertain.waitFor({ state: 'hidden' })
    await uncertain.waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Add a pet' }).click()
    await page.unroute('**/trpc/pets.create')
    await page.getByRole('textbox', { name: 'Name' }).fill('Rex')
    // The same number in another notation.
    await page.getByRole('textbox', { name: 'Category' }).fill(' 07 ')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Rex was added').waitFor()
    const pets = await store.pets.list({ limit: 9, cursor: 0n })
    expect(pets.map(({ name }) => name)).toEqual(['Rex', 'Tom'])
  })

  test('a create that the service rejects is reported as not added, without a retry', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    await enterPet(page, 'Rex', '7')
    await page.route('**/trpc/pets.create', (route) =>
      route.continue({ headers: { ...route.request().headers(), 'idempotency-key': 'k'.repeat(300) } }),
    )
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('The pet was not added').waitFor()
    expect(await alert.textContent()).not.toContain('Try again')
    await inspect(page, 'refused')
  })

  test('the notification opens the added pet and can be closed, and the counts include the pet', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    await counting(page, 'all 0')
    await enterPet(page, 'Rex', '7')
    await page.keyboard.press('Enter')
    const message = page.getByRole('status').filter({ hasText: 'Rex was added' })
    await counting(page, 'all 1')
    await message.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('dialog', { name: 'Rex' }).waitFor()
    await page.keyboard.press('Escape')
    await message.getByRole('button', { name: 'Close the message' }).click()
    await message.waitFor({ state: 'hidden' })
  })
})

test('the notification disappears after a while, but not under the pointer', async ({ visit }) => {
  const { url, key } = await startConsole()
  const page = await visit(url)
  await page.clock.install()
  await signIn(page, key)
  await enterPet(page, 'Rex', '7')
  await page.keyboard.press('Enter')
  const message = page.getByRole('status').filter({ hasText: 'Rex was added' })
  await message.hover()
  await page.clock.runFor(40_000)
  expect(await message.count()).toBe(1)
  await page.mouse.move(10, 10)
  await page.clock.runFor(16_000)
  await message.waitFor({ state: 'hidden' })
})
