import { describe, expect } from 'vitest'
import { openTestStore } from '../../../../test/notes/database.ts'
import { addNotes, apiKeyRecord, createKey, mintApiKey, startTestApi } from '../../../../test/notes/fixtures.ts'
import { choiceOf, choose, counting, names, showing } from '../list.ts'
import { enterNote, type OpenNotes, test } from '../notes.ts'
import { boxOf, closeByEscape, describes, holdRequests, inspect, isFocused, press, waitForAnimations } from '../page.ts'
import { panel, panelsLoaded } from '../panels.ts'
import { signIn } from '../session.ts'
import { type Locator, listen, type Page } from '../visit.ts'

/** The button with the state of a note in the list. */
function stateOf(page: Page, name: string) {
  return choiceOf(page, name, /^State of /)
}

/** Somebody else changes a note before the next request of the page reaches the service. */
async function changeMeanwhile(page: Page, change: () => Promise<unknown>): Promise<void> {
  await page.route(
    '**/trpc/notes.update**',
    async (route) => {
      await change()
      await route.continue()
    },
    { times: 1 },
  )
}

/** Chooses a state in the menu of a note. */
async function setState(page: Page, name: string, state: string): Promise<void> {
  await stateOf(page, name).click()
  await page.getByRole('menuitemradio', { name: state }).click()
}

async function setAllDone(page: Page): Promise<void> {
  await page.getByRole('checkbox', { name: 'Select all notes of this page' }).check()
  await page.getByRole('button', { name: 'Set state' }).click()
  await page.getByRole('menuitemradio', { name: 'Done' }).click()
}

/** The line that says what became of the last change. It stays for eight seconds, and as long as the pointer is on it. */
function notice(page: Page) {
  return page.locator('.edit-notice')
}

/** The shortcuts of a panel work as soon as it has the focus. */
async function panelFocused(page: Page, name: string): Promise<void> {
  await expect.poll(() => isFocused(panel(page, name))).toBe(true)
}

/** Opens the text in the panel of a note with a key. */
async function editText(page: Page, name: string): Promise<Locator> {
  const field = panel(page).getByRole('textbox', { name: 'Text' })
  await panelFocused(page, name)
  await page.keyboard.press('e')
  await expect.poll(() => isFocused(field)).toBe(true)
  return field
}

/** Returns whether screen readers have heard since then that somebody else has changed something. */
async function hearChanges(page: Page): Promise<() => Promise<boolean>> {
  await page.evaluate(() => {
    new MutationObserver((records) => {
      const isChange = ({ target }: MutationRecord) => / new or changed/.test(target.textContent ?? '')
      if (records.some(isChange)) document.body.dataset.announced = ''
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  })
  return () => page.evaluate(() => 'announced' in document.body.dataset)
}

const expectState = (store: Awaited<ReturnType<OpenNotes>>['store'], id: bigint) =>
  expect.poll(async () => (await store.notes.get(id))?.state)

describe('the state of a note', () => {
  test('is changed in the list with two keys, and undone with one', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    const link = page.getByRole('link', { name: 'note 2' })
    await link.press('s')
    await page.getByRole('menu', { name: 'State of note 2' }).waitFor()
    await inspect(page, 'state-menu')
    // The row keeps its ring while the focus is in the menu, which marks the value that the note has.
    const ring = () => link.evaluate((each) => getComputedStyle(each, '::after').outlineStyle)
    expect(await ring()).toBe('solid')
    expect(await stateOf(page, 'note 2').getAttribute('aria-expanded')).toBe('true')
    const checked = page.getByRole('menuitemradio', { checked: true })
    expect([await checked.textContent(), await checked.locator('svg').count()]).toEqual(['Open1', 1])
    expect(await page.getByRole('menu').locator('svg').count()).toBe(1)
    for (const [letter, choice] of [
      ['w', 'Waiting'],
      ['d', 'Done'],
      ['o', 'Open'],
    ] as const) {
      await page.keyboard.press(letter)
      expect(await isFocused(page.getByRole('menuitemradio', { name: choice }))).toBe(true)
    }
    await page.keyboard.press('3')
    // It is announced as a change only if somebody else has made it.
    await page.locator('tr[data-changed]', { hasText: 'note 2' }).waitFor()
    expect(await page.getByText('is new or changed.').count()).toBe(0)
    await notice(page).hover()
    await stateOf(page, 'note 2').getByText('Done').waitFor()
    await page.getByRole('status').getByText('note 2 is done. Undo with Z.').waitFor()
    expect(await notice(page).getByRole('button', { name: 'Undo', exact: true }).innerText()).toMatch(/^Undo\s*z$/)
    await inspect(page, 'done')
    await counting(page, 'Done 1')
    expect(await isFocused(link)).toBe(true)
    await expectState(store, 2n).toBe('done')
    await page.keyboard.press('z')
    await page.getByRole('status').getByText('Change undone. note 2 is open.').waitFor()
    await counting(page, 'Done 0')
    await expectState(store, 2n).toBe('open')
  })

  test('and other changes are undone one after the other, also when their notice is gone', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    await setState(page, 'note 1', 'Done')
    await setState(page, 'note 2', 'Waiting')
    await page.getByRole('link', { name: 'note 3' }).press('Delete')
    await notice(page).getByRole('button', { name: 'Dismiss' }).click()
    await page.getByRole('link', { name: 'note 1' }).focus()
    for (const text of [
      'Change undone. note 3 stays.',
      'Change undone. note 2 is open.',
      'Change undone. note 1 is open.',
      'There is nothing to undo. What was changed before is under Changes.',
    ]) {
      await page.keyboard.press('z')
      await notice(page).getByText(text).waitFor()
    }
    await expect.poll(() => names(page)).toEqual(['note 1', 'note 2', 'note 3'])
    for (const id of [1n, 2n]) await expectState(store, id).toBe('open')
    expect(await store.notes.get(3n)).toBeDefined()
  })

  test('that a note has already is said in place of an older notice', async ({ open }) => {
    const { page } = await open(3)
    await showing(page, '1–3 of 3')
    await panelsLoaded(page)
    await setState(page, 'note 1', 'Done')
    await notice(page).getByText('note 1 is done.').waitFor()
    await page.getByRole('link', { name: 'note 2' }).focus()
    await press(page, 's', '1')
    await notice(page).getByText('note 2 is already open.').waitFor()
    expect(await notice(page).count()).toBe(1)
    expect(await isFocused(page.getByRole('link', { name: 'note 2' }))).toBe(true)
    await page.getByRole('link', { name: 'note 3' }).click()
    await panel(page, 'note 3').getByRole('button', { name: 'Open' }).click()
    await notice(page).getByText('note 3 is already open.').waitFor()
  })

  test('is undone with Ctrl+Z, which changes no text that was entered before', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    const search = page.getByPlaceholder('Id, text or priority')
    await search.pressSequentially('note')
    await page.keyboard.press('Enter')
    await setState(page, 'note 1', 'Done')
    await expectState(store, 1n).toBe('done')
    await page.keyboard.press('ControlOrMeta+z')
    await notice(page).getByText('Change undone. note 1 is open.').waitFor()
    await expectState(store, 1n).toBe('open')
    expect(await search.inputValue()).toBe('note')
    // In the field it is that of the browser.
    await search.press('ControlOrMeta+z')
    expect(await search.inputValue()).not.toBe('note')
  })

  test('is changed with its number in the panel, but not in a field', async ({ open }) => {
    const { store, page } = await open(3, { path: '/?note=2' })
    const state = (name: string) => panel(page).getByRole('button', { name, exact: true })
    await panelFocused(page, 'note 2')
    expect(await state('Done').getAttribute('data-hint')).toBe('Done (3)')
    await page.keyboard.press('2')
    await expectState(store, 2n).toBe('waiting')
    expect(await isFocused(panel(page, 'note 2'))).toBe(true)
    await press(page, 'Control+1')
    expect(await state('Waiting').getAttribute('aria-pressed')).toBe('true')
    await press(page, 's', '3')
    await expectState(store, 2n).toBe('done')
    // Enter must not press the former state.
    await expect.poll(() => isFocused(state('Done'))).toBe(true)
    await page.keyboard.press('e')
    await panel(page).getByRole('textbox', { name: 'Text' }).fill('')
    await press(page, '1', 'Enter')
    await panel(page, '1').waitFor()
    expect(await state('Done').getAttribute('aria-pressed')).toBe('true')
  })

  test('is changed with a click in the panel, which keeps the focus for the next note', async ({ open }) => {
    const { store, page } = await open(3, { path: '/?state=open', isLoaded: true })
    await page.getByRole('link', { name: 'note 1' }).press('Enter')
    await panel(page, 'note 1').getByRole('button', { name: 'Done' }).click()
    await expectState(store, 1n).toBe('done')
    await page.keyboard.press('j')
    await panel(page, 'note 2').waitFor()
    await page.keyboard.press('j')
    await panel(page, 'note 3').waitFor()
    expect(await isFocused(panel(page))).toBe(true)
  })

  test('is changed with a click in the panel, and the row stays until the user moves on', async ({ open }) => {
    const { store, page } = await open(3)
    await choose(page, 'Open')
    await showing(page, '1–3 of 3')
    await page.getByRole('link', { name: 'note 2' }).click()
    await panel(page, 'note 2').getByRole('button', { name: 'Done' }).click()
    await expectState(store, 2n).toBe('done')
    await page.locator('tr[data-left][data-changed]', { hasText: 'note 2' }).waitFor()
    await page.getByTitle('No longer matches').waitFor()
    const link = page.getByRole('link', { name: 'note 2' })
    await expect.poll(() => link.getAttribute('aria-description')).toBe('No longer matches')
    await showing(page, '1–2 of 2')
    expect(await names(page)).toEqual(['note 1', 'note 2', 'note 3'])
    await inspect(page, 'left')
    await choose(page, 'All')
    await choose(page, 'Open')
    await expect.poll(() => names(page)).toEqual(['note 1', 'note 3'])
  })

  test('that somebody else has changed meanwhile is a conflict, which one click decides', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    for (const [button, state, author, caller] of [
      ['Keep theirs', 'waiting', 'Someone', undefined],
      ['Use mine', 'done', 'shop', { owner: 1n, name: 'shop' }],
    ] as const) {
      await store.notes.update({ id: 2n, set: { state: 'open' } })
      await stateOf(page, 'note 2').getByText('Open').waitFor()
      const release = await holdRequests(page, '**/trpc/notes.update')
      await setState(page, 'note 2', 'Done')
      await page.locator('tr[data-saving]').waitFor()
      await store.notes.update({ id: 2n, set: { state: 'waiting' } }, caller)
      // The history has a later change of another field.
      await store.notes.update({ id: 2n, set: { priority: state === 'done' ? 8n : 9n } }, { owner: 1n, name: 'other' })
      release()
      const alert = page.getByRole('alert')
      await alert.getByText(`${author} changed the state of note 2 to “Waiting”. Your value: “Done”.`).waitFor()
      // The polls do not show it anew, which a screen reader would say again.
      await alert.evaluate((element) => element.toggleAttribute('data-first'))
      for (let polls = 0; polls < 2; polls++) await page.waitForResponse(/notes\.history/)
      await page.locator('[role=alert][data-first]').waitFor()
      await inspect(page, 'conflict')
      // Another edit is shown meanwhile.
      await page.unroute('**/trpc/notes.update')
      await setState(page, 'note 3', state === 'done' ? 'Done' : 'Waiting')
      await page.getByRole('region', { name: 'Last change' }).getByText(`note 3 is ${state}.`).waitFor()
      await page.getByRole('region', { name: 'Not saved' }).getByRole('button', { name: button }).click()
      await expect.poll(() => isFocused(page.getByRole('link', { name: 'note 2' }))).toBe(true)
      await expectState(store, 2n).toBe(state)
    }
  })

  test('leads to its notice with a key, from which Escape leads back', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    const row = page.getByRole('link', { name: 'note 2' })
    await setState(page, 'note 2', 'Done')
    await notice(page).waitFor()
    await row.press('m')
    expect(await isFocused(notice(page).getByRole('button', { name: 'Undo' }))).toBe(true)
    await page.keyboard.press('Escape')
    expect(await isFocused(row)).toBe(true)
    await expectState(store, 2n).toBe('done')
    // Also a refused undo of a note whose panel is open. That stays open.
    await page.keyboard.press('Enter')
    await panelFocused(page, 'note 2')
    await store.notes.update({ id: 2n, set: { state: 'waiting' } })
    await page.keyboard.press('z')
    await page.getByRole('button', { name: 'Keep theirs' }).waitFor()
    await page.keyboard.press('F8')
    expect(await isFocused(page.getByRole('button', { name: 'Keep theirs' }))).toBe(true)
    await page.keyboard.press('Escape')
    expect(await isFocused(panel(page, 'note 2'))).toBe(true)
  })

  test('is announced once it is saved, and can be discarded before, also with its undo', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    await page.route('**/trpc/notes.update', (route) => route.abort())
    const link = page.getByRole('link', { name: 'note 2' })
    const unsaved = page.getByRole('region', { name: 'Not saved' })
    for (const discard of ['Discard', 'Discard them']) {
      await setState(page, 'note 2', 'Done')
      await unsaved.getByText('note 2 is not saved yet. The service cannot be reached.').waitFor()
      expect(await page.getByText('note 2 is done.').count()).toBe(0)
      await stateOf(page, 'note 2').getByText('Done').waitFor()
      expect(await link.getAttribute('aria-description')).toBe('Not saved yet')
      await link.focus()
      if (discard === 'Discard them') await page.keyboard.press('z')
      await unsaved.getByRole('button', { name: discard, exact: true }).click()
      await unsaved.waitFor({ state: 'hidden' })
      await stateOf(page, 'note 2').getByText('Open').waitFor()
      await expect.poll(() => link.getAttribute('aria-description')).toBeNull()
    }
    await page.unroute('**/trpc/notes.update')
    // The next one of the same note does not wait.
    await setState(page, 'note 2', 'Waiting')
    await expectState(store, 2n).toBe('waiting')
    await notice(page).getByText('note 2 is waiting.').waitFor()
    expect(await store.notes.history({ limit: 10 })).toHaveLength(1)
  })

  test('is saved once after an outage, a reload and a restart of the service', async ({ consoleFolder, start }) => {
    const store = await openTestStore()
    await addNotes(store, 3)
    const { url, app, show } = await start(0, { store })
    const page = await show()
    await showing(page, '1–3 of 3')
    await panelsLoaded(page)
    await page.route('**/trpc/notes.update', (route) => route.abort())
    await setState(page, 'note 2', 'Done')
    await notice(page).getByText('note 2 is not saved yet. The service cannot be reached.').waitFor()
    await inspect(page, 'not-saved-yet')
    await page.unroute('**/trpc/notes.update')
    await app.close()
    await page.route('**/trpc/**', (route) => route.abort())
    const successor = await startTestApi({ store, consoleFolder, keyName: 'successor' })
    await listen(successor.app, Number(new URL(url).port))
    await page.reload()
    await page.unroute('**/trpc/**')
    await expectState(store, 2n).toBe('done')
    await counting(page, 'Done 1')
  })

  test('that the service fails to save five times waits for the user, who can try again', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    await page.clock.install()
    let failures = 0
    const failed = { code: 'internal', status: 500, message: 'The service failed.' }
    await page.route('**/trpc/notes.update', (route) => {
      failures++
      const error = { json: { message: failed.message, code: -32603, data: failed } }
      return route.fulfill({ status: 500, contentType: 'application/json', body: JSON.stringify({ error }) })
    })
    await setState(page, 'note 2', 'Done')
    const alert = page
      .getByRole('alert')
      .getByText('note 2 was not changed. The service is not available at the moment.')
    const isFailed = () => page.clock.runFor(1_000).then(() => alert.isVisible())
    await expect.poll(isFailed).toBe(true)
    expect(failures).toBe(5)
    await stateOf(page, 'note 2').getByText('Open').waitFor()
    await inspect(page, 'not-saved')
    await page.unroute('**/trpc/notes.update')
    await notice(page).getByRole('button', { name: 'Try again now' }).click()
    await expectState(store, 2n).toBe('done')
    await alert.waitFor({ state: 'hidden' })
  })

  test('can be undone on a phone, where the panel covers the page', async ({ open }) => {
    const { store, page } = await open(3, {
      path: '/?note=2',
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    })
    const sheet = page.getByRole('dialog', { name: 'note 2' })
    await sheet.getByRole('button', { name: 'Done' }).tap()
    await notice(page).hover()
    await expectState(store, 2n).toBe('done')
    const undo = page.getByRole('region', { name: 'Last change' }).getByRole('button', { name: 'Undo' })
    await inspect(page, 'undo-phone')
    expect(await undo.locator('kbd').isVisible()).toBe(false)
    await undo.tap()
    await expectState(store, 2n).toBe('open')
    await sheet.getByRole('button', { name: 'Close' }).press('2')
    await expectState(store, 2n).toBe('waiting')
    await notice(page).getByText('note 2 is waiting.').waitFor()
    await sheet.getByRole('button', { name: 'Close' }).tap()
    await sheet.waitFor({ state: 'hidden' })
    await undo.tap()
    await expectState(store, 2n).toBe('open')
  })
})

describe('the text of a note', () => {
  test('is edited in place: Enter saves, Escape restores, and an invalid one is refused', async ({ open }) => {
    const { store, page } = await open(3, { path: '/?note=2' })
    const field = await editText(page, 'note 2')
    expect(await describes(page, 'Text')).toContain('Enter or leaving saves, Esc discards')
    expect(await panel(page).getByText('↵').isVisible()).toBe(true)
    await inspect(page, 'edit-text-keys')
    await field.fill('  ')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('The text has only spaces.').waitFor()
    expect(await describes(page, 'Text')).toBe('The text has only spaces. Enter or leaving saves, Esc discards')
    await inspect(page, 'edit-text')
    await closeByEscape(field)
    await panel(page, 'note 2').waitFor()
    const pencil = panel(page).getByRole('button', { name: 'Edit the text' })
    await expect.poll(() => isFocused(pencil)).toBe(true)
    await page.keyboard.press('e')
    await expect.poll(() => isFocused(field)).toBe(true)
    await page.keyboard.type('Tea')
    await page.keyboard.press('Enter')
    await expect.poll(() => isFocused(pencil)).toBe(true)
    await notice(page).hover()
    await panel(page, 'Tea').waitFor()
    await notice(page).getByText('Text of note 2 is now Tea.').waitFor()
    await expect.poll(async () => (await store.notes.get(2n))?.body).toBe('Tea')
    await page.keyboard.press('z')
    await panel(page, 'note 2').waitFor()
    await expect.poll(async () => (await store.notes.get(2n))?.body).toBe('note 2')
    await panel(page).getByRole('button', { name: 'Edit the priority' }).click()
    await page.keyboard.type('9223372036854775807')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await store.notes.get(2n))?.priority).toBe(9223372036854775807n)
  })

  test('is edited after a double click, and has buttons only where there is no keyboard', async ({ open }) => {
    const { store, page } = await open(3, { path: '/?note=2' })
    const field = panel(page).getByRole('textbox', { name: 'Text' })
    const cancel = panel(page).getByRole('button', { name: 'Cancel' })
    await panel(page).locator('.item-details').getByText('note 2', { exact: true }).dblclick()
    await expect.poll(() => isFocused(field)).toBe(true)
    expect(await cancel.isVisible()).toBe(false)
    const phone = await open(3, { path: '/?note=2', viewport: { width: 360, height: 740 }, hasTouch: true })
    const sheet = phone.page.getByRole('dialog', { name: 'note 2' })
    await sheet.getByRole('button', { name: 'Edit the text' }).tap()
    await sheet.getByRole('textbox', { name: 'Text' }).fill('Oscar')
    await inspect(phone.page, 'edit-phone')
    const row = await boxOf(sheet.locator('.item-details > div').nth(1))
    for (const each of ['Cancel', 'Save']) {
      const button = await boxOf(sheet.getByRole('button', { name: each }))
      expect(button.height).toBeGreaterThanOrEqual(44)
      expect(row.y + row.height - button.y - button.height).toBeGreaterThanOrEqual(4)
    }
    await sheet.getByRole('button', { name: 'Cancel' }).tap()
    await sheet.getByRole('button', { name: 'Edit the text' }).waitFor()
    expect(await sheet.getByText('Oscar').count()).toBe(0)
    expect(await phone.store.notes.get(2n)).toMatchObject({ body: 'note 2' })
    await sheet.getByRole('button', { name: 'Edit the text' }).tap()
    await sheet.getByRole('textbox', { name: 'Text' }).fill(' ')
    await sheet.getByRole('button', { name: 'Save' }).tap()
    await sheet.getByRole('alert').getByText('The text has only spaces.').waitFor()
    await sheet.getByRole('textbox', { name: 'Text' }).fill('Oscar')
    await sheet.getByRole('button', { name: 'Save' }).tap()
    await expect.poll(async () => (await phone.store.notes.get(2n))?.body).toBe('Oscar')
    expect(await store.notes.get(2n)).toMatchObject({ body: 'note 2' })
  })

  test('loses white space around it if it is typed, and not if it is only left', async ({ open }) => {
    const { store, page } = await open([{ body: ' Tea ', priority: 1n, state: 'open' }], { path: '/?note=1' })
    const field = await editText(page, 'Tea')
    await page.keyboard.press('Enter')
    await field.waitFor({ state: 'hidden' })
    expect(await notice(page).count()).toBe(0)
    expect(await store.notes.get(1n)).toMatchObject({ body: ' Tea ' })
    await page.keyboard.press('e')
    await field.fill('  Archie   the Third  ')
    await page.keyboard.press('Enter')
    await notice(page).getByText('Text of Tea is now Archie   the Third.', { exact: true }).waitFor()
    await expect.poll(async () => (await store.notes.get(1n))?.body).toBe('Archie   the Third')
    await enterNote(page, ' Milk ', '2')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await store.notes.get(2n))?.body).toBe('Milk')
  })

  test('that is invalid is shown with its message again after another note', async ({ open }) => {
    const { page } = await open(3, { path: '/?note=2', isLoaded: true })
    const field = await editText(page, 'note 2')
    await field.fill('')
    await page.getByRole('link', { name: 'note 3' }).click()
    await panel(page, 'note 3').waitFor()
    await page.getByRole('link', { name: 'note 2' }).click()
    await panel(page, 'note 2').getByRole('alert').getByText('The text is missing.').waitFor()
    expect(await field.inputValue()).toBe('')
  })

  test('that somebody else changes while it is edited says so, and a draft stays across a reload', async ({ open }) => {
    const { store, page } = await open(3, { path: '/?note=2' })
    const field = await editText(page, 'note 2')
    // Nothing is typed yet.
    await store.notes.update({ id: 2n, set: { body: 'Oscar' } }, { owner: 1n, name: 'shop' })
    await expect.poll(() => field.inputValue()).toBe('Oscar')
    await panel(page).getByRole('status').getByText('shop changed it from “note 2” to “Oscar”.').waitFor()
    await inspect(page, 'meanwhile-untouched')
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await isFocused(field)).toBe(true)
    await field.selectText()
    await page.keyboard.type('Oscar III')
    await page.reload()
    await expect.poll(() => isFocused(field)).toBe(true)
    // The key does not replace the draft.
    await press(page, 'V', 'Backspace')
    expect(await field.inputValue()).toBe('Oscar III')
    await store.notes.update({ id: 2n, set: { body: 'Oscar II' } }, { owner: 1n, name: 'counter' })
    await page.getByRole('alert').getByText('counter changed it from “Oscar” to “Oscar II”.').waitFor()
    await inspect(page, 'meanwhile')
    // What is typed after Enter is still text, and presses no button.
    await press(page, 'End', 'Enter')
    await page.getByRole('alert').getByText('Choose “Keep theirs” or “Use mine”.').waitFor()
    await page.keyboard.type(' of Kent')
    await page.keyboard.press('Enter')
    expect(await field.inputValue()).toBe('Oscar III of Kent')
    expect(await store.notes.get(2n)).toMatchObject({ body: 'Oscar II' })
    // One Escape keeps theirs, also from the buttons.
    await panel(page).getByRole('button', { name: 'Use mine' }).press('Escape')
    await field.waitFor({ state: 'hidden' })
    await panel(page, 'Oscar II').waitFor()
    expect(await store.notes.get(2n)).toMatchObject({ body: 'Oscar II' })
  })

  test('is not overwritten by a draft if somebody else changed it before a reload, without a question', async ({
    open,
  }) => {
    const { store, page } = await open(3, { path: '/?note=2' })
    const field = await editText(page, 'note 2')
    await page.keyboard.type('Oscar III')
    const release = await holdRequests(page)
    await page.reload()
    await store.notes.update({ id: 2n, set: { body: 'Oscar II' } })
    release()
    await expect.poll(() => isFocused(field)).toBe(true)
    expect(await field.inputValue()).toBe('Oscar III')
    const alert = page.getByRole('alert').getByText('Someone changed it from “note 2” to “Oscar II”.')
    await alert.waitFor()
    await panel(page).getByRole('button', { name: 'Next note' }).click()
    await panel(page, 'note 3').waitFor()
    await panel(page).getByRole('button', { name: 'Previous note' }).click()
    await panel(page, 'Oscar II').waitFor()
    await alert.waitFor()
    await field.press('Enter')
    expect(await isFocused(field)).toBe(true)
    expect(await store.notes.get(2n)).toMatchObject({ body: 'Oscar II' })
    await panel(page).getByRole('button', { name: 'Keep theirs' }).click()
    await field.waitFor({ state: 'hidden' })
  })

  test('of a note that somebody else removes can be copied, while it is edited and saved', async ({ open }) => {
    const { url, store, page } = await open(3, { path: '/?note=2' })
    const edit = async (name: string) => {
      await panelFocused(page, name)
      await page.keyboard.press('e')
      await page.keyboard.type('Oscar')
    }
    await edit('note 2')
    await store.notes.remove({ id: 2n })
    await panel(page).getByRole('heading', { name: 'note 2 was removed.', exact: true }).waitFor()
    await panel(page).getByRole('alert').getByText('Your value: “Oscar”.').waitFor()
    await panel(page).getByRole('button', { name: 'Copy your value' }).waitFor()
    await inspect(page, 'removed-meanwhile')
    await page.goto(`${url}/?note=3`)
    await edit('note 3')
    const release = await holdRequests(page)
    await page.keyboard.press('Enter')
    // The page does not know this name yet.
    await store.notes.update({ id: 3n, set: { body: 'Ziggy' } })
    await store.notes.remove({ id: 3n })
    release()
    await page.getByRole('alert').getByText('Ziggy #3 was removed meanwhile. Your value: “Oscar”.').waitFor()
    await notice(page).getByRole('button', { name: 'Copy your value' }).waitFor()
  })
})

describe('the time of a note', () => {
  test('stays exactly the same if its field is opened and left, and shows its milliseconds', async ({ start }) => {
    const { url, store, show } = await start()
    // The second of them is in the hour that the end of summer time repeats.
    const times = ['2026-11-20T08:30:00.123Z', '2026-10-25T01:30:00.000Z'].map((time) => new Date(time))
    for (const dueAt of times) await store.notes.create({ body: 'Call Ann', priority: 1n, state: 'open', dueAt })
    const page = await show({ timezoneId: 'Europe/Berlin' })
    const field = panel(page).getByLabel('Due', { exact: true })
    const pencil = panel(page).getByRole('button', { name: 'Edit the due' })
    for (const [id, shown] of [
      [1n, '2026-11-20T09:30:00.123'],
      [2n, '2026-10-25T02:30'],
    ] as const) {
      await page.goto(`${url}/?note=${id}`)
      for (const key of ['Enter', 'Tab']) {
        await pencil.click()
        expect(await field.inputValue()).toBe(shown)
        await page.keyboard.press(key)
        // Tab moves between the parts of a time first.
        while (await field.isVisible()) await page.keyboard.press(key)
      }
    }
    expect(await store.notes.history({ limit: 10 })).toEqual([])
    await pencil.click()
    await field.fill('2026-11-20T09:30:00')
    await page.keyboard.press('Enter')
    await notice(page).getByText('Due of Call Ann is now Nov 20, 2026, 09:30.').waitFor()
    await expect.poll(async () => (await store.notes.get(2n))?.dueAt).toEqual(new Date('2026-11-20T08:30:00.000Z'))
  })

  test('that is incomplete, or whose day does not exist, is no empty one', async ({ start }) => {
    const { store, show } = await start()
    const dueAt = new Date('2026-11-20T08:30:00.000Z')
    await store.notes.create({ body: 'Call Ann', priority: 1n, state: 'open', dueAt })
    const page = await show()
    await showing(page, '1 of 1')
    const alert = page.getByRole('alert').getByText('The due is not a time')

    await page.getByRole('link', { name: 'Call Ann' }).click()
    await panel(page, 'Call Ann').getByRole('button', { name: 'Edit the due' }).click()
    // In the month, which the focus is in.
    await press(page, 'Backspace', 'Enter')
    await alert.waitFor()
    await inspect(page, 'incomplete-time')
    await page.keyboard.type('0231')
    await panel(page).getByRole('button', { name: 'Next note' }).focus()
    await alert.waitFor()
    await panel(page).getByLabel('Due', { exact: true }).press('Escape')
    await page.keyboard.press('Escape')

    await page.getByRole('checkbox', { name: 'Select all notes of this page' }).check()
    await page.getByRole('button', { name: 'Set a value' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set a value' })
    await dialog.getByText('1 note is selected.', { exact: true }).waitFor()
    const choice = dialog.getByRole('combobox', { name: 'Field' })
    await choice.selectOption('Due')
    await choice.press('Tab')
    await page.keyboard.type('0231')
    await page.keyboard.press('Enter')
    await alert.waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await enterNote(page, 'Buy tea', '1')
    await panel(page, 'Add note').getByLabel('Due').focus()
    await page.keyboard.type('0231')
    await page.keyboard.press('Enter')
    await alert.waitFor()
    expect(await store.notes.list({ limit: 10, cursor: 0n })).toMatchObject([{ dueAt }])
  })
})

test('keys change the row with the focus or the selection, and not the note in the panel beside them', async ({
  open,
}) => {
  const { store, page } = await open(6, { path: '/?note=2', isLoaded: true })
  await panelFocused(page, 'note 2')
  const row = (name: string) => page.getByRole('link', { name, exact: true })
  await row('note 4').focus()
  await press(page, 's', '3')
  await expect.poll(async () => (await store.notes.get(4n))?.state).toBe('done')
  expect((await store.notes.get(2n))?.state).toBe('open')
  await page.keyboard.press('Delete')
  await notice(page).getByText('note 4 will be removed.').waitFor()
  await expect.poll(() => row('note 5').evaluate((each) => each === document.activeElement)).toBe(true)
  await panel(page, 'note 2').waitFor()
  for (const name of ['note 3', 'note 5'])
    await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check()
  await page.keyboard.press('Delete')
  const dialog = page.getByRole('dialog', { name: 'Remove 2 notes?' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await press(page, 's', '3')
  await expect.poll(async () => (await store.notes.get(5n))?.state).toBe('done')
  expect((await store.notes.get(2n))?.state).toBe('open')
  await row('note 5').press('j')
  await panel(page, 'note 6').waitFor()
  await row('note 3').press('e')
  await panel(page, 'note 3').getByRole('textbox').waitFor()
  await press(page, 'Escape', 'Delete')
  await notice(page).getByText('note 3 will be removed.').waitFor()
})

test('a long text in the notice is as wide as the notice, with the period in the same line', async ({ open }) => {
  const { page } = await open(3, { isLoaded: true })
  const body = 'Maximilian '.repeat(15).trim()
  // The panel leaves less room for the notice.
  await page.getByRole('link', { name: 'note 2' }).click()
  await panel(page, 'note 2').getByRole('button', { name: 'Edit the text' }).click()
  await page.getByRole('textbox', { name: 'Text' }).fill(body)
  await page.keyboard.press('Enter')
  const value = notice(page).locator('bdi', { hasText: body })
  const [text, shown] = [await boxOf(notice(page).locator('p')), await boxOf(value)]
  expect(shown.x + shown.width).toBeLessThan(text.x + text.width)
  // Above the footer of the list, whose parts leave less room.
  const dismiss = await boxOf(notice(page).getByRole('button', { name: 'Dismiss' }))
  expect(dismiss.y + dismiss.height).toBeLessThan((await boxOf(page.locator('.list-footer'))).y)
  const periodBottom = await value.evaluate((element) => {
    const range = document.createRange()
    range.setStartAfter(element)
    range.setEndAfter(element.nextSibling ?? element)
    return range.getBoundingClientRect().bottom
  })
  expect(Math.abs(periodBottom - (shown.y + shown.height))).toBeLessThan(5)
  await inspect(page, 'notice-of-long-text')
})

describe('a note is removed', () => {
  test('once the pointer has left the notice that offers to undo it', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    await page.clock.install()
    await page.getByRole('link', { name: 'note 2' }).press('Delete')
    await notice(page).hover()
    await page.clock.runFor(30_000)
    expect(await store.notes.get(2n)).toBeDefined()
    await notice(page).getByRole('button', { name: 'Undo' }).waitFor()
    await page.mouse.move(600, 100)
    const isRemoved = (id: bigint) => () => page.clock.runFor(1_000).then(() => store.notes.get(id))
    await expect.poll(isRemoved(2n)).toBeUndefined()
    await page.getByRole('link', { name: 'note 3' }).press('Delete')
    await notice(page).getByText('note 3 will be removed.').waitFor()
    await notice(page).getByRole('button', { name: 'Dismiss' }).click()
    await expect.poll(isRemoved(3n)).toBeUndefined()
  })

  test('not if the user undoes that while the service is away', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    await page.clock.install()
    await page.route('**/trpc/**', (route) => route.abort())
    await page.getByRole('link', { name: 'note 2' }).press('Delete')
    // The button is there with the text.
    await notice(page).getByText('note 2 will be removed.').waitFor()
    expect(await notice(page).getByRole('button', { name: 'Undo' }).count()).toBe(1)
    await counting(page, 'All 2')
    await showing(page, '1–2 of 2')
    const isWaiting = () =>
      page.clock.runFor(1_000).then(() => notice(page).getByText('note 2 is not saved yet.').isVisible())
    await expect.poll(isWaiting).toBe(true)
    await page.keyboard.press('z')
    await notice(page).getByText('The console no longer tries to remove note 2.').waitFor()
    await expect.poll(() => names(page)).toEqual(['note 1', 'note 2', 'note 3'])
    await page.unroute('**/trpc/**')
    const isLoaded = page.waitForResponse(/trpc\/notes\.list/)
    await page.clock.runFor(20_000)
    await isLoaded
    expect(await names(page)).toEqual(['note 1', 'note 2', 'note 3'])
    expect(await store.notes.get(2n)).toBeDefined()
  })

  test('with one key, and comes back with another one, and the focus follows', async ({ open }) => {
    const { page } = await open(3, { isLoaded: true })
    await page.getByRole('link', { name: 'note 2' }).press('Delete')
    await notice(page).getByText('note 2 will be removed.').waitFor()
    await expect.poll(() => names(page)).toEqual(['note 1', 'note 3'])
    expect(await isFocused(page.getByRole('link', { name: 'note 3' }))).toBe(true)
    await page.keyboard.press('z')
    await expect.poll(() => names(page)).toEqual(['note 1', 'note 2', 'note 3'])
    await expect.poll(() => isFocused(page.getByRole('link', { name: 'note 2' }))).toBe(true)
    await page.keyboard.press('Enter')
    await panel(page, 'note 2').waitFor()
    await page.keyboard.press('Delete')
    await panel(page, 'note 3').waitFor()
    await page.keyboard.press('z')
    await panel(page, 'note 2').waitFor()
  })

  test('after a change, and does not come back', async ({ open }) => {
    const { store, page } = await open(22, { isLoaded: true })
    const isAnnounced = await hearChanges(page)
    await setState(page, 'note 2', 'Done')
    await page.getByRole('link', { name: 'note 2', exact: true }).press('Delete')
    await expect.poll(() => store.notes.get(2n)).toBeUndefined()
    await showing(page, '1–20 of 21')
    await page.getByRole('link', { name: 'note 21' }).waitFor()
    expect(await page.getByRole('link', { name: 'note 2', exact: true }).count()).toBe(0)
    expect(await isAnnounced()).toBe(false)
    // What was removed comes before what was changed earlier.
    await page.keyboard.press('z')
    await notice(page).getByText('note 2 #23 was added again.').waitFor()
    await notice(page).getByRole('link', { name: 'note 2 #23' }).click()
    await panel(page, 'note 2').waitFor()
    expect(new URL(page.url()).search).toMatch(/note=23$/)
    await page.keyboard.press('z')
    await notice(page).getByText('There is nothing to undo.').waitFor()
  })

  test('says so to the key that undoes while it is sent, and no other change is undone', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    await setState(page, 'note 2', 'Done')
    await expect.poll(() => store.notes.get(2n)).toMatchObject({ state: 'done' })
    await page.clock.install()
    await page.getByRole('link', { name: 'note 1' }).press('Delete')
    await notice(page).getByText('note 1 will be removed.').waitFor()
    const release = await holdRequests(page, '**/trpc/notes.remove')
    await page.clock.fastForward(8_000)
    for (const _ of [1, 2]) {
      await page.keyboard.press('z')
      await notice(page).getByText('note 1 is being removed. Undo it after that.').waitFor()
    }
    release()
    await expect.poll(() => store.notes.get(1n)).toBeUndefined()
    expect(await store.notes.get(2n)).toMatchObject({ state: 'done' })
    await page.getByRole('status').getByText('note 1 was removed.').waitFor({ state: 'attached' })
    await page.keyboard.press('z')
    await notice(page).getByText('note 1 #4 was added again.').waitFor()
  })

  test('after eight seconds, or when the page is left', async ({ open }) => {
    const { url, store, page } = await open(3, { isLoaded: true })
    await page.clock.install()
    await page.getByRole('link', { name: 'note 1' }).click()
    await panel(page, 'note 1').getByRole('button', { name: 'Remove note' }).click()
    await panel(page, 'note 2').waitFor()
    await notice(page).getByText('note 1 will be removed.').waitFor()
    await inspect(page, 'removing')
    await page.clock.fastForward(8_000)
    await expect.poll(() => store.notes.get(1n)).toBeUndefined()
    // A screen reader would read it again later.
    const announced = page.getByRole('status').getByText('note 1 was removed.')
    await announced.waitFor({ state: 'attached' })
    await page.clock.fastForward(8_000)
    await announced.waitFor({ state: 'detached' })
    // From here on, eight seconds do not pass.
    await page.evaluate(() => {
      const wait = window.setTimeout
      Object.assign(window, { setTimeout: (run: () => void, ms = 0) => wait(run, ms === 8_000 ? 600_000 : ms) })
    })
    await panel(page, 'note 2').getByRole('button', { name: 'Remove note' }).click()
    await panel(page, 'note 3').waitFor()
    expect(await store.notes.get(2n)).toBeDefined()
    // Without it, the browser may cancel the request, which a service on the same machine seldom shows.
    await page.evaluate(() => {
      const send = window.fetch
      window.fetch = (input, init) => {
        localStorage.setItem('keepalive', String(init?.keepalive))
        return send(input, init)
      }
    })
    await page.goto(`${url}/livez`)
    expect(await page.evaluate(() => localStorage.getItem('keepalive'))).toBe('true')
    await expect.poll(() => store.notes.get(2n)).toBeUndefined()
    expect(await store.notes.get(3n)).toBeDefined()
  })

  test('from the middle of the list, and no wrong place is announced meanwhile', async ({ open }) => {
    const { store, page } = await open(60, { path: '/?note=30' })
    await showing(page, '20 notes, from id 21')
    await panelFocused(page, 'note 30')
    await page.evaluate(() => {
      const range = document.querySelector('.list-range')
      const texts = new Set([range?.textContent])
      Object.assign(window, { texts })
      new MutationObserver(() => texts.add(range?.textContent)).observe(document.body, {
        subtree: true,
        childList: true,
        characterData: true,
      })
    })
    await page.keyboard.press('Delete')
    await showing(page, '19 notes, from id 21')
    await expect.poll(() => store.notes.get(30n)).toBeUndefined()
    await showing(page, '20 notes, from id 21')
    expect(await page.evaluate(() => [...Reflect.get(window, 'texts')])).toEqual([
      '20 notes, from id 21',
      '19 notes, from id 21',
    ])
  })

  test('alone by a repeated click or key, and the notice names all that wait', async ({ open }) => {
    const { page } = await open(7, { path: '/?note=1' })
    await panelFocused(page, 'note 1')
    const { x, y } = await boxOf(panel(page).getByRole('button', { name: 'Remove note' }))
    // From here on, the two seconds do not pass within which the second click counts as a repetition.
    await page.evaluate(() => {
      const wait = window.setTimeout
      Object.assign(window, { setTimeout: (run: () => void, ms = 0) => wait(run, ms === 2_000 ? 600_000 : ms) })
    })
    await page.mouse.click(x + 9, y + 9)
    await panelFocused(page, 'note 2')
    await page.mouse.click(x + 9, y + 9)
    await notice(page).getByText('note 1 will be removed.').waitFor()
    await page.mouse.move(x + 19, y + 9)
    await page.mouse.click(x + 9, y + 9)
    await notice(page).getByText('note 1 and note 2 will be removed.').waitFor()
    await panelFocused(page, 'note 3')
    // The shortcut needs no pointer.
    await page.keyboard.press('Delete')
    await notice(page).getByText('note 1, note 2, and note 3 will be removed.').waitFor()
    await panel(page, 'note 4').getByRole('button', { name: 'Remove note' }).press('Enter')
    await panelFocused(page, 'note 5')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'note 6' }).focus()
    // The second one is a repetition.
    for (let presses = 0; presses < 2; presses++) await page.keyboard.down('Delete')
    await page.keyboard.up('Delete')
    await expect.poll(() => names(page)).toEqual(['note 5', 'note 7'])
    await page.keyboard.press('z')
    await notice(page).getByText('Change undone. note 6 stays.').waitFor()
  })

  test('by the next session at once if the API key is revoked, and is not undone then', async ({ open }) => {
    const { store, page } = await open(3, { session: 'form' })
    await showing(page, '1–3 of 3')
    await panelsLoaded(page)
    await page.getByRole('link', { name: 'note 2' }).press('Delete')
    await notice(page).getByText('note 2 will be removed.').waitFor()
    for (const each of await store.apiKeys.list()) await store.apiKeys.revoke(each, new Date())
    await choose(page, 'Done')
    await page.getByRole('alert').getByText('You were signed out').waitFor()
    const release = await holdRequests(page, '**/trpc/notes.remove')
    await signIn(page, await createKey(store, 'second'))
    await page.getByRole('heading', { name: 'No done notes' }).waitFor()
    await panelsLoaded(page)
    await page.keyboard.press('z')
    await notice(page).getByText('note 2 is being removed. Undo it after that.').waitFor()
    release()
    await expect.poll(() => store.notes.get(2n)).toBeUndefined()
  })

  test('not if somebody else has changed it meanwhile', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    await page.getByRole('link', { name: 'note 2' }).press('Delete')
    await store.notes.update({ id: 2n, set: { state: 'done' } })
    await page.getByRole('alert').getByText('Someone changed note 2, so it was not removed.').waitFor()
    await notice(page).getByRole('button', { name: 'Keep', exact: true }).click()
    await stateOf(page, 'note 2').getByText('Done').waitFor()
    expect(await store.notes.get(2n)).toMatchObject({ state: 'done' })
  })
})

describe('many notes', () => {
  test('are done with five clicks, with those that match on other pages, and all undone', async ({ start }) => {
    const { store, show } = await start(45)
    await store.notes.update({ id: 3n, set: { state: 'done' } })
    const page = await show({ isLoaded: true })
    const isAnnounced = await hearChanges(page)
    await page.getByRole('checkbox', { name: 'Select all notes of this page' }).check()
    await page.getByRole('button', { name: 'Select all 45 that match' }).click()
    await page.getByRole('region', { name: '45 selected' }).waitFor()
    // The button that had the focus is gone.
    expect(await isFocused(page.getByRole('link', { name: 'note 1', exact: true }))).toBe(true)
    await inspect(page, 'selected-all')
    await page.getByRole('button', { name: 'Set state' }).click()
    await page.getByRole('menuitemradio', { name: 'Done' }).click()
    await page.getByText('44 notes will change, 1 is already done.').waitFor()
    await inspect(page, 'change-many')
    await page.keyboard.press('Enter')
    await notice(page).hover()
    await notice(page).getByText('44 notes are done, 1 was already.').waitFor()
    await counting(page, 'Done 45')
    // A key may be pressed by accident.
    await page.keyboard.press('z')
    await page.getByRole('dialog', { name: 'Change 44 notes back?' }).getByText('44 notes will change.').waitFor()
    await page.keyboard.press('Escape')
    await notice(page).getByRole('button', { name: 'Undo' }).click()
    await notice(page).getByText('44 notes were changed back.').waitFor()
    await counting(page, 'Done 1')
    // Those of other pages are selected with the values that they have now.
    await page.getByRole('region', { name: '45 selected' }).getByRole('button', { name: 'Set state' }).click()
    await page.getByRole('menuitemradio', { name: 'Waiting' }).click()
    await page.getByRole('button', { name: 'Change 45 notes' }).click()
    await notice(page).getByText('45 notes are waiting.').waitFor()
    expect(await isAnnounced()).toBe(false)
  })

  test('are removed after a question, except those that somebody else has changed', async ({ open }) => {
    const { store, page } = await open(7, { isLoaded: true })
    await page.getByRole('checkbox', { name: 'Select all notes of this page' }).check()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove 7 notes?' })
    expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([
      ...['note 1 #1', 'note 2 #2', 'note 3 #3', 'note 4 #4', 'note 5 #5'],
      'and 2 more',
    ])
    await dialog.getByText('They can be added again, with new ids.').waitFor()
    expect(await isFocused(dialog.getByRole('button', { name: 'Cancel' }))).toBe(true)
    await inspect(page, 'remove-many')
    await store.notes.update({ id: 4n, set: { state: 'done' } })
    await dialog.getByRole('button', { name: 'Remove 7 notes' }).click()
    const result = page.getByRole('dialog', { name: 'Remove 7 notes', exact: true })
    await result.getByText('6 done, 1 skipped').waitFor()
    await result.getByText('Someone changed note 4 #4, so it was not removed.').waitFor()
    await inspect(page, 'remove-many-result')
    // As it is by then.
    await store.notes.update({ id: 4n, set: { body: 'Tea' } })
    await result.getByRole('button', { name: 'Remove 1 note anyway' }).click()
    const again = page.getByRole('dialog', { name: 'Remove 1 note?' })
    await again.getByText('Tea #4').waitFor()
    await again.getByText('It can be added again, with a new id.').waitFor()
    await store.notes.update({ id: 4n, set: { state: 'waiting' } })
    await again.getByRole('button', { name: 'Remove 1 note' }).click()
    await page.getByText('0 done, 1 skipped').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click()
    await expect.poll(() => names(page)).toEqual(['Tea'])
  })

  test('can be changed back if others of them were not changed, and only those stay selected', async ({ open }) => {
    const { store, page } = await open([3, { body: 'note 4', priority: 1n, state: 'done' }], { isLoaded: true })
    await changeMeanwhile(page, () => store.notes.update({ id: 2n, set: { state: 'waiting' } }))
    await setAllDone(page)
    const dialog = page.getByRole('dialog', { name: 'Set state to done', exact: true })
    await dialog.getByText('3 of 3').waitFor()
    await dialog.getByText('2 done, 1 had it already, 1 skipped').waitFor()
    await dialog.getByText('Someone changed the state of note 2 #2 to “Waiting”.').waitFor()
    const close = dialog.getByRole('button', { name: 'Leave 1 as it is' })
    await expect.poll(() => isFocused(close)).toBe(true)
    await page.keyboard.press('Enter')
    await notice(page).getByText('2 notes are done, 1 was already.').waitFor()
    await page.getByRole('region', { name: '1 selected' }).waitFor()
    expect(await page.getByRole('checkbox', { name: 'Select note 2' }).isChecked()).toBe(true)
    await page.keyboard.press('z')
    await notice(page).getByText('2 notes were changed back.').waitFor()
    for (const id of [1n, 3n]) await expectState(store, id).toBe('open')
    await expectState(store, 2n).toBe('waiting')
  })

  test('are changed over what somebody else has changed meanwhile, if the user insists', async ({ open }) => {
    const { store, page } = await open(3, { isLoaded: true })
    await changeMeanwhile(page, () => store.notes.update({ id: 2n, set: { state: 'waiting' } }))
    await setAllDone(page)
    await page.getByText('2 done, 1 skipped').waitFor()
    await inspect(page, 'change-many-conflict')
    const buttons = page.locator('.bulk-choice').getByRole('button')
    expect(await buttons.allInnerTexts()).toEqual(['Leave 1 as it is', 'Undo', 'Set 1 note to done anyway'])
    await buttons.last().click()
    await counting(page, 'Done 3')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  })
})

test('a key that may only read sees no controls and asks for no changes, and sees why', async ({ start }) => {
  const { url, store, log, show } = await start(3)
  const key = mintApiKey()
  await store.apiKeys.create(apiKeyRecord(key, 'viewer', undefined, 'read'))
  const page = await show({ path: '/?note=2', key })
  const sentence = 'Your API key can only show notes. It cannot show who changed what.'
  const refusal = 'Your API key can only show notes. It cannot change them.'
  const chip = page.locator('.tools').getByRole('button', { name: 'Read only' })
  await chip.waitFor()
  expect(await chip.getAttribute('aria-description')).toBe(sentence)
  await showing(page, '1–3 of 3')
  await chip.click()
  await notice(page).getByText(sentence).waitFor()
  await notice(page).getByRole('button', { name: 'Dismiss' }).click()
  expect(await page.getByRole('button', { name: /state|Remove|Edit|Done|Add|Changes/i }).count()).toBe(0)
  await page.getByRole('checkbox', { name: 'Select all notes of this page' }).check()
  await page.getByRole('region', { name: '3 selected' }).getByRole('button', { name: 'Copy' }).waitFor()
  expect(await page.getByRole('button', { name: /Set state|Remove/ }).count()).toBe(0)
  expect((await panel(page).getByRole('definition').allTextContents()).slice(0, 2)).toEqual(['2', 'note 2'])
  const history = panel(page).getByRole('region', { name: 'History' })
  await history.getByText('Your API key cannot show who changed what.').waitFor()
  await inspect(page, 'read-only')
  expect(log.join('')).not.toContain('history')
  await page.goto(`${url}/?open=add`)
  await chip.waitFor()
  await panelsLoaded(page)
  await notice(page).getByText(refusal).waitFor()
  expect(await panel(page).count()).toBe(0)
  expect(page.url()).toBe(`${url}/`)
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByText('Next note', { exact: true }).waitFor()
  expect(await help.getByText(/Add a new note|Remove the note|Undo/).count()).toBe(0)
  await page.keyboard.press('Escape')
  for (const each of ['n', 's', 'e', 'Delete', 'z']) {
    await page.getByRole('link', { name: 'note 2' }).focus()
    await page.keyboard.press(each)
    await notice(page).getByText(refusal).waitFor()
    await notice(page).getByRole('button', { name: 'Dismiss' }).click()
  }
  await page.goto(`${url}/?changes=all`)
  await panel(page).getByText('Your API key cannot show changes.', { exact: true }).waitFor()
})

test('two tabs change one note: each shows what the other one did, and no change is lost', async ({ start }) => {
  const { store, show } = await start(3)
  const [one, other] = [await show({ isLoaded: true }), await show({ isLoaded: true })]
  await setState(one, 'note 2', 'Done')
  await other.getByRole('link', { name: 'note 2' }).click()
  await panelFocused(other, 'note 2')
  await other.keyboard.press('e')
  await other.keyboard.type('Tea')
  await other.keyboard.press('Enter')
  await one.getByRole('link', { name: 'Tea' }).waitFor()
  await stateOf(other, 'Tea').getByText('Done').waitFor()
  expect(await store.notes.get(2n)).toMatchObject({ body: 'Tea', state: 'done' })
})

test('a notice shows the beginning of a long name, and all that happened to it', async ({ start }) => {
  const names = ['M'.repeat(255), 'Sir Barks-a-Lot of the Most Noble House '.repeat(6).trim()] as const
  const { store, show } = await start(names.map((body) => ({ body, priority: 1n, state: 'open' as const })))
  /** Expects a text to be visible as a whole, in at most so many lines. */
  async function expectShown(text: Locator, lines: number): Promise<void> {
    await waitForAnimations(text.page())
    const { height, hidden } = await text.evaluate((element) => ({
      height: element.clientHeight / Number.parseFloat(getComputedStyle(element).lineHeight),
      hidden: element.scrollHeight - element.clientHeight,
    }))
    expect(Math.round(height)).toBeLessThanOrEqual(lines)
    const { x, width } = await boxOf(text)
    expect(x + width).toBeLessThan(text.page().viewportSize()?.width ?? 0)
    expect(hidden).toBeLessThanOrEqual(1)
  }
  for (const width of [360, 1_280]) {
    const page = await show({ viewport: { width, height: 800 }, isLoaded: true })
    for (const name of names) {
      await setState(page, name, width === 360 ? 'Done' : 'Waiting')
      // The notice of the first name ends with the same words.
      const text = notice(page)
        .getByRole('paragraph')
        .filter({ hasText: name.slice(0, 10) })
      await text.getByText(width === 360 ? 'is done.' : 'is waiting.').waitFor()
      await expectShown(text, 2)
    }
    await changeMeanwhile(page, () => store.notes.update({ id: 2n, set: { state: 'open' } }))
    await setState(page, names[1], width === 360 ? 'Waiting' : 'Done')
    const conflict = page.getByRole('alert').filter({ hasText: 'Your value:' })
    await conflict.waitFor()
    await expectShown(conflict, 4)
    await inspect(page, `long-name-${width}`)
    await page.getByRole('button', { name: 'Keep theirs' }).click()
  }
})
