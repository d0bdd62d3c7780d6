import { expect } from 'vitest'
import { choiceOf, choose, justAdded, names, searchField, showing, turnPage } from './list.ts'
import { addNote, test } from './notes.ts'
import { beDeveloper } from './page.ts'
import { addButton, openBulkAdd, panel, panelsLoaded, submitButton } from './panels.ts'
import { account, openRequests } from './session.ts'
import type { Page } from './visit.ts'

/** Does what the translation of a browser does: it replaces each text by elements with another text, also later ones. */
function translateForever(): void {
  const kept = 'script, style, textarea, [translate=no], .notranslate, [data-translated]'
  function translate(): void {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const texts: Text[] = []
    while (walker.nextNode()) {
      // Safe: the walker shows only texts.
      const text = walker.currentNode as Text
      if (text.data.trim() !== '' && !text.parentElement?.closest(kept)) texts.push(text)
    }
    for (const text of texts) {
      const [outer, inner] = [document.createElement('font'), document.createElement('font')]
      inner.dataset.translated = ''
      inner.append(text.data)
      outer.append(inner)
      text.replaceWith(outer)
    }
  }
  addEventListener('DOMContentLoaded', () => {
    new MutationObserver(translate).observe(document.body, { childList: true, characterData: true, subtree: true })
  })
}

function notice(page: Page) {
  return page.locator('.edit-notice')
}

test('a page that the browser translates keeps working', async ({ open }) => {
  const { url, store, page } = await open(45, { path: '/livez' })
  await page.addInitScript(translateForever)
  await page.goto(url)
  await showing(page, '1–20 of 45')
  await panelsLoaded(page)
  expect(await page.locator('font').count()).toBeGreaterThan(50)

  for (const text of ['note 1', 'note', 'note 12']) {
    await searchField(page).fill(text)
    await page.locator('mark').first().waitFor()
    // Words beside each other, such as both digits of 11, have one mark.
    const isFound = (mark: string) => text.split(' ').some((word) => mark.replaceAll(word, '') === '')
    await expect.poll(async () => (await page.locator('mark').allTextContents()).every(isFound)).toBe(true)
  }
  await expect.poll(() => names(page)).toEqual(['note 12'])
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await showing(page, '1–20 of 45')
  await turnPage(page, 'Next', '21–40 of 45')
  await turnPage(page, 'Previous', '1–20 of 45')
  await page.getByRole('columnheader', { name: 'Id' }).getByRole('button').click()
  await expect.poll(async () => (await names(page))[0]).toBe('note 45')
  await page.getByRole('columnheader', { name: 'Id' }).getByRole('button').click()
  await expect.poll(async () => (await names(page))[0]).toBe('note 1')
  await choose(page, 'Done')
  await page.getByRole('heading', { name: 'No done notes' }).waitFor()
  await choose(page, 'All')
  await showing(page, '1–20 of 45')

  await choiceOf(page, 'note 2', 'State of note 2: Open').click()
  await page.getByRole('menuitemradio', { name: 'Done' }).click()
  // It stays as long as the pointer is on it.
  await notice(page).hover()
  await notice(page).getByText('note 2 is done.').waitFor()
  expect(await notice(page).locator('bdi').innerHTML()).toBe('note 2')
  await page.getByRole('button', { name: 'Changes' }).click()
  const changes = panel(page, 'Changes of notes')
  for (const kept of [changes.getByText('note 2 #2'), changes.locator('.changes-by bdi'), page.locator('.search kbd')])
    expect(await kept.locator('font').count()).toBe(0)
  await page.keyboard.press('Escape')
  await choiceOf(page, 'note 2', 'State of note 2: Done').getByText('Done').waitFor()
  await page.keyboard.press('z')
  await choiceOf(page, 'note 2', 'State of note 2: Open').waitFor()

  await page.getByRole('link', { name: 'note 3', exact: true }).click()
  await panel(page, 'note 3').getByRole('button', { name: 'Edit the text' }).click()
  await panel(page).getByRole('textbox', { name: 'Text' }).fill('Tea')
  await page.keyboard.press('Enter')
  await panel(page, 'Tea').waitFor()
  expect(await panel(page).getByRole('heading', { level: 2 }).innerHTML()).toBe('Tea')
  await expect.poll(() => notice(page).locator('bdi').allInnerTexts()).toEqual(['note 3', 'Tea'])
  await expect.poll(async () => (await names(page))[2]).toBe('Tea')
  await panel(page).getByRole('button', { name: 'Waiting' }).click()
  await choiceOf(page, 'Tea', 'State of Tea: Waiting').waitFor()
  await panel(page).getByRole('button', { name: 'Edit the priority' }).click()
  await panel(page).getByRole('textbox', { name: 'Priority' }).fill('77')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: 'Tea Filter by Priority 77' }).waitFor()
  await panel(page).getByRole('definition').getByText('77', { exact: true }).waitFor()
  await beDeveloper(page)
  await panel(page).getByText('Request and JSON').click()
  await page.keyboard.press('j')
  await panel(page, 'note 4').waitFor()
  await panel(page, 'note 4').getByRole('button', { name: 'Remove note' }).click()
  await notice(page).getByText('note 4 will be removed.').waitFor()
  await panel(page, 'note 5').waitFor()
  await notice(page).getByRole('button', { name: 'Undo' }).click()
  await panel(page, 'note 4').waitFor()
  await page.getByRole('link', { name: 'note 4', exact: true }).waitFor()
  await page.keyboard.press('Escape')

  await addNote(page, '', 'x')
  await panel(page).getByRole('alert').first().waitFor()
  await page.getByRole('textbox', { name: 'Text' }).fill('Kim')
  await page.getByRole('textbox', { name: 'Priority' }).fill('7')
  await page.getByRole('checkbox', { name: 'Add another' }).check()
  await submitButton(page).click()
  await panel(page).getByRole('status').getByText('Kim').waitFor()
  await page.getByRole('textbox', { name: 'Text' }).fill('Tom')
  await submitButton(page).click()
  await panel(page).getByRole('status').getByText('Tom').waitFor()
  await page.keyboard.press('Escape')
  await justAdded(page).getByText('2 notes were added.').waitFor()

  // As from a service whose rules the console does not know.
  await page.route('**/trpc/notes.create**', (route) =>
    route.continue({ postData: route.request().postData()?.replace('"rejected"', '""') ?? '' }),
  )
  const sheet = await openBulkAdd(page, 'Ann,7,done\n,seven,\nrejected,9,')
  await sheet.getByRole('textbox', { name: 'Text, row 2' }).fill('Bob')
  await sheet.getByRole('textbox', { name: 'Priority, row 2' }).fill('8')
  await sheet.getByRole('button', { name: 'Add 3 notes' }).click()
  await sheet.getByText('2 notes were added, 1 could not be added.').waitFor()
  await sheet.getByRole('textbox', { name: 'Text, row 3' }).fill('Eve')
  await sheet.getByRole('button', { name: 'Add 1 corrected row' }).click()
  await sheet.getByText('3 notes were added.').waitFor()
  await page.keyboard.press('Escape')

  for (const id of [1, 2]) await page.getByRole('checkbox', { name: `Select note ${id}`, exact: true }).check()
  await page.getByRole('region', { name: '2 selected' }).getByRole('button', { name: 'Set state' }).click()
  await page.getByRole('menuitemradio', { name: 'Done' }).click()
  await notice(page).getByText('2 notes are done.').waitFor()
  await choiceOf(page, 'note 1', 'State of note 1: Done').waitFor()

  await account(page).click()
  await page.getByText('Never').waitFor()
  await page.getByRole('button', { name: 'Colors: system' }).click()
  await page.getByRole('button', { name: 'Colors: light' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck()
  await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).check()
  await page.keyboard.press('Escape')
  await openRequests(page)
  await page.getByRole('dialog', { name: 'Requests' }).locator('summary').first().click()
  await page.keyboard.press('Escape')
  await addButton(page).waitFor()
  expect(await store.notes.get(3n)).toMatchObject({ body: 'Tea', state: 'waiting' })
})

test('a translated page shows the latest reason why its list is out of date, and only that', async ({ open }) => {
  const { url, page } = await open(3, { path: '/livez' })
  await page.addInitScript(translateForever)
  await page.goto(url)
  await showing(page, '1–3 of 3')
  const reason = page.locator('.list-out-of-date')
  await page.route('**/trpc/**', (route) => route.abort())
  await reason.getByText('The service cannot be reached.').waitFor()
  await page.unroute('**/trpc/**')
  await page.route('**/trpc/**', (route) => route.fulfill({ status: 429, body: '' }))
  await reason.getByText('Too many requests.').waitFor()
  expect(await reason.textContent()).not.toContain('reached')
})
