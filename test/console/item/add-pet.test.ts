import { describe, expect } from 'vitest'
import { choose, counting, justAdded, names, showing } from '../../../engine/console/test/browser/list.ts'
import { boxOf, describes, inspect, isFocused, loseResponses } from '../../../engine/console/test/browser/page.ts'
import { addButton, openItem, panel, submitButton } from '../../../engine/console/test/browser/panels.ts'
import { signIn } from '../../../engine/console/test/browser/session.ts'
import type { Route } from '../../../engine/console/test/browser/visit.ts'
import { createKey } from '../../support/petstore.ts'
import { addPet, enterPet, test } from '../console.ts'

describe('adding a pet', () => {
  test('a validation error appears at the field that caused it', async ({ open }) => {
    const { store, page } = await open()
    let requests = 0
    await page.route('**/trpc/pets.create', (route) => {
      requests++
      return route.continue()
    })
    await addButton(page).click()
    const name = page.getByRole('textbox', { name: 'Name' })
    const category = page.getByRole('textbox', { name: 'Category' })
    expect(await isFocused(name)).toBe(true)

    await submitButton(page).click()
    await page.getByText('The name is missing.').waitFor()
    expect(await describes(page, 'Name')).toContain('The name is missing.')
    expect(await describes(page, 'Category')).toContain('The category is missing.')
    expect(await isFocused(name)).toBe(true)
    // The message disappears as soon as the user corrects the value, and that of the other field stays.
    await name.press('R')
    expect(await describes(page, 'Name')).toBe('')
    expect(await name.getAttribute('aria-invalid')).toBeNull()
    expect(await describes(page, 'Category')).toContain('The category is missing.')
    await name.fill('R'.repeat(256))
    await submitButton(page).click()
    await page.getByText('The name has 256 characters. It can have at most 255.').waitFor()

    await name.fill('Rex')
    for (const [text, message] of [
      ['seven', 'The category is not a whole number.'],
      ['9223372036854775808', 'The category has too many digits.'],
    ] as const) {
      await category.fill(text)
      await submitButton(page).click()
      await page.getByText(message, { exact: true }).waitFor()
      expect(await describes(page, 'Category')).toContain(message)
      expect(await describes(page, 'Name')).toBe('')
      expect(await isFocused(category)).toBe(true)
    }
    // Without the service.
    expect(requests).toBe(0)
    await category.fill('-7')
    await submitButton(page).click()
    await page.getByRole('row', { name: '1 Rex Filter by Category -7 Status of Rex: Available' }).waitFor()
    expect(await store.pets.list({ limit: 9, cursor: 0n })).toMatchObject([{ name: 'Rex', categoryId: -7n }])
  })

  test('a negative category can be typed on an iPhone, whose keyboard for numbers has no minus', async ({ open }) => {
    const userAgent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148'
    const { page } = await open(0, { userAgent })
    await addButton(page).click()
    expect(await page.getByRole('textbox', { name: 'Category' }).getAttribute('inputmode')).toBe('text')
  })

  test('above the rate limit, the form says that nothing was added, and counts down', async ({ open }) => {
    const { page } = await open()
    await showing(page, 'No pets')
    const error = {
      json: { message: 'Slow', code: -32_029, data: { code: 'rate_limited', status: 429, message: 'Slow' } },
    }
    const refuse = (route: Route) => route.fulfill({ status: 429, headers: { 'retry-after': '30' }, json: { error } })
    await page.route('**/trpc/pets.create', refuse)
    await addPet(page, 'Rex', '7')
    const alert = panel(page, 'Add pet').getByRole('alert')
    await alert.getByText('The pet was not added').waitFor()
    await alert.getByText(/^Trying again in \d+ s\.$/).waitFor()
    await inspect(page, 'add-rate-limited')
    // A request without a response may have added the pet.
    await page.unroute('**/trpc/pets.create')
    let requests = 0
    await page.route('**/trpc/pets.create', (route) => (requests++ === 0 ? route.abort() : refuse(route)))
    await submitButton(page).click()
    await alert.getByText('The pet may not have been added').waitFor()
  })

  test('the list stays usable beside the form, whose entries are kept until the pet is added', async ({ open }) => {
    const { page } = await open(3, { path: '/?status=sold' })
    await enterPet(page, 'Rex', '7')
    await choose(page, 'All')
    const line = page.locator('.not-added').filter({ hasText: /^The pet is not added yet\s*Rex/ })
    expect(await line.count()).toBe(0)
    await openItem(page, 'pet 2')
    await line.getByRole('button', { name: 'Dismiss' }).click()
    await line.waitFor({ state: 'hidden' })
    await page.keyboard.press('n')
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Rex')
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Pending')
    await page.keyboard.press('Escape')
    await panel(page, 'pet 2').waitFor()
    await page.reload()
    await line.waitFor()
    await inspect(page, 'not-added-yet')
    await line.getByRole('button', { name: 'Show the form' }).click()
    await submitButton(page).click()
    await page.getByRole('row', { name: '4 Rex Filter by Category 7 Status of Rex: Pending' }).waitFor()
    await addButton(page).click()
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('')
  })

  test('the entries stay across a reload, after which a retry adds the pet once', async ({ open }) => {
    const { store, page } = await open()
    const entries = () => page.locator('form.add-item').getByRole('textbox').evaluateAll(valuesOf)
    await enterPet(page, 'Rex', '7')
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Sold')
    await page.reload()
    await expect.poll(entries).toEqual(['Rex', '7'])
    await loseResponses(page, '**/trpc/pets.create')
    await submitButton(page).click()
    await page.getByRole('alert').getByText('The pet may not have been added').waitFor()
    // Before the reload, the form would try again by itself.
    await page.reload()
    await page.unroute('**/trpc/pets.create')
    await page.getByRole('row', { name: '1 Rex Filter by Category 7 Status of Rex: Sold' }).waitFor()
    await submitButton(page).click()
    await justAdded(page).getByRole('link', { name: 'Rex #1' }).waitFor()
    expect(await store.pets.list({ limit: 9, cursor: 0n })).toHaveLength(1)
    await addButton(page).click()
    await page.reload()
    await expect.poll(entries).toEqual(['', ''])
  })

  test('the form starts with the selected status, and a click beside its sheet keeps its entries', async ({ open }) => {
    const { page } = await open(0, { path: '/?status=sold', viewport: { width: 800, height: 600 } })
    await enterPet(page, 'Rex', '7')
    await page.mouse.click(10, 300)
    await submitButton(page).click()
    await page.getByRole('row', { name: '1 Rex Filter by Category 7 Status of Rex: Sold' }).waitFor()
  })

  test('a double click and a held Enter key add one pet, and show no failure', async ({ open }) => {
    const { page } = await open()
    await enterPet(page, 'Rex', '7')
    await submitButton(page).dblclick()
    await panel(page).waitFor({ state: 'hidden' })
    await justAdded(page).getByText('Rex #1 was added.').waitFor()

    await enterPet(page, 'Tom', '7')
    await page.getByLabel('Add another').check()
    await page.getByRole('textbox', { name: 'Name' }).focus()
    for (let presses = 0; presses < 30; presses++) {
      await page.keyboard.down('Enter')
      await page.waitForTimeout(20)
    }
    await page.keyboard.up('Enter')
    await panel(page).getByRole('status').getByText('Tom').waitFor()
    expect(await panel(page).getByRole('alert').count()).toBe(0)
    await showing(page, '1–2 of 2')

    await page.keyboard.press('Escape')
    await addButton(page).click()
    expect(await page.getByLabel('Add another').isChecked()).toBe(true)
  })

  test('retries after a lost response add the pet once', async ({ open }) => {
    const { store, page } = await open()
    await enterPet(page, 'Rex', '7')
    await loseResponses(page, '**/trpc/pets.create')
    await submitButton(page).press('Enter')
    await page.getByRole('alert').getByText('The pet may not have been added').waitFor()
    const button = page.getByRole('button', { name: 'Try again' })
    expect(await isFocused(button)).toBe(true)
    // The attempt for Rex stays open while another pet is tried and the panel is closed and opened again.
    const uncertain = page.getByRole('alert').getByText('The pet may not have been added')
    // Rex is tried again from time to time until the entries change, which they do not while that goes on.
    const name = page.getByRole('textbox', { name: 'Name' })
    await expect.poll(() => name.fill('Tom').then(() => name.inputValue())).toBe('Tom')
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

  test('a pet whose first response was lost is added once if the key is rejected then', async ({ open }) => {
    const { key, store, page } = await open(0, { session: 'form' })
    await enterPet(page, 'Rex', '7')
    let requests = 0
    const error = { json: { message: 'No', code: -32_001, data: { code: 'unauthorized', status: 401, message: 'No' } } }
    await page.route('**/trpc/pets.create', async (route) => {
      if (requests++ > 0) return route.fulfill({ status: 401, json: { error } })
      await route.fetch()
      await route.abort()
    })
    await submitButton(page).click()
    await page.getByRole('alert').getByText('You were signed out').waitFor()
    await page.unroute('**/trpc/pets.create')
    await signIn(page, key)
    await addButton(page).click()
    await submitButton(page).click()
    await justAdded(page).getByRole('link', { name: 'Rex' }).waitFor()
    expect((await store.pets.list({ limit: 9, cursor: 0n })).map(({ name }) => name)).toEqual(['Rex'])
  })

  test('a pet that another API key may have added is added only after a question', async ({ open }) => {
    const { store, page } = await open(0, { session: 'form' })
    await enterPet(page, 'Rex', '7')
    await loseResponses(page, '**/trpc/pets.create')
    await submitButton(page).click()
    await page.getByRole('alert').getByText('The pet may not have been added').waitFor()
    for (const each of await store.apiKeys.list()) await store.apiKeys.revoke(each, new Date())
    await page.getByRole('alert').getByText('You were signed out').waitFor()
    await page.unroute('**/trpc/pets.create')
    await signIn(page, await createKey(store, 'second'))
    if (!new URL(page.url()).searchParams.has('open')) await addButton(page).click()
    await submitButton(page).dblclick()
    await page.getByRole('alert').getByText('Rex may have been added already').waitFor()
    await inspect(page, 'may-have-been-added')
    const count = async () => (await store.pets.list({ limit: 9, cursor: 0n })).length
    expect(await count()).toBe(1)
    // Another entry is no repetition.
    await page.getByRole('textbox', { name: 'Name' }).fill('Tom')
    await page.getByRole('alert').waitFor({ state: 'hidden' })
    await page.getByRole('textbox', { name: 'Name' }).fill('Rex')
    await submitButton(page).click()
    const asked = await page.evaluate(() => performance.now())
    await page.waitForFunction((start) => performance.now() - start > 500, asked)
    await page.getByRole('button', { name: 'Add anyway' }).click()
    await justAdded(page).getByRole('link', { name: 'Rex #2' }).waitFor()
    expect(await count()).toBe(2)
  })

  test('a create that the service rejects is reported as not added, with the id of the request', async ({ open }) => {
    const { log, page } = await open()
    await enterPet(page, 'Rex', '7')
    await page.route('**/trpc/pets.create', (route) =>
      route.continue({ headers: { ...route.request().headers(), 'idempotency-key': 'k'.repeat(300) } }),
    )
    await submitButton(page).click()
    const alert = page.getByRole('alert')
    await alert.getByText('The pet was not added').waitFor()
    expect(await alert.textContent()).not.toContain('Try again')
    expect(log.join()).toContain(await panel(page, 'Add pet').getByRole('code').textContent())
    await inspect(page, 'refused')
  })
})

describe('added pets', () => {
  test('can be undone with a key, which removes them', async ({ open }) => {
    const { page } = await open(3)
    await addPet(page, 'Rex', '7')
    await justAdded(page).getByText('Rex #4 was added.').waitFor()
    await expect.poll(() => names(page)).toEqual(['pet 1', 'pet 2', 'pet 3', 'Rex'])
    await page.keyboard.press('z')
    await page.locator('.edit-notice').getByText('Addition undone: Rex will be removed.').waitFor()
    await expect.poll(() => names(page)).toEqual(['pet 1', 'pet 2', 'pet 3'])
    await page.keyboard.press('z')
    await expect.poll(() => names(page)).toEqual(['pet 1', 'pet 2', 'pet 3', 'Rex'])
    await page.keyboard.press('z')
    await page.locator('.edit-notice').getByText('There is nothing to undo.').waitFor()
  })

  test('are added again with the key when their removal, which undid that, has been sent', async ({ open }) => {
    const { store, page } = await open()
    await addPet(page, 'Rex', '7')
    await justAdded(page).getByText('Rex #1 was added.').waitFor()
    await page.clock.install()
    await page.keyboard.press('z')
    await page.locator('.edit-notice').getByText('Addition undone: Rex will be removed.').waitFor()
    const pets = () => page.clock.runFor(1_000).then(() => store.pets.list({ limit: 9 }))
    const announced = () => page.clock.runFor(1_000).then(() => page.getByRole('status').allTextContents())
    await expect.poll(announced).toContain('Addition undone: Rex was removed.')
    expect(await store.pets.list({ limit: 9 })).toEqual([])
    await page.keyboard.press('z')
    await expect.poll(pets).toMatchObject([{ id: 2n, name: 'Rex' }])
  })

  test('can be undone with the key while the form is open for another one', async ({ open }) => {
    const { page } = await open()
    await enterPet(page, 'Rex', '7')
    await page.getByLabel('Add another').check()
    await submitButton(page).click()
    await page.locator('form').getByRole('status').getByText('#1', { exact: true }).waitFor()
    await page.getByLabel('Add another').press('z')
    await page.locator('.edit-notice').getByText('Addition undone: Rex will be removed.').waitFor()
  })

  test('are in the notice, which a key reaches, also if the list does not show them', async ({ open }) => {
    const { page } = await open(25, { path: '/?status=sold', isLoaded: true })
    const name = 'Rex '.repeat(60).trim()
    await enterPet(page, name, '7')
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Available')
    await submitButton(page).click()
    await justAdded(page)
      .getByRole('link', { name: `${name} #26` })
      .waitFor()
    await page.getByRole('status').getByText(`${name} #26 was added. Undo with Z.`).waitFor()
    await counting(page, 'All 26')
    await expect.poll(() => isFocused(addButton(page))).toBe(true)
    // The filter has no such pet.
    await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
    await page.keyboard.press('m')
    expect(await isFocused(justAdded(page).getByRole('button', { name: 'Undo' }))).toBe(true)
    await inspect(page, 'just-added')
    await justAdded(page).getByRole('link').click()
    await panel(page, name).waitFor()
    await page.keyboard.press('m')
    await page.keyboard.press('Enter')
    await page.locator('.edit-notice').getByText('Addition undone: ').waitFor()
    await counting(page, 'All 25')
  })

  test.for([
    ['a desktop', { width: 1280, height: 800 }],
    ['a phone', { width: 360, height: 740 }],
  ] as const)('can follow one another on %s: the form says what was added', async ([, viewport], { open }) => {
    const { page } = await open(0, { viewport })
    await enterPet(page, 'Rex', '7')
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Sold')
    await page.getByLabel('Add another').check()
    await submitButton(page).click()
    const name = page.getByRole('textbox', { name: 'Name' })
    const box = await boxOf(name)
    await page.locator('form').getByRole('status').getByText('#1', { exact: true }).waitFor()
    expect(await boxOf(name)).toEqual(box)
    expect(await isFocused(name)).toBe(true)
    await page.keyboard.type('Tom')
    await page.keyboard.press('Enter')
    await page.locator('form').getByRole('status').getByText('#2', { exact: true }).waitFor()
    expect(await page.locator('form').getByRole('status').innerText()).toMatch(/Tom\s+#2$/)
    await inspect(page, `added-another-${viewport.width}`)
    await page.keyboard.press('Escape')
    await justAdded(page).getByText('2 pets were added.').waitFor()
    await expect.poll(() => names(page)).toEqual(['Rex', 'Tom'])
    expect(await page.locator('.item-list .choice').allTextContents()).toEqual(['Sold', 'Sold'])
    await inspect(page, `just-added-${viewport.width}`)
    await justAdded(page).getByRole('button', { name: 'Show them' }).waitFor()
    await justAdded(page).getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => names(page)).toEqual([])
  })
})

function valuesOf(fields: Element[]): string[] {
  return fields.map((field) => (field instanceof HTMLInputElement ? field.value : ''))
}
