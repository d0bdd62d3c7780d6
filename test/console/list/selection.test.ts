import { expect } from 'vitest'
import { choose, pageButton, searchField, showing, turnPage } from '../../../engine/console/test/browser/list.ts'
import { closeByEscape, inspect, isFocused, press } from '../../../engine/console/test/browser/page.ts'
import { panel, panelsLoaded } from '../../../engine/console/test/browser/panels.ts'
import type { Locator, Page } from '../../../engine/console/test/browser/visit.ts'
import { test } from '../console.ts'

test('rows are selected by clicks, ranges and keys, also on several pages, and copied', async ({ open }) => {
  const { page } = await open(45, { permissions: ['clipboard-read', 'clipboard-write'] })
  await showing(page, '1–20 of 45')
  await box(page, 'pet 2').click()
  await box(page, 'pet 4').click({ modifiers: ['Shift'] })
  expect(await isFocused(box(page, 'pet 4'))).toBe(true)
  await showing(page, '3 selected')
  expect(await panel(page).count()).toBe(0)

  await page.getByRole('link', { name: 'pet 4', exact: true }).press('x')
  await showing(page, '2 selected')
  await press(page, 'j', 'Space')
  await showing(page, '3 selected')
  await turnPage(page, 'Next', '21–40 of 45')
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0)
  await box(page, 'pet 40').check()
  await showing(page, '4 selected')

  const bar = page.getByRole('region', { name: '4 selected' })
  const copyAs = async (format: string) => {
    await bar.getByRole('button', { name: /^Cop/ }).click()
    await page.getByRole('menuitem', { name: format }).click()
  }
  await copyAs('JSON')
  await expect
    .poll(async () => JSON.parse(await clipboard(page)).map(({ id }: { id: number }) => id))
    .toEqual([2, 3, 5, 40])
  await bar.getByRole('button', { name: 'Copied' }).click()
  await inspect(page, 'copy-menu')
  await page.keyboard.press('1')
  await expect.poll(() => clipboard(page)).toBe('2\n3\n5\n40')
  await copyAs('CSV')
  await expect
    .poll(async () => (await clipboard(page)).split('\r\n').slice(0, 2))
    .toEqual(['id,name,categoryId,status', '2,pet 2,1,available'])
  await bar.getByRole('button', { name: 'Clear the selection' }).click()
  await page.getByRole('status').getByText('0 selected').waitFor({ state: 'attached' })
  await page.getByRole('region', { name: /selected$/ }).waitFor({ state: 'hidden' })
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0)

  await box(page, 'all pets of this page').check()
  await showing(page, '20 selected')
  await box(page, 'pet 21').uncheck()
  await showing(page, '19 selected')
  await box(page, 'all pets of this page').check()
  await showing(page, '20 selected')
  await box(page, 'all pets of this page').uncheck()
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0)
})

test('a page has 20, 50 or 100 pets, and keeps its place', async ({ open }) => {
  const { page } = await open(230)
  const size = page.getByRole('combobox', { name: 'Pets per page' })
  await turnPage(page, 'Next', '21–40 of 230')
  await size.selectOption('100')
  await showing(page, '21–120 of 230')
  expect(await page.locator('.item-list tbody a').count()).toBe(100)
  await page.reload()
  await showing(page, '21–120 of 230')
  await turnPage(page, 'Next', '121–220 of 230')
  await turnPage(page, 'Next', '221–230 of 230')
  expect(await pageButton(page, 'Next').getAttribute('aria-disabled')).toBe('true')
  for (const shown of ['121–220 of 230', '21–120 of 230', '1–100 of 230']) {
    await turnPage(page, 'Previous', shown)
  }
  await size.selectOption('50')
  await showing(page, '1–50 of 230')
  expect(new URL(page.url()).search).toBe('?size=50')
  await page.goBack()
  await showing(page, '1–100 of 230')
})

test('the size of a page and the selection stay with the newest order, a search and a filter', async ({ open }) => {
  const { store, page } = await open(100, { path: '/?size=100' })
  const next = pageButton(page, 'Next')
  await showing(page, '1–100 of 100')
  expect(await next.getAttribute('aria-disabled')).toBe('true')
  await page.getByRole('columnheader').getByRole('button', { name: 'Id' }).click()
  await page.locator('tbody tr').first().getByText('pet 100').waitFor()
  await showing(page, '1–100 of 100')
  // The API returns at most 100 items, so another request shows that none follows.
  expect(await next.getAttribute('aria-disabled')).toBe('true')

  for (let id = 101; id <= 130; id++)
    await store.pets.create({ name: `pet ${id}`, categoryId: 1n, status: 'available' })
  await page.reload()
  await showing(page, '1–100 of 130')
  await box(page, 'pet 100').check()
  await next.click()
  await showing(page, '101–130 of 130')
  expect(new URL(page.url()).search).toBe('?order=newest&cursor=31&size=100')
  await box(page, 'pet 2').check()
  await showing(page, '2 selected')

  const search = searchField(page)
  await search.fill('pet')
  await showing(page, '1–100 of 130')
  await page.getByRole('region', { name: '2 selected' }).waitFor()
  await next.click()
  await showing(page, '101–130 of 130')
  await turnPage(page, 'Previous', '1–100 of 130')
  // The pet with this id, and all pets of this category.
  await search.fill('1')
  await page.locator('tbody tr').first().getByText('pet 1', { exact: true }).waitFor()
  expect(await page.locator('.item-list tbody a').count()).toBe(100)
  await next.click()
  await page.getByRole('region', { name: '2 selected' }).waitFor()
  await search.fill('')
  await showing(page, '1–100 of 130')
  await choose(page, 'Available')
  await showing(page, '1–100 of 130')
  await page.getByRole('region', { name: '2 selected' }).waitFor()
  expect(new URL(page.url()).search).toBe('?status=available&order=newest&size=100')
})

test('keys extend the selection and clear it, and the focus stays in the page', async ({ open }) => {
  const { page } = await open(25, { path: '/?search=pet' })
  await showing(page, '1–20 of 25')
  const selected = async () => (await page.getByRole('checkbox', { checked: true }).all()).length
  // Also from a checkbox.
  await box(page, 'pet 1').focus()
  await press(page, 'Space', 'Shift+ArrowDown')
  await showing(page, '2 selected')
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Pets', exact: true }).focus()
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press('j')
  await press(page, 'Shift+ArrowDown', 'Shift+ArrowDown')
  await showing(page, '3 selected')
  await page.keyboard.press('Shift+ArrowUp')
  await showing(page, '2 selected')
  await press(page, 'Shift+ArrowUp', 'Shift+ArrowUp')
  await page.getByRole('region', { name: '2 selected' }).waitFor()
  expect(await focusedText(page)).toBe('pet 2')
  // The key clears the selection before the search.
  await page.keyboard.press('Escape')
  await expect.poll(selected).toBe(0)
  expect([await focusedText(page), new URL(page.url()).search]).toEqual(['pet 2', '?search=pet'])
  await page.keyboard.press('Escape')
  await showing(page, '1–20 of 25')

  for (const clear of [(button: Locator) => button.click(), (button: Locator) => button.press('Enter')]) {
    await box(page, 'pet 3').check()
    await clear(page.getByRole('button', { name: 'Clear the selection' }))
    await page.getByRole('region', { name: /selected$/ }).waitFor({ state: 'hidden' })
    expect(await focusedText(page)).toBe('pet 3')
  }
})

test('the bar counts the selected pets of other pages, and one can be removed and kept again', async ({ open }) => {
  const { store, page } = await open(25)
  await showing(page, '1–20 of 25')
  await box(page, 'pet 3').check()
  const bar = page.getByRole('region', { name: '1 selected' })
  await bar.waitFor()
  expect(await bar.getByText('not on this page').count()).toBe(0)
  await page.keyboard.press(']')
  await bar.getByText('1 not on this page').waitFor()
  await bar.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('pet 3 will be removed.').first().waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('pet 3 stays').first().waitFor()
  expect(await store.pets.get(3n)).toBeDefined()
})

test('keys change and remove all selected pets, or those of the panel alone', async ({ open }) => {
  const { page } = await open(5, { isLoaded: true })
  await page.getByRole('link', { name: 'pet 1' }).focus()
  await press(page, 'Shift+ArrowDown', 'Shift+ArrowDown', 's', '3')
  await page.getByRole('region', { name: 'Last change' }).getByText('3 pets are sold.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: '3 selected' }).waitFor({ state: 'hidden' })
  // One that is selected is no reason to leave the focused one.
  await box(page, 'pet 5').check()
  await page.getByRole('link', { name: 'pet 1' }).press('Delete')
  await page.getByRole('region', { name: 'Last change' }).getByText('pet 1 will be removed.').waitFor()
  await box(page, 'pet 4').check()
  await page.getByRole('link', { name: 'pet 2' }).press('Delete')
  const dialog = page.getByRole('dialog', { name: 'Remove 2 pets?' })
  expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual(['pet 4 #4', 'pet 5 #5'])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.keyboard.press('Enter')
  await panel(page, 'pet 2').waitFor()
  await page.keyboard.press('Delete')
  await page.getByRole('region', { name: 'Last change' }).getByText('pet 2 will be removed.').waitFor()
  await press(page, 'Escape', '?')
  await page.getByText('Remove the pet, or several selected pets').waitFor()
  const help = (action: string) =>
    page.locator('.shortcuts > div', { hasText: action }).locator('kbd').allTextContents()
  expect(await help('Set the status of the pet, or of several selected pets')).toEqual(['s'])
  expect(await help('Choose a status in the menu')).toEqual(['1', '2', '3'])
  expect(await help('Open the pet')).toEqual(['Enter'])
  await inspect(page, 'help-of-the-pets')
})

test('a status that all selected pets have already changes nothing, and says so', async ({ open }) => {
  const { page } = await open(2, { isLoaded: true })
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  await page.getByRole('button', { name: 'Set status' }).click()
  await page.getByRole('menuitemradio', { name: 'Available' }).click()
  const notice = page.getByRole('region', { name: 'Last change' })
  await notice.getByText('2 pets already have this value.').waitFor()
  expect(await notice.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  await page.getByRole('region', { name: '2 selected' }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('a pet that has the status already, but is no longer in the list, does not stay selected', async ({ open }) => {
  const { store, page } = await open(4, { path: '/?status=available', isLoaded: true })
  await page.getByRole('link', { name: 'pet 1' }).focus()
  await press(page, 's', '3')
  await expect.poll(async () => (await store.pets.get(1n))?.status).toBe('sold')
  await page.getByRole('link', { name: 'pet 1' }).focus()
  await press(page, 'Shift+ArrowDown', 's', '3')
  await expect.poll(async () => (await store.pets.get(2n))?.status).toBe('sold')
  await page.getByRole('region', { name: /selected$/ }).waitFor({ state: 'hidden' })
})

test('a pet that is removed is no longer selected', async ({ open }) => {
  const { page } = await open(2)
  await page.getByRole('link', { name: 'pet 1' }).press('x')
  await page.getByText('1 selected').waitFor()
  await page.keyboard.press('Delete')
  await page.getByRole('region', { name: 'Last change' }).getByText('pet 1 will be removed.').waitFor()
  await page.getByText('1 selected').waitFor({ state: 'hidden' })
})

test('the keys move on to the next page and back, with the focus and in the panel', async ({ open }) => {
  const { url, page } = await open(45)
  await page.getByRole('link', { name: 'pet 20', exact: true }).press('j')
  await showing(page, '21–40 of 45')
  await expect.poll(() => focusedText(page)).toBe('pet 21')
  await page.keyboard.press('k')
  await showing(page, '1–20 of 45')
  await expect.poll(() => focusedText(page)).toBe('pet 20')
  await page.keyboard.type('/40')
  await page.keyboard.press('Enter')
  await panel(page, 'pet 40').waitFor()
  await page.goto(`${url}/?cursor=20&pet=40`)
  await showing(page, '20 pets, from id 21')
  await panel(page, 'pet 40').waitFor()
  await page.keyboard.press('j')
  await panel(page, 'pet 41').waitFor()
  await showing(page, '41–45 of 45')
  await page.keyboard.press('k')
  await panel(page, 'pet 40').waitFor()
  await page.keyboard.press('j')
  for (let id = 42; id <= 45; id++) {
    await page.keyboard.press('j')
    await panel(page, `pet ${id}`).waitFor()
  }
  await page.keyboard.press('j')
  await panel(page, 'pet 45').waitFor()
  // From a link, the previous page is not known.
  await page.goto(`${url}/?cursor=20&pet=21`)
  await panel(page, 'pet 21').waitFor()
  await page.getByRole('link', { name: 'pet 21', exact: true }).waitFor()
  await page.keyboard.press('k')
  await panel(page, 'pet 20').waitFor()
})

test('the keys for another page keep the focus in the rows, and x selects also from the panel', async ({ open }) => {
  const { page } = await open(45)
  await page.getByRole('link', { name: 'pet 5', exact: true }).focus()
  for (const [each, first] of [
    [']', 'pet 21'],
    [']', 'pet 41'],
    ['[', 'pet 21'],
  ] as const) {
    await page.keyboard.press(each)
    await expect.poll(() => focusedText(page)).toBe(first)
  }
  await page.keyboard.press('Enter')
  await expect.poll(() => isFocused(panel(page, 'pet 21'))).toBe(true)
  await page.keyboard.press('x')
  await showing(page, '1 selected')
  expect(await box(page, 'pet 21').isChecked()).toBe(true)
  // Space presses the button that has the focus, and selects nothing.
  await panel(page).getByRole('button', { name: 'Next pet' }).press('Space')
  await panel(page, 'pet 22').waitFor()
  await page.getByRole('region', { name: '1 selected' }).waitFor()
})

test('a key edits the name of the focused row in the panel, once', async ({ start }) => {
  const { show } = await start(3)
  for (const width of [1_280, 800]) {
    const page = await show({ viewport: { width, height: 800 } })
    await showing(page, '1–3 of 3')
    await panelsLoaded(page)
    const field = page.getByRole('textbox', { name: 'Name' })
    await page.getByRole('link', { name: 'pet 2' }).press('e')
    await expect.poll(() => isFocused(field)).toBe(true)
    await closeByEscape(field)
    // A sheet is above the form.
    if (width === 1_280) await press(page, 'n', 'Escape')
    await page.getByRole('heading', { level: 2, name: 'pet 2' }).waitFor()
    expect(await field.count()).toBe(0)
    await closeByEscape(page.getByRole('heading', { level: 2 }))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Edit the name' }).waitFor()
    expect(await field.count()).toBe(0)
  }
})

function focusedText(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => document.activeElement?.textContent)
}

/** The checkbox of a row, or of the page. */
function box(page: Page, name: string) {
  return page.getByRole('checkbox', { name: `Select ${name}`, exact: true })
}

function clipboard(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText())
}
