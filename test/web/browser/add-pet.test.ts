import { describe, expect } from 'vitest'
import { addPets } from '../../support/database.ts'
import {
  addButton,
  choose,
  counting,
  describes,
  enterPet,
  holdRequests,
  inspect,
  isFocused,
  justAdded,
  panel,
  showing,
  startConsole,
  submitButton,
  test,
} from '../console.ts'

describe('adding a pet', () => {
  test('a validation error appears at the field that caused it', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url, { key })
    await addButton(page).click()
    const name = page.getByRole('textbox', { name: 'Name' })
    const category = page.getByRole('textbox', { name: 'Category' })
    expect(await isFocused(name)).toBe(true)

    await submitButton(page).click()
    await page.getByText('Enter a name.').waitFor()
    expect(await describes(page, 'Name')).toContain('Enter a name.')
    expect(await describes(page, 'Category')).toContain('Enter a category.')
    expect(await isFocused(name)).toBe(true)
    // The message stays the same while the user corrects the value.
    await name.fill('R'.repeat(256))
    expect(await describes(page, 'Name')).toContain('Enter a name.')
    await submitButton(page).click()
    await page.getByText('Expected 1 to 255 characters.').waitFor()

    await name.fill('Rex')
    for (const [text, message] of [
      ['seven', 'Expected an integer.'],
      ['9223372036854775808', 'Expected a 64-bit integer.'],
    ] as const) {
      await category.fill(text)
      await submitButton(page).click()
      await page.getByText(message, { exact: true }).waitFor()
      expect(await describes(page, 'Category')).toContain(message)
      expect(await describes(page, 'Name')).toBe('')
      expect(await isFocused(category)).toBe(true)
    }
    await category.fill('-7')
    await submitButton(page).click()
    await justAdded(page).getByRole('row', { name: '1 Rex -7 Available' }).waitFor()
    expect(await store.pets.list({ limit: 9, cursor: 0n })).toMatchObject([{ name: 'Rex', categoryId: -7n }])
  })

  test('the list stays usable beside the form, whose entries are kept until the pet is added', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 3)
    const page = await visit(`${url}/?status=sold`, { key })
    await enterPet(page, 'Rex', '7')
    await choose(page, 'All')
    await page.getByRole('link', { name: 'pet 2' }).click()
    await panel(page, 'pet 2').waitFor()
    await page.keyboard.press('n')
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Rex')
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Pending')
    await page.keyboard.press('Escape')
    await panel(page, 'pet 2').waitFor()
    await addButton(page).click()
    await submitButton(page).click()
    await justAdded(page).getByRole('row', { name: '4 Rex 7 Pending' }).waitFor()
    await addButton(page).click()
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('')
  })

  test('the form starts with the selected status, and a click beside its sheet keeps its entries', async ({
    visit,
  }) => {
    const { url, key } = await startConsole()
    const page = await visit(`${url}/?status=sold`, { key, viewport: { width: 800, height: 600 } })
    await enterPet(page, 'Rex', '7')
    await page.mouse.click(10, 300)
    await submitButton(page).click()
    await justAdded(page).getByRole('row', { name: '1 Rex 7 Sold' }).waitFor()
  })

  test('the panel stays open until the service has added the pet', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    const release = await holdRequests(page, '**/trpc/pets.create')
    await enterPet(page, 'Rex', '7')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Adding…' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Close' }).click()
    await panel(page, 'Add pet').waitFor()
    release()
    await panel(page).waitFor({ state: 'hidden' })
    await justAdded(page).getByRole('link', { name: 'Rex' }).waitFor()
  })

  test('retries after a lost response add the pet once', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url, { key })
    await enterPet(page, 'Rex', '7')
    await page.route('**/trpc/pets.create', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await submitButton(page).press('Enter')
    await page.getByRole('alert').getByText('The pet may not have been added').waitFor()
    await inspect(page, 'not-added')
    const button = page.getByRole('button', { name: 'Try again' })
    expect(await isFocused(button)).toBe(true)
    // The attempt for Rex stays open while another pet is tried and the panel is closed and opened again.
    const uncertain = page.getByRole('alert').getByText('The pet may not have been added')
    await page.getByRole('textbox', { name: 'Name' }).fill('Tom')
    await button.click()
    await uncertain.waitFor({ state: 'hidden' })
    await uncertain.waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await addButton(page).click()
    await page.unroute('**/trpc/pets.create')
    await page.getByRole('textbox', { name: 'Name' }).fill('Rex')
    // The same number in another notation.
    await page.getByRole('textbox', { name: 'Category' }).fill(' 07 ')
    await submitButton(page).click()
    await justAdded(page).getByRole('link', { name: 'Rex' }).waitFor()
    const pets = await store.pets.list({ limit: 9, cursor: 0n })
    expect(pets.map(({ name }) => name)).toEqual(['Rex', 'Tom'])
  })

  test('a create that the service rejects is reported as not added, with the id of the request', async ({ visit }) => {
    const { url, key, log } = await startConsole()
    const page = await visit(url, { key })
    await enterPet(page, 'Rex', '7')
    await page.route('**/trpc/pets.create', (route) =>
      route.continue({ headers: { ...route.request().headers(), 'idempotency-key': 'k'.repeat(300) } }),
    )
    await submitButton(page).click()
    const alert = page.getByRole('alert')
    await alert.getByText('The pet was not added').waitFor()
    expect(await alert.textContent()).not.toContain('Try again')
    expect(log.join()).toContain(await alert.getByRole('code').textContent())
    await inspect(page, 'refused')
  })
})

describe('an added pet', () => {
  test('is above the list and marked in it until it is dismissed, and is counted', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 25)
    const page = await visit(url, { key })
    await counting(page, 'All 25')
    await enterPet(page, 'Rex', '7')
    await page.keyboard.press('Enter')
    await justAdded(page).getByRole('row', { name: '26 Rex 7 Available' }).waitFor()
    await counting(page, 'All 26')
    await expect.poll(() => isFocused(addButton(page))).toBe(true)
    await page.getByRole('button', { name: 'Newest pets' }).click()
    await showing(page, '7–26 of 26')
    expect(await page.locator('.pet-list tr[data-new]').textContent()).toContain('Rex')
    await justAdded(page).getByRole('link', { name: 'Rex' }).click()
    await panel(page, 'Rex').waitFor()
    await justAdded(page).getByRole('button', { name: 'Dismiss' }).click()
    await justAdded(page).waitFor({ state: 'hidden' })
    expect(await page.locator('tr[data-new]').count()).toBe(0)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Pets')
  })

  test('can be followed by another one, with the same category and status', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    await enterPet(page, 'Rex', '7')
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Sold')
    await page.getByLabel('Add another').check()
    await submitButton(page).click()
    await justAdded(page).getByRole('link', { name: 'Rex' }).waitFor()
    expect(await isFocused(page.getByRole('textbox', { name: 'Name' }))).toBe(true)
    await page.keyboard.type('Tom')
    await page.keyboard.press('Enter')
    await justAdded(page).getByRole('link', { name: 'Tom' }).waitFor()
    expect(await justAdded(page).getByRole('row').allInnerTexts()).toEqual([
      expect.stringContaining('Id'),
      expect.stringMatching(/2\s+Tom\s+7\s+Sold/),
      expect.stringMatching(/1\s+Rex\s+7\s+Sold/),
    ])
    await inspect(page, 'just-added')
  })
})
