import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { addPets } from '../../support/database.ts'
import {
  addButton,
  holdRequests,
  inspect,
  isFocused,
  names,
  panel,
  searchField,
  showing,
  signIn,
  startConsole,
  test,
  type Visit,
} from '../console.ts'

test('the palette opens pets by name and by id, and searches', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 25)
  await store.pets.create({ name: 'Molly', categoryId: 7n, status: 'sold' })
  const page = await visit(url, { key })
  await showing(page, '1–20 of 26')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('moll')
  await option(page, /^Molly/).waitFor()
  expect(await option(page, /^Molly/).innerText()).toMatch(/Molly\s+#26\s+Sold/)
  await inspect(page, 'palette')
  await expect.poll(() => selected(page)).toBe('Molly')
  expect(
    await option(page, /^Molly/)
      .locator('mark')
      .innerText(),
  ).toBe('Moll')
  await page.keyboard.press('Enter')
  await panel(page, 'Molly').waitFor()
  expect(await palette(page).count()).toBe(0)
  await expect.poll(() => isFocused(panel(page))).toBe(true)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('17')
  await page.keyboard.press('Enter')
  await panel(page, 'pet 17').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('Mol')
  await option(page, /^Molly/).waitFor()
  expect(await option(page, /./).allInnerTexts()).toEqual([expect.stringMatching(/^Molly/), 'Search for “Mol”'])
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => selected(page)).toBe('Search for “Mol”')
  await page.keyboard.press('Enter')
  await showing(page, '1–1 of 1')
  expect(await names(page)).toEqual(['Molly'])
  expect(await searchField(page).inputValue()).toBe('Mol')
})

test('the palette runs the commands of the page', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 25)
  const page = await visit(url, { key, colorScheme: 'light', permissions: ['clipboard-read', 'clipboard-write'] })
  await showing(page, '1–20 of 25')
  await run(page, 'status sold')
  await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
  await run(page, 'all pets')
  await showing(page, '1–20 of 25')
  await run(page, 'newest')
  await expect.poll(async () => (await names(page))[0]).toBe('pet 25')
  await run(page, 'dark')
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset.mantineColorScheme)).toBe('dark')
  await run(page, 'curl')
  await palette(page).getByRole('status').getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`curl '${url}/trpc/pets.search?input=`)
  await page.keyboard.press('Escape')
  await palette(page).waitFor({ state: 'hidden' })
  await page.goto(`${url}/?pet=3`)
  await panel(page, 'pet 3').waitFor()
  await run(page, 'curl')
  await palette(page).getByRole('status').getByText('Copied').waitFor()
  // Not the deprecated operation.
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`curl '${url}/v1/pets?cursor=2&limit=1'`)
  await page.keyboard.press('Escape')
  await palette(page).waitFor({ state: 'hidden' })

  for (const [command, dialog] of [
    ['many', 'Add many pets'],
    ['export', 'Export pets'],
    ['request', 'Request'],
    ['keyboard', 'Keyboard shortcuts'],
  ] as const) {
    await run(page, command)
    await page.getByRole('dialog', { name: dialog }).waitFor()
    // The palette is not above another dialog.
    await page.keyboard.press('Control+k')
    expect(await palette(page).count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  }
  await run(page, 'add pet')
  await panel(page, 'Add pet').waitFor()
  await expect.poll(() => isFocused(page.getByRole('textbox', { name: 'Name' }))).toBe(true)
  await run(page, 'sign out')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('Enter opens the first pet that is found, also if it is pressed before the service responds', async ({
  visit,
}) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 25)
  await store.pets.create({ name: 'Molly', categoryId: 7n, status: 'sold' })
  const page = await visit(url, { key })
  await showing(page, '1–20 of 26')
  const respond = await holdRequests(page, '**/trpc/pets.search**')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('moll')
  await page.keyboard.press('Enter')
  await option(page, 'Search for “moll”').waitFor()
  respond()
  await panel(page, 'Molly').waitFor()
})

test('Enter runs the command that is found, also if it is pressed before the options are loaded', async ({ visit }) => {
  const { page, load } = await withoutOptions(visit)
  await run(page, 'status sold')
  load()
  await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
  expect(await palette(page).count()).toBe(0)
})

test('another key after Enter keeps the palette open', async ({ visit }) => {
  const { page, load } = await withoutOptions(visit)
  await run(page, 'status sold')
  await page.keyboard.press('Backspace')
  load()
  await expect.poll(() => selected(page)).toBe('Status: Sold')
  expect(new URL(page.url()).search).toBe('')
})

test('the palette turns pages and changes their size and order', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 65)
  const page = await visit(url, { key })
  await showing(page, '1–20 of 65')
  for (const [command, range] of [
    ['next page', '21–40 of 65'],
    ['next', '41–60 of 65'],
    ['previous', '21–40 of 65'],
    ['first', '1–20 of 65'],
    ['page size 100', '1–65 of 65'],
  ] as const) {
    await run(page, command)
    await showing(page, range)
  }
  await page.keyboard.press('Control+k')
  await page.keyboard.type('page')
  expect(await option(page, /^(Next|Previous|First)/).count()).toBe(0)
  await page.keyboard.press('Escape')
  await run(page, 'newest')
  await expect.poll(async () => (await names(page))[0]).toBe('pet 65')
  await run(page, 'oldest')
  await expect.poll(async () => (await names(page))[0]).toBe('pet 1')
})

test('the palette copies and clears the selection', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  const page = await visit(url, { key, permissions: ['clipboard-read', 'clipboard-write'] })
  await page.getByRole('checkbox', { name: 'Select pet 2', exact: true }).check()
  for (const [format, part] of [
    ['json', '"name":"pet 2"'],
    ['csv', ',pet 2,'],
    ['curl', 'cursor=1&limit=1'],
  ] as const) {
    await run(page, `selection ${format}`)
    await palette(page).getByRole('status').getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(part)
    await page.keyboard.press('Escape')
  }
  await page.keyboard.press('Control+k')
  await palette(page).getByRole('group', { name: '1 selected' }).waitFor()
  await inspect(page, 'palette-selection')
  await page.keyboard.type('clear')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: '1 selected' }).waitFor({ state: 'hidden' })
  await page.keyboard.press('Control+k')
  expect(await palette(page).getByRole('group').count()).toBe(3)
})

test('the palette opens the request log and the account menu', async ({ visit }) => {
  const { url, key } = await startConsole()
  const page = await visit(url, { key })
  await showing(page, 'No pets')
  for (const command of ['log', 'requests']) {
    await run(page, command)
    await page.getByRole('dialog', { name: 'Requests of this tab' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  }
  await run(page, 'account')
  const menu = page.getByRole('dialog', { name: 'Account' })
  await menu.getByText('Never').waitFor()
  await page.keyboard.press('Tab')
  expect(await isFocused(menu.getByRole('button', { name: 'Colors: system' }))).toBe(true)
})

test('a search from the palette that finds nothing leaves the focus on the page', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  const page = await visit(url, { key })
  await page.getByRole('link', { name: 'pet 2' }).focus()
  await run(page, 'zzz')
  await page.getByRole('heading', { name: 'No pets found' }).waitFor()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Pets')
})

test('the palette opens at once, and keeps what is typed while it is loaded', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  const page = await visit(url)
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route('**/assets/options-*.js', async (route) => {
    await promise
    await route.continue()
  })
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  await showing(page, '1–3 of 3')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('add p')
  expect(await field(page).inputValue()).toBe('add p')
  expect(await palette(page).getByRole('option').count()).toBe(0)
  await inspect(page, 'palette-loading')
  resolve()
  await option(page, 'Add pet').waitFor()
  await expect.poll(() => selected(page)).toBe('Add pet')
})

test('the palette is a combobox with a list, and returns the focus', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  for (const viewport of [
    { width: 360, height: 740 },
    { width: 1280, height: 800 },
  ]) {
    const page = await visit(url, { key, viewport, colorScheme: 'dark' })
    await showing(page, '1–3 of 3')
    await addButton(page).focus()
    await page.keyboard.press('Control+k')
    await option(page, 'Add pet').waitFor()
    const box = await palette(page).boundingBox()
    expect(await isFocused(field(page))).toBe(true)
    await inspect(page, `palette-all-${viewport.width}`)
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => selected(page)).toBe('Sign out in all tabs')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => selected(page)).toBe('Add pet')
    await page.keyboard.type('zzz')
    await option(page, 'Search for “zzz”').waitFor()
    const small = await palette(page).boundingBox()
    expect([small?.x, small?.y, small?.width]).toEqual([box?.x, box?.y, box?.width])
    expect(small?.height).toBeLessThan((box?.height ?? 0) / 2)
    await page.keyboard.press('Control+k')
    await palette(page).waitFor({ state: 'hidden' })
    await expect.poll(() => isFocused(addButton(page))).toBe(true)
    await page.keyboard.press('Control+k')
    await page.mouse.click(5, viewport.height - 5)
    await palette(page).waitFor({ state: 'hidden' })
  }
})

function palette(page: Page): Locator {
  return page.getByRole('dialog', { name: 'Find pets and commands' })
}

async function run(page: Page, command: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.keyboard.type(command)
  await page.keyboard.press('Enter')
}

/** A page whose options are not loaded before `load` is called. */
async function withoutOptions(visit: Visit): Promise<{ page: Page; load: () => void }> {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  const page = await visit(url)
  const load = await holdRequests(page, '**/options-*.js')
  await signIn(page, key)
  await showing(page, '1–3 of 3')
  return { page, load }
}

function field(page: Page): Locator {
  return palette(page).getByRole('combobox')
}

function option(page: Page, name: string | RegExp): Locator {
  return palette(page).getByRole('option', typeof name === 'string' ? { name, exact: true } : { name })
}

/** The text of the option to which the field points. */
async function selected(page: Page): Promise<string | undefined> {
  await option(page, /./).first().waitFor()
  return page.evaluate(() => {
    const id = document.activeElement?.getAttribute('aria-activedescendant')
    return document.getElementById(id ?? '')?.querySelector('.palette-label')?.textContent ?? undefined
  })
}
