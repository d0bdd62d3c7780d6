import { describe, expect } from 'vitest'
import { addPets } from '../support/helpers.ts'
import { describes, enterPet, holdAnswers, inspect, signIn, startConsole, test } from './console.ts'

describe('adding a pet', () => {
  test('what is wrong is said at the field that caused it', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url)
    await signIn(page, key)
    await page.getByRole('button', { name: 'Add a pet' }).click()
    const add = page.getByRole('button', { name: 'Add', exact: true })
    const name = page.getByRole('textbox', { name: 'Name' })
    const category = page.getByRole('textbox', { name: 'Category' })

    await add.click()
    await page.getByText('Expected 1 to 255 characters.').waitFor()
    expect(await describes(page, 'Name')).toContain('Expected 1 to 255 characters.')
    expect(await describes(page, 'Category')).toContain('Required.')
    expect(await name.evaluate((input) => input === document.activeElement)).toBe(true)
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
      expect(await category.evaluate((input) => input === document.activeElement)).toBe(true)
    }
    await category.fill('-7')
    await add.click()
    await page.getByText('Rex was added').waitFor()
    expect(await store.pets.list({ limit: 9, cursor: 0n })).toMatchObject([{ name: 'Rex', categoryId: -7n }])
  })

  test('what was entered is not lost by a click beside it, and begins with the status that is looked at', async ({
    visit,
  }) => {
    const { url, key } = await startConsole()
    const page = await visit(`${url}/?status=sold`)
    await signIn(page, key)
    await page.getByRole('button', { name: 'Add a pet' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Rex')
    await page.mouse.click(10, 10)
    await page.getByRole('textbox', { name: 'Category' }).fill('7')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('row', { name: '1 Rex 7 sold' }).waitFor()
  })

  test('the dialog stays until the pet is added', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url)
    await signIn(page, key)
    const release = await holdAnswers(page, '**/trpc/pets.create')
    await enterPet(page, 'Rex', '7')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('dialog').waitFor()
    release()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByText('Rex was added').waitFor()
  })

  test('an answer that is lost costs no second pet, however often it is tried again', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url)
    await signIn(page, key)
    await enterPet(page, 'Rex', '7')
    await page.route('**/trpc/pets.create', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await page.getByRole('button', { name: 'Add', exact: true }).press('Enter')
    await page.getByRole('alert').getByText('The pet may not have been added').waitFor()
    await inspect(page, 'not-added')
    const button = page.getByRole('button', { name: 'Try again' })
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true)
    // Another one meanwhile, and the form closed and opened again.
    const uncertain = page.getByRole('alert').getByText('The pet may not have been added')
    await page.getByRole('textbox', { name: 'Name' }).fill('Tom')
    await page.getByRole('button', { name: 'Try again' }).click()
    await uncertain.waitFor({ state: 'hidden' })
    await uncertain.waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Add a pet' }).click()
    await page.unroute('**/trpc/pets.create')
    await page.getByRole('textbox', { name: 'Name' }).fill('Rex')
    // The same number, written otherwise.
    await page.getByRole('textbox', { name: 'Category' }).fill(' 07 ')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Rex was added').waitFor()
    const pets = await store.pets.list({ limit: 9, cursor: 0n })
    expect(pets.map(({ name }) => name)).toEqual(['Rex', 'Tom'])
  })

  test('what is refused for good is not told as uncertain', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url)
    await signIn(page, key)
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

  test('the message about it shows the pet, and can be closed; the counts know of it', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url)
    await signIn(page, key)
    await page.getByRole('radio', { name: 'all 0', exact: true }).waitFor({ state: 'attached' })
    await enterPet(page, 'Rex', '7')
    await page.keyboard.press('Enter')
    const message = page.getByRole('status').filter({ hasText: 'Rex was added' })
    await page.getByRole('radio', { name: 'all 1', exact: true }).waitFor({ state: 'attached' })
    await message.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('dialog', { name: 'Rex' }).waitFor()
    await page.keyboard.press('Escape')
    await message.getByRole('button', { name: 'Close the message' }).click()
    await message.waitFor({ state: 'hidden' })
  })
})

test('the message about it goes by itself, but not while it is pointed at', async ({ visit }) => {
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

describe('one pet', () => {
  test('is shown by its link, by its id, and by the address of the page', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 3)
    const page = await visit(url)
    await signIn(page, key)
    const dialog = page.getByRole('dialog')
    await page.getByRole('link', { name: 'pet 2' }).click()
    await dialog.getByRole('definition').getByText('pet 2').waitFor()
    await page.reload()
    await dialog.getByRole('definition').getByText('pet 2').waitFor()
    expect(await dialog.getByRole('definition').allTextContents()).toEqual(['2', 'pet 2', '1', 'available'])
    await inspect(page, 'pet')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })

    await page.getByRole('textbox', { name: 'Id of a pet' }).fill(' 3 ')
    await page.keyboard.press('Enter')
    await dialog.getByRole('definition').getByText('pet 3').waitFor()
    await page.goBack()
    await dialog.waitFor({ state: 'hidden' })
    await page.goForward()
    await dialog.waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'hidden' })
    // Closing was going back: nothing piles up in the history.
    expect(page.url()).toBe(`${url}/`)
    expect(await page.evaluate(() => history.state?.isOverList)).not.toBe(true)

    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    const link = page.getByRole('link', { name: 'pet 1' })
    expect(await link.getAttribute('href')).toBe('/?pet=1')
    await Promise.all([page.context().waitForEvent('page'), link.click({ modifiers: ['Control'] })])
    expect(await dialog.count()).toBe(0)
  })

  test('an id without a pet, and one that is none', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url)
    await signIn(page, key)
    await page.getByRole('textbox', { name: 'Id of a pet' }).fill('rex')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('alert').getByText('Enter an id: 1 to 19 digits.').waitFor()
    expect(await describes(page, 'Id of a pet')).toContain('Enter an id: 1 to 19 digits.')
    const field = page.getByRole('textbox', { name: 'Id of a pet' })
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
    await page.getByRole('textbox', { name: 'Id of a pet' }).fill('999')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('heading', { name: 'No pet has the id 999.' }).waitFor()
    await inspect(page, 'missing')
  })
})
