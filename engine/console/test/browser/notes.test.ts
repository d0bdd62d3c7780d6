import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { names, showing } from './list.ts'
import { test } from './notes.ts'
import { beDeveloper, closeByEscape, describes, inspect, isFocused } from './page.ts'
import { openItem, panel, pasteRows } from './panels.ts'
import { signIn } from './session.ts'

test('a product of two resources has a page for each, with its own path in the commands', async ({ open }) => {
  const { store, page } = await open(0, { session: 'form', timezoneId: 'Asia/Kathmandu' })
  const entry = (name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name })
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  expect(await entry('Notes').getAttribute('aria-current')).toBe('page')

  await entry('Books').click()
  await page.getByRole('heading', { name: 'No books yet' }).waitFor()
  expect(await entry('Notes').getAttribute('aria-current')).toBeNull()
  expect(await entry('Books').getAttribute('aria-current')).toBe('page')
  expect(await page.title()).toBe('Books · Notes')
  expect(new URL(page.url()).search).toBe('?resource=books')
  await page.locator('.command', { hasText: '/v1/team/all-books' }).waitFor()
  await inspect(page, 'books')

  await page.keyboard.press('n')
  await panel(page, 'Add book').waitFor()
  await page.keyboard.type('Garden')
  await panel(page).getByRole('combobox', { name: 'Place' }).selectOption('false')
  await page.keyboard.press('Enter')
  await openItem(page, 'Garden')
  await beDeveloper(page)
  await panel(page).getByText('Request and JSON').click()
  await panel(page).locator('.command', { hasText: '/v1/team/all-books?limit=1' }).waitFor()
  await page.reload()
  await panel(page, 'Garden').waitFor()

  await entry('Notes').click()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  expect(await panel(page).count()).toBe(0)
  await page.keyboard.press('n')
  const form = panel(page, 'Add note')
  await form.getByRole('textbox', { name: 'Text', exact: true }).fill('Call Ann')
  await form.getByRole('textbox', { name: 'Priority' }).fill('1')
  await form.getByLabel('Due').fill('2026-11-20T08:30:00')
  await form.getByRole('textbox', { name: 'Book' }).fill('1')
  await inspect(page, 'add-note')
  await page.keyboard.press('Enter')
  await showing(page, '1 of 1')
  expect(await store.notes.get(1n)).toMatchObject({ bookId: 1n, dueAt: new Date('2026-11-20T02:45:00.000Z') })

  // The form had an entry in the history, too.
  await page.goBack()
  await page.goBack()
  await panel(page, 'Garden').waitFor()
  expect(await entry('Books').getAttribute('aria-current')).toBe('page')
})

test('one of several fields is set for many notes, also to nothing', async ({ start }) => {
  const { key, store, show } = await start()
  await store.books.create({ title: 'Garden', isLent: false })
  for (const priority of [1n, 1n, 3n])
    await store.notes.create({ body: 'Call Ann', priority, state: 'open', bookId: 1n })
  const page = await show({ session: 'none' })
  await signIn(page, key)
  await showing(page, '1–3 of 3')
  await page.getByRole('checkbox', { name: 'Select all notes of this page' }).check()
  for (const [field, entered, plan, done] of [
    ['Priority', '3', '2 notes will change, 1 will not.', 'Priority of 2 notes is now 3, 1 had it already.'],
    ['Book', '', '3 notes will have no book.', 'Book of 3 notes is now nothing.'],
  ] as const) {
    await page.getByRole('button', { name: 'Set a value' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set a value' })
    await dialog.getByRole('combobox', { name: 'Field' }).selectOption(field)
    await dialog.getByRole('textbox', { name: field }).fill(entered)
    await dialog.getByText(plan).waitFor()
    await inspect(page, `set-${field}`)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Last change' }).getByText(done).waitFor()
  }
  expect(await store.notes.get(2n)).toMatchObject({ priority: 3n })
  expect((await store.notes.get(2n))?.bookId).toBeUndefined()
})

test('a change that a rule refuses is no change of somebody else', async ({ open }) => {
  const { page } = await open([{ body: 'Call Ann', priority: 1n, state: 'open' }], {
    path: '/?note=1',
    session: 'form',
  })
  await panel(page, 'Call Ann').getByRole('button', { name: 'Edit the book' }).click()
  await page.keyboard.type('99')
  await page.keyboard.press('Enter')
  const notice = page.getByRole('region', { name: 'Not saved' })
  await notice.getByText('Call Ann was not changed. The bookId refers to something that is missing.').waitFor()
  expect(await notice.getByRole('button', { name: 'Use mine' }).count()).toBe(0)
})

test('the page of a resource with a flag and without a search does all that the other one does', async ({ start }) => {
  const { url, store, show } = await start()
  for (let index = 0; index < 12; index++) {
    await store.books.create({ title: `lent ${index}`, isLent: true })
    await store.books.create({ title: `here ${index}`, isLent: false, pages: 2n ** 62n, shelf: 'North' })
  }
  const path = '/?resource=books'
  const page = await show({ path, session: 'form', permissions: ['clipboard-read', 'clipboard-write'] })
  await showing(page, '1–20, more follow')
  expect(await page.getByRole('columnheader').allTextContents()).toEqual(['Id', 'Title', 'Pages', 'Place', 'Added'])
  expect(await page.getByRole('combobox', { name: 'Order' }).count()).toBe(0)
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('Add a new book').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.type('/tea')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Enter 1 to 19 digits.').waitFor()
  expect(await describes(page, 'Go to id')).toContain('Enter 1 to 19 digits.')
  expect(await isFocused(page.getByRole('textbox', { name: 'Go to id' }))).toBe(true)
  await inspect(page, 'invalid-id')
  await page.keyboard.type('23')
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.keyboard.press('Enter')
  await panel(page, 'lent 11').waitFor()
  await page.goto(url + path)
  await showing(page, '1–20, more follow')
  await page.keyboard.press(']')
  await showing(page, '21–24')
  await page.getByRole('combobox', { name: 'Books per page' }).selectOption('50')
  await page.keyboard.press('[')
  await showing(page, '1–24')

  await page.getByRole('radiogroup', { name: 'Place' }).getByRole('radio', { name: 'Here' }).check()
  await showing(page, '1–12')
  expect(new URL(page.url()).searchParams.get('isLent')).toBe('false')
  await page.reload()
  await showing(page, '1–12')
  expect((await names(page))[0]).toBe('here 0')
  await openItem(page, 'here 1')
  const added = expect.stringMatching(/20\d\d/)
  const shown = await panel(page).getByRole('definition').allTextContents()
  expect(shown).toEqual(['4', 'here 1', String(2n ** 62n), 'Here', 'North', added])
  await closeByEscape(panel(page))

  await page.keyboard.press('n')
  const form = panel(page, 'Add book')
  expect(await form.getByRole('combobox', { name: 'Place' }).inputValue()).toBe('false')
  await page.keyboard.type('here 1')
  await page.keyboard.press('Enter')
  await form.getByText('Another one has the same title.').waitFor()
  await form.getByRole('textbox', { name: 'Title', exact: true }).fill('West')
  await page.keyboard.press('Enter')
  await panel(page).waitFor({ state: 'hidden' })
  expect((await store.books.list({ limit: 99, isLent: false })).at(-1)).toMatchObject({ title: 'West' })

  await page.getByRole('button', { name: 'Add many' }).click()
  const sheet = page.getByRole('dialog', { name: 'Add many books' })
  await pasteRows(sheet, 'title,pages,isLent,shelf\nEast,3,true,\nFar,4,perhaps,')
  await sheet.getByText('The place is not one of true, false.').waitFor()
  await sheet.getByRole('button', { name: 'Add 1 book' }).click()
  await sheet.getByRole('button', { name: 'View books' }).click()
  expect((await store.books.list({ limit: 99, isLent: true })).at(-1)).toMatchObject({ title: 'East', pages: 3n })

  await page.getByRole('radiogroup', { name: 'Place' }).getByRole('radio', { name: 'Here' }).check()
  await page.getByRole('button', { name: 'Export' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog', { name: 'Export books' }).getByRole('button', { name: 'CSV' }).click(),
  ])
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n')
  expect(lines[0]).toBe('\ufeffid,title,pages,isLent,shelf,author,addedAt')
  expect(lines[1]).toMatch(/^2,here 0,4611686018427387904,false,North,,20\d\d-.*Z$/)
  expect(lines).toHaveLength(15)
})
