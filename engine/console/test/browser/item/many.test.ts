import { expect } from 'vitest'
import { createKey, revokeKey } from '../../../../test/notes/fixtures.ts'
import { choiceOf, choose, names, showing, turnPage } from '../list.ts'
import { type OpenNotes, test } from '../notes.ts'
import { boxOf, holdRequests, inspect, isFocused, loseResponses, press } from '../page.ts'
import { openBulkAdd, openChanges, panel, panelsLoaded } from '../panels.ts'
import { signIn } from '../session.ts'
import type { Locator, Page } from '../visit.ts'

async function openNotes(open: OpenNotes, count: number) {
  const { page, store } = await open(count, { path: '/?size=100' })
  await showing(page, `1–${count} of ${count}`)
  await panelsLoaded(page)
  return { page, store }
}

function selectAll(page: Page): Promise<void> {
  return page.getByRole('checkbox', { name: 'Select all notes of this page' }).check()
}

/** Sets the state of all notes of the page. */
async function setAllDone(page: Page): Promise<void> {
  await selectAll(page)
  await page.getByRole('button', { name: 'Set state' }).click()
  await page.getByRole('menuitemradio', { name: 'Done' }).click()
}

function notice(page: Page): Locator {
  return page.getByRole('region', { name: 'Last change' })
}

/** Presses the Tab key, and expects the focus to stay in a dialog. */
async function expectTrap(page: Page, dialog: Locator): Promise<void> {
  for (let presses = 0; presses < 5; presses++) {
    await page.keyboard.press('Tab')
    expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true)
  }
}

/** Moves the focus to the button that removes, once the dialog has moved it to Cancel. */
async function focusRemoval(page: Page, name: string): Promise<void> {
  await expect.poll(() => isFocused(page.getByRole('button', { name: 'Cancel' }))).toBe(true)
  await page.getByRole('button', { name }).focus()
}

test('while many notes are removed, the focus is on Stop, and Escape does the same', async ({ open }) => {
  const { page, store } = await openNotes(open, 80)
  await selectAll(page)
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  const release = await holdRequests(page, '**/trpc/notes.remove**')
  await focusRemoval(page, 'Remove 80 notes')
  // The second Enter of a double one does not stop it.
  await Promise.all([page.keyboard.press('Enter'), page.keyboard.press('Enter')])
  const job = page.getByRole('dialog', { name: 'Remove 80 notes', exact: true })
  const stop = job.getByRole('button', { name: 'Stop' })
  await expect.poll(() => isFocused(stop)).toBe(true)
  await expectTrap(page, job)
  await inspect(page, 'removing-many')
  await page.keyboard.press('Escape')
  await job.getByText('0 done, 60 not confirmed, 20 not sent').waitFor()
  expect(await isFocused(job.getByRole('button', { name: 'Close' }).last())).toBe(true)
  release()
  await page.unroute('**/trpc/notes.remove**')
  const next = job.getByRole('button', { name: /^Continue with/ })
  await next.press('Enter')
  await notice(page).getByText('80 notes were removed.').waitFor()
  expect(await store.notes.list({ limit: 9, cursor: 0n })).toEqual([])
})

test.for([
  { choice: 'Continue with 40', result: '60 notes are done.', state: 'done' },
  { choice: 'Undo', result: '60 notes were changed back.', state: 'open' },
])(
  'after lost responses and a stop, “$choice” changes each note, and is one entry of the changes',
  async ({ choice, result, state }, { open }) => {
    const { page, store } = await openNotes(open, 60)
    let requests = 0
    await page.route('**/trpc/notes.update**', async (route) => {
      const request = ++requests
      if (request === 1) return route.continue()
      if (request === 2) await route.fetch()
      await route.abort()
    })
    await setAllDone(page)
    const job = page.getByRole('dialog', { name: 'Set state to done', exact: true })
    await job.getByText('The service cannot be reached.').waitFor()
    await job.getByText('20 of 60').waitFor()
    await job.getByRole('button', { name: 'Stop' }).press('Enter')
    await job.getByText('20 done, 40 not confirmed', { exact: true }).waitFor()
    await inspect(page, 'changed-unconfirmed')
    await page.unroute('**/trpc/notes.update**')
    await job.getByRole('button', { name: choice }).click()
    await notice(page).getByText(result).waitFor()
    const notes = await store.notes.list({ limit: 100, cursor: 0n })
    expect(new Set(notes.map((note) => note.state))).toEqual(new Set([state]))
    const entries = (await openChanges(page)).locator('.changes > ol > li')
    await expect.poll(() => entries.count()).toBe(1)
    await entries.getByText('60 notes').waitFor()
    expect(await entries.getByText(/^Changed back by/).count()).toBe(state === 'open' ? 1 : 0)
  },
)

test('a change of which only lost responses are left is undone with a key after its dialog', async ({ open }) => {
  const { page, store } = await openNotes(open, 3)
  await loseResponses(page, '**/trpc/notes.update**')
  await setAllDone(page)
  const job = page.getByRole('dialog', { name: 'Set state to done', exact: true })
  await job.getByText('The service cannot be reached.').waitFor()
  await job.getByRole('button', { name: 'Stop' }).press('Enter')
  await job.getByRole('button', { name: 'Close' }).last().click()
  await notice(page).getByText('0 done, 3 not confirmed.').waitFor()
  await page.unroute('**/trpc/notes.update**')
  await page.keyboard.press('z')
  await notice(page).getByText('3 notes were changed back.').waitFor()
  expect(new Set((await store.notes.list({ limit: 9, cursor: 0n })).map((note) => note.state))).toEqual(
    new Set(['open']),
  )
})

/** Removes all notes of the page. */
async function removeAll(page: Page, count: number): Promise<void> {
  await selectAll(page)
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('button', { name: `Remove ${count} notes` }).click()
}

/** Presses the key, which asks before it undoes a change of more than 20 notes. */
async function undoByKey(page: Page, button: string): Promise<void> {
  await page.keyboard.press('z')
  await page.getByRole('dialog').getByRole('button', { name: button }).click()
}

/** Responds to the first request to change notes. Then it loads the page again, as soon as the second one has been read. */
async function reloadHalfWay(page: Page, start: () => Promise<void>): Promise<void> {
  const url = /\/trpc\/notes\.(update|remove|create)/
  const { promise: secondRead, resolve } = Promise.withResolvers<void>()
  let requests = 0
  await page.route(url, async (route) => {
    const request = ++requests
    if (request === 1) return route.continue()
    if (request === 2) await route.fetch().then(() => resolve())
  })
  await start()
  await secondRead
  await page.getByRole('dialog').getByText('20 of 60').waitFor()
  page.once('dialog', (dialog) => dialog.accept())
  await page.reload()
  await page.unroute(url)
}

const halfWay = [
  {
    change: 'a value',
    start: setAllDone,
    title: 'Set state to done',
    stopped: '20 done, 40 not confirmed',
    result: '60 notes are done.',
    changes: 60,
  },
  {
    change: 'an undo',
    prepare: async (page: Page) => {
      await setAllDone(page)
      await notice(page).getByText('60 notes are done.').waitFor()
    },
    start: (page: Page) => undoByKey(page, 'Change 60 notes back'),
    title: 'Change 60 notes back',
    stopped: '20 done, 40 not confirmed',
    result: '60 notes were changed back.',
    changes: 120,
  },
  {
    change: 'a removal',
    start: (page: Page) => removeAll(page, 60),
    title: 'Remove 60 notes',
    stopped: '20 done, 40 not confirmed',
    result: '60 notes were removed.',
    changes: 60,
  },
  {
    change: 'an addition',
    prepare: async (page: Page) => {
      await removeAll(page, 60)
      await notice(page).getByText('60 notes were removed.').waitFor()
    },
    start: (page: Page) => undoByKey(page, 'Add 60 notes again'),
    title: 'Add 60 notes again',
    stopped: '20 done, 20 not confirmed, 20 not sent',
    result: '60 notes were added again, with new ids.',
    changes: 60,
  },
]

test.for(halfWay)(
  'after a reload, $change of many notes continues when the user says so, without a second effect',
  async ({ prepare, start, title, stopped, result, changes }, { open }) => {
    const { page, store } = await openNotes(open, 60)
    await prepare?.(page)
    await reloadHalfWay(page, () => start(page))
    const job = page.getByRole('dialog', { name: title, exact: true })
    await job.getByText(stopped, { exact: true }).waitFor()
    await inspect(page, `stopped-by-reload-${title}`)
    await job.getByRole('button', { name: /^Continue with 40$/ }).click()
    await notice(page).getByText(result).waitFor()
    const notes = await store.notes.list({ limit: 100, cursor: 0n })
    expect(notes).toHaveLength(title.startsWith('Remove') ? 0 : 60)
    expect(new Set(notes.map(({ state }) => state)).size).toBeLessThan(2)
    const history = await Promise.all([61n, 161n].map((cursor) => store.notes.history({ limit: 100, cursor })))
    expect(new Set(history.flat().map(({ id }) => id)).size).toBe(changes)
    // It was closed.
    await page.reload()
    await panelsLoaded(page)
    expect(await page.getByRole('dialog').count()).toBe(0)
  },
)

test('after a reload, a change of many notes can be undone', async ({ open }) => {
  const { page, store } = await openNotes(open, 60)
  await reloadHalfWay(page, () => setAllDone(page))
  await page.getByRole('dialog', { name: 'Set state to done' }).getByRole('button', { name: 'Undo' }).click()
  await notice(page).getByText('60 notes were changed back.').waitFor()
  const notes = await store.notes.list({ limit: 100, cursor: 0n })
  expect(new Set(notes.map(({ state }) => state))).toEqual(new Set(['open']))
})

test.for(halfWay)(
  'after a reload, another API key sees how far $change of many notes went',
  async ({ prepare, start, title, stopped }, { open }) => {
    const { page, store } = await open(60, { path: '/?size=100', session: 'form', isLoaded: true })
    await prepare?.(page)
    await reloadHalfWay(page, () => start(page))
    await revokeKey(store, 'test')
    await page.getByRole('alert').getByText('You were signed out').waitFor()
    await signIn(page, await createKey(store, 'other'))
    const job = page.getByRole('dialog', { name: title, exact: true })
    await job.getByText(stopped, { exact: true }).waitFor()
    await job.getByText('This was started with another API key, and cannot be continued with yours.').waitFor()
    expect(await job.getByRole('button', { name: /^(Continue|Undo)/ }).count()).toBe(0)
  },
)

test('the focus stays in the dialogs of an import and of an export that run', async ({ open }) => {
  const { page } = await openNotes(open, 3)
  const sheet = await openBulkAdd(page, 'Tom,7\nZoe,7')
  const release = await holdRequests(page, '**/trpc/notes.create**')
  await sheet.getByRole('button', { name: 'Add 2 notes' }).press('Enter')
  await sheet.getByRole('button', { name: 'Stop' }).waitFor()
  await expectTrap(page, sheet)
  release()
  await sheet.getByRole('button', { name: 'View notes' }).click()
  await page.getByRole('button', { name: 'Export' }).click()
  const dialog = page.getByRole('dialog', { name: 'Export notes' })
  await holdRequests(page)
  await dialog.getByRole('button', { name: 'CSV' }).press('Enter')
  await dialog.getByRole('button', { name: 'Cancel' }).waitFor()
  await expectTrap(page, dialog)
})

test('the focus stays in the page if a removal with a key empties the list', async ({ open }) => {
  const { page } = await openNotes(open, 2)
  await selectAll(page)
  await page.keyboard.press('Delete')
  await focusRemoval(page, 'Remove 2 notes')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await expect.poll(() => isFocused(page.getByRole('heading', { name: 'Notes', exact: true }))).toBe(true)
})

test('the notice of a change of many notes stays until it is dismissed or the next change', async ({ open }) => {
  const { page } = await openNotes(open, 3)
  await choose(page, 'Open')
  await page.clock.install()
  await setAllDone(page)
  await notice(page).getByText('3 notes are done.').waitFor()
  await page.getByRole('button', { name: 'Show all' }).waitFor()
  await page.clock.runFor(60_000)
  await notice(page).getByRole('button', { name: 'Undo' }).waitFor()
  await page.keyboard.press('z')
  await notice(page).getByText('3 notes were changed back.').waitFor()
  const isGone = () => page.clock.runFor(1_000).then(() => notice(page).count())
  await expect.poll(isGone).toBe(0)
  await setAllDone(page)
  await notice(page).getByText('3 notes are done.').waitFor()
  await page.clock.runFor(60_000)
  await notice(page).getByRole('button', { name: 'Dismiss' }).click()
  await notice(page).waitFor({ state: 'hidden' })
})

test('a kept row leaves after a change of many notes', async ({ open }) => {
  const { page } = await openNotes(open, 6)
  await choose(page, 'Open')
  await choiceOf(page, 'note 1', /^State of /).click()
  await page.getByRole('menuitemradio', { name: 'Done' }).click()
  await page.locator('tr[data-left]', { hasText: 'note 1' }).waitFor()
  await page.keyboard.press('z')
  await page.locator('tr[data-left]').waitFor({ state: 'hidden' })
  await showing(page, '1–6 of 6')
  for (let id = 1; id <= 5; id++) await page.getByRole('checkbox', { name: `Select note ${id}`, exact: true }).check()
  await page.getByRole('button', { name: 'Set state' }).click()
  await page.getByRole('menuitemradio', { name: 'Done' }).click()
  await notice(page).getByText('5 notes are done.').waitFor()
  await expect.poll(() => names(page)).toEqual(['note 6'])
  // The user continues with the next row.
  await expect.poll(() => isFocused(page.getByRole('link', { name: 'note 6' }))).toBe(true)
  await page.keyboard.press('z')
  await notice(page).getByText('5 notes were changed back.').waitFor()
  await expect.poll(async () => (await names(page)).length).toBe(6)
})

/** Waits until the page has loaded the list again a few times, and returns how many alerts appeared meanwhile. */
async function alertsWhilePolling(page: Page): Promise<number> {
  await page.evaluate(() => {
    Object.assign(window, { alerts: 0 })
    new MutationObserver((records) => {
      const isAlert = (node: Node) => node instanceof Element && node.closest('[role=alert]') !== null
      const hasAlert = (node: Node) => node instanceof Element && node.querySelector('[role=alert]') !== null
      const added = records
        .flatMap(({ addedNodes }) => [...addedNodes])
        .filter((node) => isAlert(node) || hasAlert(node))
      Object.assign(window, { alerts: Reflect.get(window, 'alerts') + added.length })
    }).observe(document.body, { subtree: true, childList: true })
  })
  for (let round = 0; round < 3; round++) await page.waitForResponse(/notes\.list/)
  return page.evaluate(() => Reflect.get(window, 'alerts'))
}

test('a note that somebody else removes while it is open was removed, which is said once', async ({ open }) => {
  const { page, store } = await openNotes(open, 3)
  await page.getByRole('link', { name: 'note 2' }).click()
  await panel(page, 'note 2').getByRole('button', { name: 'Done' }).waitFor()
  await store.notes.remove({ id: 2n }, { owner: 1n, name: 'shop' })
  const alert = panel(page, 'note 2').getByRole('alert')
  await alert.waitFor()
  expect(await alert.innerText()).toMatch(/^note 2 was removed\.\s+By shop, \w+ \d+, \d{4}, \d+:\d+\.$/)
  await inspect(page, 'removed-while-open')
  expect(await alertsWhilePolling(page)).toBe(0)
  await page.reload()
  await panel(page).getByRole('heading', { name: 'note 2 was removed.' }).waitFor()
  expect(await alertsWhilePolling(page)).toBe(0)
  await panel(page).getByRole('button', { name: 'Add again: note 2 #2' }).click()
  await notice(page).getByText('note 2 #4 was added again.').waitFor()
})

test('a note that somebody else removes during a change of many is named, and no longer selected', async ({ open }) => {
  const { page, store } = await openNotes(open, 3)
  await page.route(
    '**/trpc/notes.update**',
    async (route) => {
      await store.notes.remove({ id: 2n }, { owner: 1n, name: 'shop' })
      await route.continue()
    },
    { times: 1 },
  )
  await setAllDone(page)
  const result = page.getByRole('dialog', { name: 'Set state to done', exact: true })
  await result.getByRole('listitem').getByText('note 2 #2 was removed by shop.').waitFor()
  await inspect(page, 'changed-some-removed')
  await result.getByRole('button', { name: 'Close' }).last().click()
  await notice(page).getByText('2 notes are done.').waitFor()
  await page.getByRole('region', { name: '2 selected' }).waitFor()
})

test('a selected note that somebody else removes is no longer selected, which a notice says', async ({ open }) => {
  const { page, store } = await openNotes(open, 4)
  const select = (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check()
  for (const name of ['note 1', 'note 2']) await select(name)
  await page.getByRole('button', { name: 'Set state' }).click()
  await page.getByRole('menuitemradio', { name: 'Done' }).click()
  await notice(page).getByText('2 notes are done.').waitFor()
  await page.keyboard.press('Escape')
  for (const name of ['note 2', 'note 3', 'note 4']) await select(name)
  await store.notes.remove({ id: 3n }, { owner: 1n, name: 'counter' })
  await page.getByRole('region', { name: '2 selected' }).waitFor()
  await notice(page).getByText('note 3 was removed by counter.').waitFor()
  await inspect(page, 'selected-removed')
  expect(await page.getByText('not on this page').count()).toBe(0)
  // The removal by somebody else is not what the key undoes.
  expect(await notice(page).getByRole('button', { name: 'Undo' }).count()).toBe(0)
  await page.keyboard.press('z')
  await notice(page).getByText('2 notes were changed back.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: '2 selected' }).waitFor({ state: 'hidden' })
  // One that has only left the filter stays selected.
  await choose(page, 'Open')
  for (const name of ['note 1', 'note 2', 'note 4']) await select(name)
  await store.notes.update({ id: 1n, set: { state: 'done' } })
  await page.getByText('1 not on this page').waitFor()
  for (const id of [2n, 4n]) await store.notes.remove({ id }, { owner: 1n, name: 'counter' })
  await notice(page)
    .getByText(/^(2 notes were removed|note 4 was removed by counter)\.$/)
    .waitFor()
  await page.getByRole('region', { name: '1 selected' }).getByText('1 not on this page').waitFor()
})

test('a selected note of another page that somebody else removes is no longer selected', async ({ open }) => {
  const { page, store } = await open(30, { isLoaded: true })
  for (const name of ['note 1', 'note 2'])
    await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check()
  await turnPage(page, 'Next', '21–30 of 30')
  await page.getByRole('region', { name: '2 selected' }).getByText('2 not on this page').waitFor()
  await store.notes.remove({ id: 1n }, { owner: 1n, name: 'counter' })
  await page.getByRole('region', { name: '1 selected' }).getByText('1 not on this page').waitFor()
  await notice(page).getByText('note 1 was removed by counter.').waitFor()
  // The notice about a change of the user is not true any more either.
  await choiceOf(page, 'note 30', /^State of /).click()
  await page.getByRole('menuitemradio', { name: 'Done' }).click()
  await notice(page).getByText('note 30 is done.').waitFor()
  await store.notes.remove({ id: 30n }, { owner: 1n, name: 'counter' })
  await notice(page).getByText('note 30 was removed by counter.').waitFor()
})

test('many notes that were removed are added again with a key, at the end, which a notice shows', async ({ open }) => {
  const { page, store } = await open(30, { isLoaded: true })
  const row = (name: string) => page.getByRole('link', { name, exact: true })
  await row('note 2').focus()
  await press(page, 'Shift+ArrowDown', 'Shift+ArrowDown', 'Delete')
  await focusRemoval(page, 'Remove 3 notes')
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('3 notes were removed. Add all 3 again with Z.').waitFor()
  await page.keyboard.press('z')
  await notice(page).getByText('3 notes were added again, with new ids.').waitFor()
  await inspect(page, 'added-again-show')
  await notice(page).getByRole('button', { name: 'Show them' }).click()
  await showing(page, '28–30 of 30')
  expect(await names(page)).toEqual(['note 2', 'note 3', 'note 4'])
  expect((await store.notes.list({ limit: 9, cursor: 30n })).map(({ id }) => id)).toEqual([31n, 32n, 33n])
  await page.keyboard.press('z')
  await notice(page).getByText('There is nothing to undo.').waitFor()
})

test('the focus goes to an item that is added again, and from the last ones to the one before', async ({ open }) => {
  const { page } = await openNotes(open, 6)
  const row = (name: string) => page.getByRole('link', { name, exact: true })
  async function removeFrom(name: string): Promise<void> {
    await row(name).focus()
    await press(page, 'Shift+ArrowDown', 'Shift+ArrowDown', 'Delete')
    await focusRemoval(page, 'Remove 3 notes')
    await page.keyboard.press('Enter')
  }
  await removeFrom('note 2')
  await expect.poll(() => isFocused(row('note 5'))).toBe(true)
  await page.keyboard.press('z')
  await expect.poll(() => isFocused(row('note 2'))).toBe(true)
  await removeFrom('note 2')
  await expect.poll(() => isFocused(row('note 6'))).toBe(true)
})

test('notes that are added again are not announced as changes of others while they arrive', async ({ open }) => {
  const { page, store } = await openNotes(open, 60)
  await selectAll(page)
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('button', { name: 'Remove 60 notes' }).click()
  await notice(page).getByText('60 notes were removed.').waitFor()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await page.evaluate(() => {
    new MutationObserver(() => {
      if (document.body.textContent.includes('new or changed')) Object.assign(window, { wasAnnounced: true })
    }).observe(document, { childList: true, subtree: true, characterData: true })
  })
  // The list is loaded before the response to each batch.
  let batches = 0
  await page.route('**/trpc/notes.create**', async (route) => {
    const response = await route.fetch()
    batches++
    await page
      .getByText(`1–${20 * batches} of`)
      .or(page.locator(`.item-list tbody tr:nth-child(${20 * batches})`))
      .first()
      .waitFor()
    await route.fulfill({ response })
  })
  await undoByKey(page, 'Add 60 notes again')
  await notice(page).getByText('60 notes were added again, with new ids.').waitFor()
  await showing(page, '1–60 of 60')
  expect(await store.notes.list({ limit: 100, cursor: 0n })).toHaveLength(60)
  expect(batches).toBe(3)
  expect(await page.evaluate(() => 'wasAnnounced' in window)).toBe(false)
})

test('an undo of what the user insisted on restores what the others had saved, but not over later changes', async ({
  open,
}) => {
  const { page, store } = await openNotes(open, 3)
  const states = async () => (await store.notes.list({ limit: 9, cursor: 0n })).map(({ state }) => state)
  await page.route(
    '**/trpc/notes.update**',
    async (route) => {
      for (const id of [1n, 2n]) await store.notes.update({ id, set: { state: 'waiting' } })
      await route.continue()
    },
    { times: 1 },
  )
  await setAllDone(page)
  await page.getByRole('button', { name: 'Set 2 notes to done anyway' }).click()
  await notice(page).getByText('2 notes are done.').waitFor()
  expect(await states()).toEqual(['done', 'done', 'done'])
  await store.notes.update({ id: 2n, set: { state: 'open' } })
  await page.keyboard.press('z')
  const result = page.getByRole('dialog', { name: 'Change 2 notes back' })
  await result.getByText('1 done, 1 skipped').waitFor()
  await result.getByText('Someone changed the state of note 2 #2 to “Open”.').waitFor()
  await result.getByRole('button', { name: 'Close' }).last().click()
  await notice(page).getByText('1 note was changed back.').waitFor()
  expect(await states()).toEqual(['waiting', 'open', 'done'])
})

test('an undo of which a part is refused leaves no notice of the change behind it', async ({ open }) => {
  const { page, store } = await openNotes(open, 3)
  await setAllDone(page)
  await notice(page).getByText('3 notes are done.').waitFor()
  await store.notes.update({ id: 2n, set: { state: 'waiting' } })
  await page.keyboard.press('z')
  const result = page.getByRole('dialog', { name: 'Change 3 notes back' })
  await result.getByText('2 done, 1 skipped').waitFor()
  expect(await notice(page).count()).toBe(0)
  await inspect(page, 'undone-some')
  await result.getByRole('button', { name: 'Close' }).last().click()
  await notice(page).getByText('2 notes were changed back.').waitFor()
})

test('rows whose import was undone are added again, also after a reload, with new ids', async ({ open }) => {
  const { page, store } = await openNotes(open, 2)
  const sheet = await openBulkAdd(page, 'Tom,7\nZoe,7\n,8')
  await sheet.getByRole('button', { name: 'Add 2 notes' }).click()
  await sheet.getByText('2 notes were added.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('2 added, 1 row is not added yet').waitFor()
  // A reload stops the undo.
  await page.route('**/trpc/notes.remove**', () => {})
  await Promise.all([page.waitForRequest(/notes\.remove/), page.keyboard.press('z')])
  page.once('dialog', (dialog) => dialog.accept())
  await page.reload()
  await page.unroute('**/trpc/notes.remove**')
  await page.getByRole('button', { name: 'Continue with 2' }).click()
  await notice(page).getByText('2 notes were removed.').waitFor()
  await page.getByText('3 rows are not added yet').waitFor()
  await page.reload()
  await page.getByText('3 rows are not added yet').waitFor()
  await page.getByRole('button', { name: 'Show the rows' }).click()
  await sheet.getByText('2 notes can be added, 1 row has a problem.').waitFor()
  await inspect(page, 'import-undone')
  await sheet.getByRole('button', { name: 'Add 2 notes' }).click()
  await sheet.getByText('2 notes were added.').waitFor()
  expect((await store.notes.list({ limit: 9, cursor: 0n })).map(({ id }) => id)).toEqual([1n, 2n, 5n, 6n])
})

test('an import is undone in its dialog', async ({ open }) => {
  const { page, store } = await openNotes(open, 2)
  const sheet = await openBulkAdd(page, 'Tom,7\nZoe,7')
  const closeButton = sheet.locator('.bulk-actions').getByRole('button', { name: 'Close' })
  const place = await boxOf(closeButton)
  await sheet.getByRole('button', { name: 'Add 2 notes' }).click()
  await sheet.getByText('2 notes were added.').waitFor()
  await inspect(page, 'import-finished')
  expect(await boxOf(closeButton)).toEqual(place)
  await sheet.getByRole('button', { name: 'Undo' }).click()
  await notice(page).getByText('2 notes were removed.').waitFor()
  expect((await store.notes.list({ limit: 9, cursor: 0n })).map(({ id }) => id)).toEqual([1n, 2n])
})

test('an undone import, or a removal, that was a whole page ends on the page before', async ({ open }) => {
  const { page } = await open(22, { isLoaded: true })
  const sheet = await openBulkAdd(page, 'Tom,7\nZoe,7')
  await sheet.getByRole('button', { name: 'Add 2 notes' }).click()
  await sheet.getByRole('button', { name: 'View notes' }).click()
  await showing(page, '23–24 of 24')
  await page.keyboard.press('z')
  await notice(page).getByText('2 notes were removed.').waitFor()
  await showing(page, '3–22 of 22')
  await page.goBack()
  await showing(page, '1–20 of 22')
  await turnPage(page, 'Next', '21–22 of 22')
  for (const each of ['note 21', 'note 22']) {
    await page.getByRole('link', { name: each }).press('Delete')
  }
  await showing(page, '1–20 of 20')
  await expect.poll(() => isFocused(page.getByRole('link', { name: 'note 20' }))).toBe(true)
})

test('an import is undone with a key, but for what somebody else has changed since', async ({ open }) => {
  const { page, store } = await openNotes(open, 2)
  const sheet = await openBulkAdd(page, 'Tom,7\nZoe,7\nKim,8')
  await sheet.getByText('One note per row: text, priority, state, due, and book.').waitFor()
  await sheet.getByRole('button', { name: 'Add 3 notes' }).waitFor()
  await page.keyboard.press('Control+Enter')
  await sheet.getByText('3 notes were added.').waitFor()
  await sheet.getByRole('button', { name: 'View notes' }).click()
  await notice(page).getByText('3 notes were added.').waitFor()
  await inspect(page, 'imported')
  await store.notes.update({ id: 4n, set: { state: 'done' } })
  await page.keyboard.press('z')
  const result = page.getByRole('dialog', { name: 'Remove 3 notes' })
  await result.getByText('2 done, 1 skipped').waitFor()
  await result.getByRole('button', { name: 'Close' }).last().click()
  await notice(page).getByText('2 notes were removed.').waitFor()
  expect((await store.notes.list({ limit: 9, cursor: 0n })).map(({ id }) => id)).toEqual([1n, 2n, 4n])
})
