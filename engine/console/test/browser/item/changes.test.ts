import { describe, expect } from 'vitest'
import { addNotes, createKey, createNotesClient } from '../../../../test/notes/fixtures.ts'
import { editKeyOf, theAddition } from '../../../resource/edit-key.ts'
import { names, showing } from '../list.ts'
import { test } from '../notes.ts'
import { boxOf, closeByEscape, holdRequests, inspect, isFocused } from '../page.ts'
import { openChanges, openTools, panel, panelsLoaded } from '../panels.ts'
import type { Locator, Page } from '../visit.ts'

/** The panel with the changes of all notes. */
function changesOf(page: Page) {
  return panel(page, 'Changes of notes')
}

function notice(page: Page) {
  return page.getByRole('region', { name: 'Last change' })
}

/** What a change of an action of the console has, by RPC and in the store. */
function of(action: string, id: bigint, undoes?: string) {
  const key = editKeyOf(id, undoes, action)
  return { owner: 1n, key, context: { idempotencyKey: key } }
}

/** The texts of elements, on one line each. */
async function textsOf(elements: Locator): Promise<string[]> {
  return (await elements.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
}

test('one click shows what was changed and removed today, and the panel the history of a note', async ({ start }) => {
  const { rpc, show } = await start(25)
  await rpc.notes.update.mutate({ noteId: 2n, state: 'done' })
  await rpc.notes.update.mutate({ noteId: 2n, body: 'Call Tom' })
  await rpc.notes.remove.mutate({ noteId: 3n })
  const { keyName } = await rpc.session.current.query()
  const page = await show()
  await showing(page, '1–20 of 24')
  const sheet = await openChanges(page)
  await sheet.getByRole('heading', { name: 'Today · 2 changed, 1 removed' }).waitFor()
  await page.locator('[aria-current="true"]', { hasText: 'Changes' }).waitFor()
  const entries = sheet.getByRole('listitem')
  await expect.poll(() => entries.count()).toBe(3)
  const texts = await textsOf(entries)
  expect(texts[0]).toMatch(
    new RegExp(`^note 3 #3 was removed Priority 1 State Open by ${keyName}, \\d+:\\d+ Add again$`),
  )
  expect(texts[1]).toMatch(/^Call Tom #2 Text note 2 → Call Tom by .* Change back$/)
  expect(texts[2]).toMatch(/^Call Tom #2 State Open → Done by .* Change back$/)
  await inspect(page, 'changes')
  await sheet.getByRole('link', { name: 'Call Tom #2' }).first().click()
  const history = panel(page, 'Call Tom').getByRole('region', { name: 'History' })
  await expect.poll(() => history.getByRole('listitem').count()).toBe(2)
  // What the user changes appears at once.
  await panel(page, 'Call Tom').getByRole('button', { name: 'Waiting' }).click()
  await expect.poll(() => history.getByRole('listitem').count()).toBe(3)
  await inspect(page, 'history')
})

test('equal changes of several notes are one entry with their undo, and a removed note no link', async ({ start }) => {
  const { rpc, show } = await start(6)
  for (const noteId of [1n, 2n, 3n, 4n]) await rpc.notes.update.mutate({ noteId, state: 'done' }, of('sale', noteId))
  for (const noteId of [1n, 2n, 3n, 4n])
    await rpc.notes.update.mutate({ noteId, state: 'open' }, of('undo', noteId, 'sale'))
  for (const name of ['Ann', 'Bob', 'Cid']) await rpc.notes.update.mutate({ noteId: 6n, body: name })
  await rpc.notes.remove.mutate({ noteId: 4n })
  const page = await show()
  const sheet = await openChanges(page)
  await sheet.getByRole('heading', { name: 'Today · 3 changed, 1 removed, 4 changed back' }).waitFor()
  expect(await textsOf(sheet.locator('summary'))).toEqual(['4 notes State Open → Done'])
  const { keyName } = await rpc.session.current.query()
  await sheet.getByText(`Changed back by ${keyName}, `).waitFor()
  // One was removed.
  const offers = sheet.getByRole('button', { name: /^Change (all|\d)/ })
  expect(await offers.allInnerTexts()).toEqual(['Change 3 again'])
  await sheet.getByText('4 notes').first().click()
  await sheet.getByRole('link', { name: 'note 3 #3' }).waitFor()
  // Three of the entry, three of one note, and that to the newest.
  await expect.poll(() => sheet.getByRole('link').count()).toBe(7)
  await sheet.locator('details').getByText('note 4 #4', { exact: true }).waitFor()
})

test('a change and its undo are one entry of both keys, unless they are of two days', async ({ start }) => {
  const { url, store, rpc, show } = await start(3)
  const { keyName } = await rpc.session.current.query()
  const ann = createNotesClient({ url, apiKey: await createKey(store, 'Ann') })
  for (const noteId of [3n, 2n]) {
    await rpc.notes.update.mutate({ noteId, state: 'done' }, of(`sale-${noteId}`, noteId))
    await ann.notes.update.mutate({ noteId, state: 'open' }, of(`undo-${noteId}`, noteId, `sale-${noteId}`))
  }
  const page = await show()
  await timeChanges(page, (id, at) => (id === 1n ? at - 86_400_000 : at))
  const sheet = await openChanges(page)
  await sheet.getByRole('heading', { name: 'Today · 1 changed, 1 changed back' }).waitFor()
  await sheet.getByRole('heading', { name: 'Yesterday · 1 changed' }).waitFor()
  const entries = async () =>
    (await sheet.getByRole('listitem').allInnerTexts()).map((text) =>
      text.replaceAll(/\s+/g, ' ').replaceAll(/, \d+:\d+/g, ''),
    )
  const pair = `note 2 #2 State Open → Done by ${keyName} Changed back by Ann Change again`
  const today = 'note 3 #3 State Done → Open by Ann Change back'
  const yesterday = `note 3 #3 State Open → Done by ${keyName} Changed back`
  await expect.poll(entries).toEqual([pair, today, yesterday])
  await inspect(page, 'changes-undone')
  await sheet.getByLabel('By').selectOption('Ann')
  await expect.poll(entries).toEqual([pair, today])
  await sheet.getByLabel('By').selectOption(keyName)
  await expect.poll(entries).toEqual([pair, yesterday])
})

test('a change of many notes is one entry with what they had, also across a restart, and with their undo', async ({
  start,
}) => {
  const { store, rpc, show } = await start(240)
  const ids = Array.from({ length: 240 }, (_, index) => BigInt(index + 1))
  const stateOf = (id: bigint) => (id % 3n === 0n ? 'waiting' : 'open')
  for (const id of ids.filter((each) => stateOf(each) === 'waiting'))
    await store.notes.update({ id, set: { state: 'waiting', body: `tea ${id}` } })
  for (const noteId of ids) await rpc.notes.update.mutate({ noteId, state: 'done' }, of('sale', noteId))
  const page = await show()
  // As if the service had restarted during the change.
  await timeChanges(page, (id, at) => (id <= 180n ? at - 4_000 : at))
  await page.getByRole('button', { name: 'Changes' }).click()
  const sheet = changesOf(page)
  await sheet.getByText('240 notes').waitFor()
  const summaries = () => textsOf(sheet.locator('summary'))
  expect(await summaries()).toEqual(['240 notes State 160 were Open, 80 were Waiting → Done'])
  await inspect(page, 'changes-of-many-values')
  await sheet.getByRole('button', { name: /^Change all 240 back: .* and 239 more, state to what they were$/ }).click()
  const question = page.getByRole('dialog', { name: 'Change 240 notes back?' })
  await question.getByText('240 notes will change.').waitFor()
  await inspect(page, 'change-back-question')
  await question.getByRole('button', { name: 'Change 240 notes' }).click()
  await notice(page).getByText('240 notes were changed back.').waitFor()
  const notes = (await store.notes.list({ limit: 240, cursor: 0n })).map(({ id, state }) => [id, state])
  expect(notes).toEqual(ids.map((id) => [id, stateOf(id)]))
  await sheet.getByText(/^Changed back by /).waitFor()
  expect(await summaries()).toEqual(['240 notes State 160 were Open, 80 were Waiting → Done'])
  await inspect(page, 'changes-of-many-undone')
  await sheet.getByRole('button', { name: /^Change all 240 again: .* and 239 more, state to Done$/ }).click()
  await page
    .getByRole('dialog', { name: 'Change 240 notes back?' })
    .getByRole('button', { name: 'Change 240 notes' })
    .click()
  await sheet.getByRole('button', { name: /^Change all 240 back: / }).waitFor()
})

test('a day before the latest 10,000 changes says that they do not match, and what shows others', async ({ start }) => {
  const { store, show } = await start(1)
  for (let priority = 1n; priority <= 10_100n; priority += 100n)
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        store.notes.update({ id: 1n, set: { priority: priority + BigInt(index + 1) } }),
      ),
    )
  const page = await show({ path: '/?changes=all&until=2026-01-01' })
  await changesOf(page).getByText('Looking at earlier changes…').waitFor()
  await changesOf(page)
    .getByText('Of the latest 10,000 changes, none matches. “Show more” looks at earlier ones.')
    .waitFor()
  await inspect(page, 'changes-none-yet')
  await changesOf(page).getByRole('button', { name: 'Show more' }).click()
  await changesOf(page).getByText('No changes match. Choose another kind, key or day.').waitFor()
})

/** Lets the history say that the changes were made at other times. */
async function timeChanges(page: Page, timeOf: (id: bigint, at: number) => number): Promise<void> {
  await page.route('**/trpc/*notes.history**', async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replaceAll(/"id":"(\d+)","at":"([^"]+)"/g, (entry, id, at) =>
      entry.replace(at, new Date(timeOf(BigInt(id), Date.parse(at))).toISOString()),
    )
    await route.fulfill({ response, body })
  })
}

test('two actions that set the same value are two entries, and changes of other programs one each', async ({
  start,
}) => {
  const { rpc, show } = await start(20)
  for (let noteId = 1n; noteId <= 10n; noteId++)
    await rpc.notes.update.mutate({ noteId, state: 'done' }, of(noteId <= 4n ? 'one' : 'other', noteId))
  for (let noteId = 11n; noteId <= 14n; noteId++) await rpc.notes.update.mutate({ noteId, state: 'done' })
  const page = await show()
  const sheet = await openChanges(page)
  await sheet.getByRole('button', { name: 'Change all 6 back: ' }).waitFor()
  await sheet.getByRole('button', { name: 'Change all 4 back: ' }).waitFor()
  expect(await sheet.locator('.changes > ol > li').count()).toBe(6)
})

test('a change to the former value that is no undo is an entry of its own', async ({ start }) => {
  const { url, store, rpc, show } = await start(3)
  const ann = createNotesClient({ url, apiKey: await createKey(store, 'Ann') })
  await rpc.notes.update.mutate({ noteId: 2n, state: 'done' })
  await rpc.notes.update.mutate({ noteId: 2n, state: 'open' })
  await ann.notes.update.mutate({ noteId: 2n, state: 'done' })
  const sheet = await openChanges(await show())
  const entries = sheet.locator('.changes > ol > li')
  await expect.poll(() => entries.count()).toBe(3)
  const [newest, ...others] = await textsOf(entries)
  expect(newest).toMatch(/^note 2 #2 State Open → Done by Ann, .* Change back$/)
  expect(others).toEqual(others.map(() => expect.stringMatching(/Changed since$/)))
})

test('an addition that was undone is no removal', async ({ start }) => {
  const { store, show } = await start(9)
  for (const id of [2n, 3n, 4n]) await store.notes.remove({ id }, of('import', id, theAddition))
  await store.notes.remove({ id: 5n }, of('undo', 5n, theAddition))
  const sheet = await openChanges(await show())
  const entries = sheet.locator('.changes > ol > li')
  await expect.poll(() => entries.count()).toBe(2)
  await sheet.getByRole('heading', { name: 'Today', exact: true }).waitFor()
  const [one, many] = await textsOf(entries)
  expect(one).toMatch(/^The addition of note 5 #5 was undone .* Add again$/)
  expect(many).toMatch(/^The addition of 3 notes was undone .* Add all 3 again$/)
})

test('each entry has the newest name of its note, also of one that was removed', async ({ start }) => {
  const { rpc, show } = await start(4)
  for (const noteId of [1n, 3n, 4n]) await rpc.notes.update.mutate({ noteId, state: 'waiting' }, of('call', noteId))
  for (const set of [{ body: 'Ziggy A2' }, { state: 'done' as const }, { body: 'Ziggy B3' }])
    await rpc.notes.update.mutate({ noteId: 2n, ...set })
  await rpc.notes.remove.mutate({ noteId: 2n })
  const page = await show()
  await page.getByRole('button', { name: 'Changes' }).click()
  const sheet = changesOf(page)
  await sheet.getByRole('button', { name: 'Change all 3 back: note 4 #4 and 2 more, state to Open' }).waitFor()
  const titles = sheet.locator('.changes-item')
  const removed = Array.from({ length: 3 }, () => 'Ziggy B3 #2')
  await expect.poll(() => titles.allInnerTexts()).toEqual(['Ziggy B3 #2 was removed', ...removed])
})

test('a change of more notes than a page has is counted as a whole, and undone once', async ({ start }) => {
  const { store, show } = await start(240)
  for (let id = 1n; id <= 230n; id++) await store.notes.remove({ id }, of('removal', id))
  for (const state of ['done', 'open', 'waiting'] as const) await store.notes.update({ id: 240n, set: { state } })
  const page = await show()
  const sheet = await openChanges(page)
  await sheet.getByText('230 notes were removed').waitFor()
  const entries = await textsOf(sheet.locator('.changes > ol > li'))
  expect(entries).toContainEqual(expect.stringMatching(/^230 notes were removed by /))
  await inspect(page, 'changes-of-pages')
  await sheet.getByRole('button', { name: 'Add all 230 again' }).click()
  await notice(page).getByText('230 notes were added again, with new ids.').waitFor()
  await sheet.getByText('Added again').waitFor()
  expect(await sheet.getByRole('button', { name: /again/ }).count()).toBe(0)
})

test('a note that was removed is added again with its values, also together with others, once', async ({ start }) => {
  const { store, show } = await start()
  const dueAt = new Date('2026-10-25T01:30:00.123Z')
  await store.notes.create({ body: 'Tea', priority: 1n, state: 'done', dueAt })
  await addNotes(store, 3)
  for (const id of [1n, 2n, 3n]) await store.notes.remove({ id }, of('removal', id))
  const page = await show()
  await showing(page, '1 of 1')
  await page.getByRole('button', { name: 'Changes' }).click()
  await page.getByText('3 notes were removed').click()
  const removed = page.getByRole('listitem').filter({ hasText: 'Tea #1 was removed' }).last()
  await removed.getByRole('button', { name: 'Add again: Tea #1', exact: true }).click()
  await notice(page).getByText('Tea #5 was added again.').waitFor()
  expect(await store.notes.get(5n)).toMatchObject({ body: 'Tea', state: 'done', dueAt })
  await removed.getByText('Added again as Tea #5').waitFor()
  await expect.poll(() => isFocused(removed)).toBe(true)
  await inspect(page, 'added-again')
  await page.reload()
  await page.getByText('3 notes were removed').click()
  await removed.getByRole('link', { name: 'Tea #5' }).click()
  await panel(page, 'Tea').waitFor()
  await page.goBack()
  await page.getByRole('button', { name: /^Add all 3 again: .* and 2 more$/, exact: true }).click()
  await notice(page).getByText('2 notes were added again, 1 had already been.').waitFor()
  expect((await store.notes.list({ limit: 9, cursor: 0n })).map(({ id }) => id)).toEqual([4n, 5n, 6n, 7n])
})

test('the changes have a URL, and going back from a note leads to the same place in them', async ({ start }) => {
  const { url, rpc, show } = await start(25)
  for (let noteId = 1n; noteId <= 25n; noteId++) await rpc.notes.update.mutate({ noteId, body: `tea ${noteId}` })
  for (const width of [1_280, 360]) {
    const page = await show({ viewport: { width, height: 800 } })
    await openTools(page)
    await page.getByRole('button', { name: 'Changes' }).click()
    await page.waitForURL('**/?changes=all')
    await page.reload()
    await panelsLoaded(page)
    const changes = page.getByRole(width === 360 ? 'dialog' : 'complementary', { name: 'Changes of notes' })
    const link = changes.getByRole('link', { name: 'tea 3 #3' })
    await link.click()
    await page.waitForURL('**/?changes=all&note=3')
    const note = page.getByRole('heading', { level: 2, name: 'tea 3', exact: true })
    await note.waitFor()
    expect(await changes.count()).toBe(0)
    await page.goBack()
    await note.waitFor({ state: 'hidden' })
    // It is one of the last ones.
    const { y } = await boxOf(link)
    expect(y).toBeGreaterThan(0)
    expect(y).toBeLessThan(800)
    if (width === 1_280) await expect.poll(() => isFocused(link)).toBe(true)
    await page.goForward()
    await note.waitFor()
    await page.reload()
    await note.waitFor()
    await page.keyboard.press('Escape')
    await link.waitFor()
    await closeByEscape(changes)
    await page.waitForURL(`${url}/`)
  }
})

test('filters by action, key and day load the changes on until there are some', async ({ start }) => {
  const { url, store, rpc, show } = await start(130)
  const ann = createNotesClient({ url, apiKey: await createKey(store, 'Ann') })
  await ann.notes.remove.mutate({ noteId: 130n })
  for (let noteId = 1n; noteId <= 120n; noteId++) await rpc.notes.update.mutate({ noteId, body: `tea ${noteId}` })
  const page = await show({ path: '/?changes=all' })
  const changes = changesOf(page)
  await expect.poll(() => changes.getByRole('listitem').count()).toBe(100)
  const loadedNames = changes.getByLabel('By').locator('optgroup')
  const labelOfNames = () => loadedNames.evaluateAll((groups) => groups.map((each) => each.getAttribute('label')))
  expect(await labelOfNames()).toEqual(['Of the latest 100 changes'])
  await changes.getByRole('radio', { name: 'Removed' }).check()
  await changes.getByText('note 130 #130 was removed').waitFor()
  expect(await changes.getByRole('listitem').count()).toBe(1)
  // There are no others.
  await expect.poll(labelOfNames).toEqual([])
  await inspect(page, 'changes-filtered')
  await page.waitForURL('**/?changes=remove')
  await changes.getByRole('radio', { name: 'All' }).check()
  await changes.getByLabel('By').selectOption('Ann')
  await page.reload()
  await expect.poll(() => changes.getByRole('listitem').count()).toBe(1)
  await expect.poll(labelOfNames).toEqual([])
  expect(await changes.getByLabel('By').inputValue()).toBe('Ann')
  await changes.getByLabel('By').selectOption('Anyone')
  await changes.getByLabel('Until').fill('2026-01-01')
  await changes.getByText('No changes match. Choose another kind, key or day.').waitFor()
  await page.waitForURL('**/?changes=all&until=2026-01-01')
  await inspect(page, 'changes-none')
  await changes.getByRole('link', { name: 'Newest notes' }).click()
  await page.waitForURL('**/?order=newest')
  await expect.poll(() => names(page).then(([first]) => first)).toBe('note 129')
})

test('a note that somebody else has added again is added once more only if the user wants that', async ({ start }) => {
  const { url, store, rpc, show } = await start(3)
  const ann = createNotesClient({ url, apiKey: await createKey(store, 'Ann') })
  await rpc.notes.remove.mutate({ noteId: 2n })
  await ann.notes.create.mutate({ body: 'note 2', priority: 2n })
  await ann.notes.create.mutate({ body: 'note 2', priority: 1n })
  const page = await show()
  await showing(page, '1–4 of 4')
  const again = (await openChanges(page)).getByRole('button', { name: 'Add again: note 2 #2' })
  const question = page.getByRole('dialog', { name: 'Add 1 note again' })
  await again.click()
  await question.getByText('note 2 #5 has the same values.').waitFor()
  await inspect(page, 'added-by-another')
  await question.getByRole('link', { name: 'note 2 #5' }).click()
  await page.waitForURL('**/?changes=all&note=5')
  await page.goBack()
  await again.click()
  await question.getByText('note 2 #5 has the same values.').waitFor()
  expect(await store.notes.list({ limit: 9, cursor: 0n })).toHaveLength(4)
  await question.getByRole('button', { name: 'Add anyway' }).click()
  await notice(page).getByText('note 2 #6 was added again.').waitFor()
})

test('the panel of a note that was added again shows no error', async ({ start }) => {
  const { rpc, show } = await start(3)
  await rpc.notes.remove.mutate({ noteId: 2n })
  const page = await show({ path: '/?note=2' })
  await panel(page).getByRole('alert').getByText('note 2 was removed.').waitFor()
  await panel(page).getByRole('button', { name: 'Add again: note 2 #2' }).click()
  const result = panel(page).getByText('Added again as note 2 #4', { exact: true })
  await result.waitFor()
  expect(await panel(page).getByRole('alert').count()).toBe(0)
  expect(await result.evaluate((element) => getComputedStyle(element, '::before').content)).toBe('none')
  await inspect(page, 'removed-added-again')
})

describe('a change', () => {
  test('is changed back with one click, in the changes and in the panel, and z undoes that', async ({ start }) => {
    const { store, rpc, show } = await start(3)
    await rpc.notes.update.mutate({ noteId: 2n, state: 'done', dueAt: new Date(0) })
    await rpc.notes.update.mutate({ noteId: 2n, body: 'Tea' })
    const page = await show()
    await page.getByRole('button', { name: 'Changes' }).click()
    const entries = changesOf(page).getByRole('listitem')
    await entries.getByRole('button', { name: 'Change back: Tea #2, text to note 2', exact: true }).waitFor()
    await entries
      .getByRole('button', { name: 'Change back: Tea #2, state to Open, due to nothing', exact: true })
      .waitFor()
    await inspect(page, 'change-back')
    await entries.nth(1).getByRole('button', { name: 'Change back' }).click()
    await notice(page).getByText('State and Due of Tea are now Open, nothing.').waitFor()
    await expect.poll(() => store.notes.get(2n)).toMatchObject({ state: 'open' })
    expect(await store.notes.get(2n)).not.toHaveProperty('dueAt')
    // A change that was changed back has no button any more. Its entry says so, and keeps the focus.
    await entries
      .nth(1)
      .getByText(/^Changed back by /)
      .waitFor()
    await entries.getByRole('button', { name: 'Change again: Tea #2, state to Done, due to ' }).waitFor()
    expect(await entries.count()).toBe(2)
    expect(await isFocused(entries.nth(1))).toBe(true)
    expect(await page.getByRole('button', { name: 'Change back' }).count()).toBe(1)
    await entries.getByRole('link', { name: 'Tea #2' }).first().click()
    const history = panel(page, 'Tea').getByRole('region', { name: 'History' })
    await inspect(page, 'history-change-back')
    await history.getByRole('listitem').nth(0).getByRole('button', { name: 'Change back' }).click()
    await notice(page).getByText('Text of Tea is now note 2.').waitFor()
    await expect.poll(() => store.notes.get(2n)).toMatchObject({ body: 'note 2' })
    const changed = panel(page, 'note 2').getByRole('region', { name: 'History' }).getByRole('listitem').nth(0)
    await expect.poll(() => isFocused(changed)).toBe(true)
    await page.keyboard.press('z')
    await expect.poll(() => store.notes.get(2n)).toMatchObject({ body: 'Tea' })
  })

  test('says that it was changed back only if that is so, not if what it restored was restored again', async ({
    start,
  }) => {
    const { store, show } = await start(3)
    const states = ['done', 'waiting', 'done', 'waiting', 'done', 'open'] as const
    const undone = [undefined, undefined, '2', undefined, '4', '1']
    for (const [index, state] of states.entries())
      await store.notes.update({ id: 2n, set: { state } }, { ...of(`${index + 1}`, 2n, undone[index]), name: 'shop' })
    const page = await show()
    const sheet = await openChanges(page)
    const entries = sheet.getByRole('listitem')
    await entries.getByRole('link', { name: 'note 2 #2' }).first().waitFor()
    const textsOf = async (shown: Locator) =>
      (await shown.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').replaceAll(/ by shop, \d+:\d+/g, ''))
    const expected = [
      'State Done → Waiting Changed back',
      'State Done → Waiting Changed back',
      'State Open → Done Changed back Change again',
    ]
    await expect.poll(() => textsOf(entries)).toEqual(expected.map((text) => `note 2 #2 ${text}`))
    await sheet.getByRole('heading', { name: 'Today · 3 changed back', exact: true }).waitFor()
    const [by, back] = await entries.nth(1).locator('.changes-by').all()
    if (!by || !back) throw new Error('The entry does not say what became of it.')
    const [former, next] = [await boxOf(by), await boxOf(back)]
    expect(next.x).toBeCloseTo(former.x + former.width, 0)
    await entries.getByRole('link', { name: 'note 2 #2' }).first().click()
    const history = panel(page, 'note 2').getByRole('region', { name: 'History' }).getByRole('listitem')
    await expect.poll(() => textsOf(history)).toEqual(expected)
  })

  test('after which somebody else has changed the same field is a conflict', async ({ start }) => {
    const { store, rpc, show } = await start(3)
    await rpc.notes.update.mutate({ noteId: 2n, state: 'done' })
    const page = await show()
    await page.getByRole('button', { name: 'Changes' }).click()
    const entries = page.getByRole('listitem')
    await entries.getByRole('button', { name: 'Change back' }).waitFor()
    // The page does not know of it yet.
    await holdRequests(page, '**/trpc/*notes.{list,history}**')
    await rpc.notes.update.mutate({ noteId: 2n, state: 'waiting' })
    await entries.getByRole('button', { name: 'Change back' }).click()
    await page.unroute('**/trpc/*notes.{list,history}**')
    await page
      .getByRole('alert')
      .getByText('changed the state of note 2 to “Waiting”. Undoing would set it to “Open”.')
      .waitFor()
    expect(await store.notes.get(2n)).toMatchObject({ state: 'waiting' })
    const conflict = page.getByRole('region', { name: 'Not saved' })
    expect(await conflict.getByRole('button').allInnerTexts()).toEqual(['Keep theirs', 'Change back'])
    await conflict.getByRole('button', { name: 'Change back' }).click()
    await expect.poll(() => store.notes.get(2n)).toMatchObject({ state: 'open' })
  })

  test('of which a part was changed later is changed back for the others, and not offered again', async ({ start }) => {
    const { store, rpc, show } = await start(4)
    for (let noteId = 1n; noteId <= 4n; noteId++)
      await rpc.notes.update.mutate({ noteId, state: 'done' }, of('sale', noteId))
    await store.notes.update({ id: 3n, set: { state: 'waiting' } }, { owner: 1n, name: 'shop' })
    await store.notes.remove({ id: 2n }, { owner: 1n, name: 'shop' })
    const page = await show()
    await page.getByRole('button', { name: 'Changes' }).click()
    const entry = changesOf(page)
      .locator('.changes > ol > li')
      .filter({ has: page.locator('summary') })
    await entry.getByRole('button', { name: /^Change 2 back: .* and 1 more, state to Open$/ }).click()
    await notice(page).getByText('2 notes were changed back.').waitFor()
    const states = (await store.notes.list({ limit: 9, cursor: 0n })).map(({ state }) => state)
    expect(states).toEqual(['open', 'waiting', 'open'])
    await entry.getByText('Changed since').waitFor()
    await page.keyboard.press('z')
    await expect.poll(async () => (await store.notes.get(1n))?.state).toBe('done')
    // That of the former change is gone by then.
    await notice(page).getByText('2 notes were changed back.').waitFor()
    await page.keyboard.press('z')
    await notice(page).getByText('There is nothing to undo.').waitFor()
    await page.reload()
    // An undo that was undone supersedes nothing.
    await entry.getByRole('button', { name: /^Change 2 back: .* and 1 more, state to Open$/ }).waitFor()
    await inspect(page, 'changed-since')
  })

  test('of many notes says which ones others have changed or removed meanwhile', async ({ start }) => {
    const { store, rpc, show } = await start(9)
    for (let noteId = 1n; noteId <= 9n; noteId++)
      await rpc.notes.update.mutate({ noteId, state: 'done' }, of('sale', noteId))
    const page = await show()
    await page.getByRole('button', { name: 'Changes' }).click()
    await page.route(
      '**/trpc/notes.update**',
      async (route) => {
        for (let id = 2n; id <= 8n; id++) await store.notes.update({ id, set: { state: 'waiting' } })
        await store.notes.remove({ id: 9n }, { owner: 1n, name: 'shop' })
        await route.continue()
      },
      { times: 1 },
    )
    await page.getByRole('button', { name: /^Change all 9 back: / }).click()
    const result = page.getByRole('dialog', { name: 'Change 9 notes back', exact: true })
    await result.getByText('1 done, 8 skipped').waitFor()
    await result.getByText('note 9 #9 was removed by shop.').waitFor()
    const changed = [...'45678'].map((id) => `Someone changed the state of note ${id} #${id} to “Waiting”.`)
    await expect
      .poll(async () => (await result.getByRole('listitem').allInnerTexts()).toSorted())
      .toEqual([...changed, 'and 2 more', 'note 9 #9 was removed by shop.'])
    await inspect(page, 'changed-back-some')
    await result.getByRole('button', { name: 'Close' }).last().click()
    await notice(page).getByText('1 note was changed back.').waitFor()
  })
})

test('the history of a note follows what others change', async ({ open }) => {
  const { rpc, page } = await open(3)
  await page.getByRole('link', { name: 'note 2' }).click()
  const history = panel(page, 'note 2').getByRole('region', { name: 'History' })
  await history.getByText('Not changed yet.').waitFor()
  const start = Date.now()
  await rpc.notes.update.mutate({ noteId: 2n, state: 'done' })
  await panel(page, 'note 2').locator('[aria-pressed="true"]').getByText('Done').waitFor()
  await history.getByText('Open').waitFor({ timeout: 5_000 })
  expect(Date.now() - start).toBeLessThan(9_000)
})

test('a long list of changes follows what others change with one request each time, and does not move', async ({
  start,
}) => {
  const { store, rpc, show } = await start(230)
  for (let id = 1n; id <= 220n; id++) await store.notes.update({ id, set: { body: `tea ${id}` } })
  const sell = (id: bigint) => store.notes.update({ id, set: { state: 'done' } }, of('sale', id))
  for (let id = 1n; id <= 4n; id++) await sell(id)
  const page = await show()
  const now = Date.now()
  await timeChanges(page, () => now)
  const sheet = await openChanges(page)
  await sheet.getByRole('button', { name: 'Show more' }).click()
  await sheet.getByRole('button', { name: 'Show more' }).click()
  await sheet.getByRole('heading', { name: 'Today · 224 changed' }).waitFor()
  await sheet.getByText('4 notes').click()
  const link = sheet.getByRole('link', { name: 'tea 150 #150' })
  await link.scrollIntoViewIfNeeded()
  const { y } = await boxOf(link)
  const requests: string[] = []
  page.on('request', (request) => request.url().includes('notes.history') && requests.push(request.url()))
  await rpc.notes.update.mutate({ noteId: 230n, body: 'Call Tom' })
  await sell(5n)
  await sheet.getByRole('heading', { name: 'Today · 226 changed' }).waitFor()
  expect(requests.filter((url) => url.includes('cursor'))).toEqual([])
  expect(Math.abs((await boxOf(link)).y - y)).toBeLessThan(2)
  expect(await sheet.locator('details[open]').count()).toBe(1)
  await sheet.getByText('5 notes').waitFor()
})

test('a wide window counts the latest changes on until it has a few entries', async ({ start }) => {
  const { store, show } = await start(240)
  for (let entry = 1; entry <= 3; entry++)
    await store.notes.update({ id: BigInt(entry), set: { body: `tea ${entry}` } })
  for (let id = 1n; id <= 230n; id++) await store.notes.update({ id, set: { state: 'done' } }, of('sale', id))
  const page = await show({ viewport: { width: 1_920, height: 1_080 } })
  const latest = panel(page, 'Latest changes')
  await latest.getByText('230 notes').waitFor()
  await expect.poll(() => latest.locator('.changes > ol > li').count()).toBe(4)
  await inspect(page, 'latest-changes-of-many')
})

test('a change of many notes names each one, with few requests, and says what is still being loaded', async ({
  start,
}) => {
  const { store, show } = await start(240)
  for (let id = 1n; id <= 230n; id++) await store.notes.update({ id, set: { state: 'done' } }, of('sale', id))
  await store.notes.update({ id: 5n, set: { body: 'Call Tom' } })
  await store.notes.remove({ id: 6n })
  const page = await show()
  await showing(page, '1–20 of 239')
  // The second page of the changes is still being loaded.
  const release = await holdRequests(page, /notes\.history.*cursor/)
  const sheet = await openChanges(page)
  await sheet.getByText('Not all loaded yet').waitFor()
  await sheet.getByRole('heading', { name: 'Today · at least 100 changes' }).waitFor()
  expect(await sheet.getByRole('button', { disabled: true }).allInnerTexts()).toEqual(['Show more'])
  release()
  await sheet.getByRole('button', { name: 'Change 229 back: ' }).waitFor()
  await sheet.getByRole('heading', { name: 'Today · 231 changed, 1 removed' }).waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  const requests: string[] = []
  page.on('request', (request) => request.url().includes('notes.list') && requests.push(request.url()))
  await openChanges(page)
  await sheet.getByText('230 notes').click()
  await sheet.getByRole('link', { name: 'Call Tom #5' }).nth(1).waitFor()
  const heads = await sheet.locator('details .changes-item').allInnerTexts()
  const bodyOf = (id: number) => (id === 5 ? 'Call Tom' : `note ${id}`)
  expect(heads).toEqual(Array.from({ length: 230 }, (_, index) => `${bodyOf(230 - index)} #${230 - index}`))
  expect(await sheet.locator('details').getByRole('button', { name: 'Change back' }).count()).toBe(229)
  expect(requests.length).toBeLessThan(8)
  await inspect(page, 'changes-of-many-named')
})
