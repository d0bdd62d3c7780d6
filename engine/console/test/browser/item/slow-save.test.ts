import { describe, expect } from 'vitest'
import { choose, justAdded, pageButton, searchField, showing } from '../list.ts'
import { enterNote, test } from '../notes.ts'
import { closeByEscape, holdRequests, inspect, isFocused } from '../page.ts'
import { addButton, openItem, panel, submitButton } from '../panels.ts'
import type { Page } from '../visit.ts'

describe('while a note is being saved', () => {
  test.for([
    { action: 'going back', run: (page: Page) => page.goBack(), place: '?state=open' },
    { action: 'a filter', run: (page: Page) => choose(page, 'Waiting'), place: '?state=waiting' },
    {
      action: 'the next page',
      run: (page: Page) => pageButton(page, 'Next').click(),
      place: '?state=open&cursor=20',
    },
    { action: 'a search', run: (page: Page) => searchField(page).fill('note'), place: '?state=open&search=note' },
    {
      action: 'a note',
      run: (page: Page) => page.getByRole('link', { name: 'note 6', exact: true }).click(),
      place: '?state=open&note=6',
    },
    { action: 'the Escape key', run: (page: Page) => page.keyboard.press('Escape'), place: '?state=open' },
  ])('$action works, and the place stays once the note is added', async ({ run, place }, { open }) => {
    const { page } = await open(30)
    await choose(page, 'Open')
    await showing(page, '1–20 of 30')
    const release = await holdRequests(page, '**/trpc/notes.create')
    await enterNote(page, 'Tea', '7')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Adding…' }).waitFor()
    await run(page)
    await expect.poll(() => new URL(page.url()).search.replace('&open=add', '')).toBe(place)
    release()
    await justAdded(page).getByRole('link', { name: 'Tea #31' }).waitFor()
    await panel(page, 'Add note').waitFor({ state: 'hidden' })
    expect(new URL(page.url()).search).toBe(place)
    // The saved entries cannot be sent again.
    await addButton(page).click()
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('')
  })

  test('the focus stays where the user types, also if the form stays open for another note', async ({ open }) => {
    const { page } = await open(3)
    await enterNote(page, 'Tea', '7')
    await page.getByLabel('Add another').check()
    const release = await holdRequests(page, '**/trpc/notes.create')
    await submitButton(page).click()
    await page.getByRole('button', { name: 'Adding…' }).waitFor()
    await searchField(page).fill('no')
    release()
    await submitButton(page).waitFor()
    expect(await isFocused(searchField(page))).toBe(true)
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('')
  })

  test('the form that is opened again shows what it will send for the next note', async ({ open }) => {
    const { page } = await open()
    const release = await holdRequests(page, '**/trpc/notes.create')
    await enterNote(page, 'Tea', '7')
    await page.getByRole('checkbox', { name: 'Add another' }).check()
    await submitButton(page).click()
    await page.getByRole('button', { name: 'Adding…' }).waitFor()
    await closeByEscape(panel(page))
    await page.keyboard.press('n')
    const [name, priority] = ['Text', 'Priority'].map((each) => page.getByRole('textbox', { name: each }))
    expect(await name?.inputValue()).toBe('Tea')
    release()
    await expect.poll(() => name?.inputValue()).toBe('')
    expect(await priority?.inputValue()).toBe('7')
  })

  test('a failure is announced if the form is closed, and leads back to it', async ({ open }) => {
    const { store, page } = await open(3)
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/trpc/notes.create', async (route) => {
      await promise
      await route.fetch()
      await route.abort()
    })
    await enterNote(page, 'Tea', '7')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Adding…' }).waitFor()
    await page.keyboard.press('Escape')
    await openItem(page, 'note 2')
    resolve()
    const notice = page.getByRole('alert')
    await notice.getByText('The note may not have been added').waitFor()
    await panel(page, 'note 2').waitFor()
    await inspect(page, 'not-added-closed')
    await page.keyboard.press('j')
    await panel(page, 'note 3').waitFor()
    await page.getByRole('button', { name: 'Show the form' }).click()
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('Tea')
    await page.getByRole('alert').getByText('No note is added twice.').waitFor()
    // The form tries again by itself, and closes once that succeeds.
    await page.unroute('**/trpc/notes.create')
    await justAdded(page).getByRole('link', { name: 'Tea #4' }).waitFor()
    await panel(page, 'note 3').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await store.notes.list({ limit: 9, cursor: 3n })).toHaveLength(1)
  })
})

test('adding notes adds at most one entry to the history', async ({ open }) => {
  const { url, page } = await open()
  await choose(page, 'Open')
  for (const name of ['Tea', 'Tom', 'Zoe']) {
    await enterNote(page, name, '7')
    await page.keyboard.press('Enter')
    await justAdded(page).getByText(name).waitFor()
    await panel(page).waitFor({ state: 'hidden' })
  }
  await page.goBack()
  expect(page.url()).toBe(`${url}/?state=open`)
  await page.goBack()
  expect(page.url()).toBe(`${url}/`)
})
