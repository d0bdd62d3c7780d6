import { expect } from 'vitest'
import { addNotes } from '../../../../test/notes/tests.ts'
import { test } from '../notes.ts'
import { inspect, panel, showing } from '../page.ts'

test('one click shows what was changed and removed today, by whom, and the panel shows the history of a note', async ({
  startConsole,
  visit,
}) => {
  const { url, key, store, rpc } = await startConsole()
  await addNotes(store, 25)
  await rpc.notes.update.mutate({ noteId: 2n, state: 'done' })
  await rpc.notes.update.mutate({ noteId: 2n, body: 'Oscar' })
  await rpc.notes.remove.mutate({ noteId: 3n })
  const { keyName } = await rpc.session.current.query()
  const page = await visit(url, { key })
  await showing(page, '1–20 of 24')
  await page.getByRole('button', { name: 'Changes' }).click()
  const sheet = page.getByRole('dialog', { name: 'Changes of notes' })
  await sheet.getByRole('heading', { name: 'Today · 2 changed, 1 removed' }).waitFor()
  const entries = sheet.getByRole('listitem')
  await expect.poll(() => entries.count()).toBe(3)
  const texts = (await entries.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
  expect(texts[0]).toMatch(
    new RegExp(`^note 3 #3 was removed Priority 1 State Open by ${keyName}, \\d+:\\d+ Add again$`),
  )
  expect(texts[1]).toMatch(/^Oscar #2 Text note 2 → Oscar by /)
  expect(texts[2]).toMatch(/^Oscar #2 State Open → Done by /)
  await inspect(page, 'changes')
  await sheet.getByRole('link', { name: 'Oscar #2' }).first().click()
  const history = panel(page, 'Oscar').getByRole('region', { name: 'History' })
  await expect.poll(() => history.getByRole('listitem').count()).toBe(2)
  // What the user changes appears at once.
  await panel(page, 'Oscar').getByRole('button', { name: 'Waiting' }).click()
  await expect.poll(() => history.getByRole('listitem').count()).toBe(3)
  await inspect(page, 'history')
})

test('changes of many notes that are alike are one entry, which can be opened', async ({ startConsole, visit }) => {
  const { url, key, store, rpc } = await startConsole()
  await addNotes(store, 24)
  for (let noteId = 1n; noteId <= 22n; noteId++) await rpc.notes.update.mutate({ noteId, state: 'done' })
  for (const noteId of [23n, 24n, 22n]) await rpc.notes.remove.mutate({ noteId })
  const page = await visit(url, { key })
  await page.getByRole('button', { name: 'Changes' }).click()
  const sheet = page.getByRole('dialog', { name: 'Changes of notes' })
  const entries = sheet.locator('.changes > ol > li')
  await sheet.getByText('3 notes were removed').waitFor()
  const texts = (await entries.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
  expect(texts).toEqual([
    expect.stringMatching(/^3 notes were removed by /),
    expect.stringMatching(/^22 notes State Open → Done by /),
  ])
  await inspect(page, 'changes-of-many')
  await sheet.getByText('22 notes').click()
  await sheet.getByRole('link', { name: 'note 7 #7' }).click()
  await panel(page, 'note 7').waitFor()
})

test('the same change of several notes is one entry, an undo is another one, and a note that is gone has no link', async ({
  startConsole,
  visit,
}) => {
  const { url, key, store, rpc } = await startConsole()
  await addNotes(store, 6)
  for (const state of ['done', 'open'] as const)
    for (const noteId of [1n, 2n, 3n, 4n]) await rpc.notes.update.mutate({ noteId, state })
  for (const name of ['Ann', 'Bob', 'Cid']) await rpc.notes.update.mutate({ noteId: 6n, body: name })
  await rpc.notes.remove.mutate({ noteId: 4n })
  const page = await visit(url, { key })
  await page.getByRole('button', { name: 'Changes' }).click()
  const sheet = page.getByRole('dialog', { name: 'Changes of notes' })
  await sheet.getByRole('heading', { name: 'Today · 11 changed, 1 removed' }).waitFor()
  const summaries = await sheet.locator('summary').allInnerTexts()
  expect(summaries.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
    '4 notes State Done → Open',
    '4 notes State Open → Done',
  ])
  await sheet.getByText('4 notes').first().click()
  await sheet.getByRole('link', { name: 'note 3 #3' }).waitFor()
  // Three of the entry, and three of one note.
  await expect.poll(() => sheet.getByRole('link').count()).toBe(6)
  await sheet.getByText('Note 4', { exact: true }).waitFor()
})

test('an entry that may go on in the next page says so, and adds all of its notes again', async ({
  startConsole,
  visit,
}) => {
  const { url, key, store } = await startConsole()
  await addNotes(store, 240)
  for (let id = 1n; id <= 230n; id++) await store.notes.remove({ id })
  for (const state of ['done', 'open', 'waiting'] as const) await store.notes.update({ id: 240n, set: { state } })
  const page = await visit(url, { key })
  await page.getByRole('button', { name: 'Changes' }).click()
  const sheet = page.getByRole('dialog', { name: 'Changes of notes' })
  await sheet.getByText('97 or more notes were removed').waitFor()
  await inspect(page, 'changes-go-on')
  await sheet.getByRole('button', { name: 'Show more' }).click()
  await sheet.getByText('197 or more notes were removed').waitFor()
  await sheet.getByRole('button', { name: 'Show more' }).click()
  await sheet.getByText('230 notes were removed').waitFor()
  await sheet.getByRole('button', { name: 'Add all 230 again' }).waitFor()

  await page.reload()
  await page.getByRole('button', { name: 'Changes' }).click()
  await sheet.getByRole('button', { name: 'Add all again' }).click()
  const notice = page.getByRole('region', { name: 'Last change' })
  await notice.getByText('230 notes were added again, with new ids.').waitFor()
})

test('a note that was removed can be added again, with its values', async ({ startConsole, visit }) => {
  const { url, key, store, rpc } = await startConsole()
  await addNotes(store, 3)
  await rpc.notes.update.mutate({ noteId: 2n, state: 'done' })
  await rpc.notes.remove.mutate({ noteId: 2n })
  const page = await visit(url, { key })
  await page.getByRole('button', { name: 'Changes' }).click()
  await page.getByRole('button', { name: 'Add again' }).click()
  await panel(page, 'Add note').getByRole('button', { name: 'Add note' }).click()
  await expect.poll(() => store.notes.get(4n)).toMatchObject({ body: 'note 2', state: 'done' })
  await inspect(page, 'added-again')
})

test('a note that was removed can be added again with its time, which the form shows', async ({ openConsole }) => {
  const { store, rpc, page } = await openConsole(0, { timezoneId: 'Europe/Berlin' })
  const form = panel(page, 'Add note')
  for (const [index, [time, shown]] of [
    ['2026-11-20T08:30:00.123Z', '2026-11-20T09:30:00.123'],
    // In the hour that the end of summer time repeats.
    ['2026-10-25T01:30:00.000Z', '2026-10-25T02:30'],
  ].entries()) {
    const dueAt = new Date(time ?? '')
    const { id } = await store.notes.create({ body: `note ${index}`, priority: 1n, state: 'open', dueAt })
    await rpc.notes.remove.mutate({ noteId: id })
    await page.getByRole('button', { name: 'Changes' }).click()
    const removed = page.getByRole('listitem').filter({ hasText: `note ${index} #${id} was removed` })
    await removed.getByRole('button', { name: 'Add again' }).click()
    expect(await form.getByLabel('Due').inputValue()).toBe(shown)
    await form.getByRole('button', { name: 'Add note' }).click()
    await expect.poll(async () => (await store.notes.get(id + 1n))?.dueAt).toEqual(dueAt)
  }
})

test('the history of a note follows what others change', async ({ openConsole }) => {
  const { rpc, page } = await openConsole(3)
  await page.getByRole('link', { name: 'note 2' }).click()
  const history = panel(page, 'note 2').getByRole('region', { name: 'History' })
  await history.getByText('Not changed yet.').waitFor()
  const start = Date.now()
  await rpc.notes.update.mutate({ noteId: 2n, state: 'done' })
  await panel(page, 'note 2').locator('[aria-pressed="true"]').getByText('Done').waitFor()
  await history.getByText('Open').waitFor({ timeout: 5_000 })
  expect(Date.now() - start).toBeLessThan(9_000)
})
