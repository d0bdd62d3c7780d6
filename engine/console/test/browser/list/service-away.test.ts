import { expect } from 'vitest'
import { openTestStore } from '../../../../test/notes/database.ts'
import { addNotes, startTestApi } from '../../../../test/notes/fixtures.ts'
import { slowResponses, startServer } from '../../../../test/support/slow-server.ts'
import { choose, counting, names, showing, turnPage } from '../list.ts'
import { enterNote, test } from '../notes.ts'
import { inspect } from '../page.ts'
import { panel, panelsLoaded, panelsWillLoad } from '../panels.ts'
import { signIn } from '../session.ts'
import { listen } from '../visit.ts'

test('the console shows an outage of the service and recovers from it', async ({ consoleFolder, start }) => {
  const store = await openTestStore()
  await addNotes(store, 50)
  const { url, key, app, show } = await start(0, { store })
  const page = await show({ session: 'none', timezoneId: 'UTC' })
  await page.clock.install({ time: '2026-01-02T13:04:00Z' })
  const loaded = panelsWillLoad(page)
  await signIn(page, key)
  await turnPage(page, 'Next', '21–40 of 50')
  await loaded

  await app.close()
  await page.clock.runFor(16_000)
  const reason = 'The service cannot be reached. Trying again…'
  await page
    .getByRole('status')
    .getByText(new RegExp(`^Out of date, loaded at 13:\\d\\d:\\d\\d. ${reason}$`))
    .waitFor()
  expect(await names(page)).toHaveLength(20)
  await inspect(page, 'out-of-date')
  await choose(page, 'Done')
  const failure = page.getByRole('heading', { name: 'The notes could not be loaded' })
  await failure.waitFor()
  // Those of the former page.
  expect(await names(page)).toHaveLength(20)
  await inspect(page, 'unreachable')
  // The message stays while the queries fail twice more. The client sends each request twice.
  await page.evaluate(() => {
    new MutationObserver(() => Object.assign(window, { flickered: true })).observe(
      document.querySelector('.item-list') ?? document,
      {
        childList: true,
        characterData: true,
        subtree: true,
      },
    )
  })
  for (let failed = 0; failed < 4; failed++) {
    await Promise.all([page.waitForEvent('requestfailed'), page.clock.runFor(2_500)])
  }
  expect(await page.evaluate(() => 'flickered' in window)).toBe(false)
  await failure.waitFor()

  const successor = await startTestApi({ store, consoleFolder, keyName: 'successor' })
  await listen(successor.app, Number(new URL(url).port))
  await page.getByRole('heading', { name: 'No done notes' }).waitFor()
  await page.getByRole('button', { name: 'Show all notes' }).click()
  await showing(page, '1–20 of 50')
})

test('the console reports that the device is offline', async ({ open }) => {
  const { page } = await open()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await panelsLoaded(page)
  await page.context().setOffline(true)
  await choose(page, 'Done')
  await page.getByText('The service cannot be reached: this device is offline. Trying again…').waitFor()
  await inspect(page, 'offline')
  await enterNote(page, 'Tea', '7')
  // An attempt that goes on after the form is closed may add the note, which must not be a done one.
  await page.getByRole('combobox', { name: 'State' }).selectOption('Open')
  await page.getByRole('textbox', { name: 'Text' }).press('Enter')
  await page.getByRole('alert').getByText('The note may not have been added').waitFor()
  await page.keyboard.press('Escape')
  await page.context().setOffline(false)
  await page.getByRole('heading', { name: 'No done notes' }).waitFor()
})

test.for([
  ['the list beside a panel', 1280, 'main'],
  ['the notice in a panel above the list', 360, 'dialog'],
] as const)('only %s tells of an outage, as long as it lasts', async ([, width, place], { open }) => {
  const { page } = await open(3, { path: '/?note=2', isLoaded: true, viewport: { width, height: 800 } })
  await page.getByText('Not changed yet.').waitFor()
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Done', exact: true }).click()
  await page.getByText('note 2 is not saved yet.').waitFor()
  await page.getByRole('button', { name: 'Next note' }).click()
  await page.getByText('The changes could not be loaded').waitFor()
  await page.getByText('Out of date, loaded').waitFor({ state: 'attached' })
  const told = page
    .getByRole(place)
    .getByText(/cannot be reached/)
    .filter({ visible: true })
  await expect.poll(() => told.count()).toBe(1)
  await page.context().setOffline(false)
  await expect.poll(() => told.count()).toBe(0)
})

test('all changes that waited for the service are confirmed together', async ({ open }) => {
  const { store, page } = await open(3, { path: '/?note=2', isLoaded: true })
  const saved = page.getByRole('region', { name: 'Last change' })
  await panel(page, 'note 2').waitFor()
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Done', exact: true }).click()
  await page.keyboard.press('e')
  await page.keyboard.type('Tea')
  await page.keyboard.press('Enter')
  await page.getByText('2 changes are not saved yet.').waitFor()
  // The fields that are not stored yet.
  const fonts = panel(page)
    .locator('.item-details dd')
    .evaluateAll((all) => all.map((each) => getComputedStyle(each).fontStyle))
  expect(await fonts).toEqual(['normal', 'italic', 'normal', 'normal', 'normal', 'normal'])
  await page.context().setOffline(false)
  await saved.getByText('2 changes are saved, the last one: Text of note 2 is now Tea.').waitFor()
  expect(await store.notes.get(2n)).toMatchObject({ body: 'Tea', state: 'done' })
  await page.getByRole('button', { name: 'Waiting', exact: true }).click()
  await saved.getByText(/^Tea is waiting\.$/).waitFor()
})

test('the form says why a note was not added, and that it tries again, also while the list says so', async ({
  open,
}) => {
  const { page } = await open(3, { isLoaded: true })
  await page.context().setOffline(true)
  await page.getByText('Out of date, loaded').waitFor()
  await enterNote(page, 'Tea', '7')
  await page.keyboard.press('Enter')
  const form = panel(page, 'Add note')
  await form.getByText('The note may not have been added').waitFor()
  const reason = /^The service cannot be reached: this device is offline\. Trying again( in \d s\.|…)$/
  await form.locator('[data-outage]').getByText(reason).filter({ visible: true }).waitFor()
  await page.context().setOffline(false)
  await page.getByRole('link', { name: 'Tea', exact: true }).waitFor()
})

test('the console retries the list, the counts and one note after transient failures', async ({ open }) => {
  const { url, page } = await open(3)
  // The response of a gateway that cannot reach the service, and of a service that fails.
  for (const response of [
    { status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' },
    { status: 503, contentType: 'application/json', body: failureOf(503, 'The database is busy.') },
  ]) {
    await page.route('**/trpc/**', (route) => route.fulfill(response))
    await page.goto(`${url}/?note=2`)
    const aside = panel(page)
    await aside.getByRole('heading', { name: 'The note could not be loaded' }).waitFor()
    if (response.status === 502) await inspect(page, 'note-not-loaded')
    await page.unroute('**/trpc/**')
    await panel(page, 'note 2').waitFor()
    await page.keyboard.press('Escape')
    await showing(page, '1–3 of 3')
    await counting(page, 'All 3')
  }
})

/** The RPC adapter's response body for a batch of one failed call. */
function failureOf(status: number, message: string): string {
  return JSON.stringify([
    {
      error: {
        json: { message, code: -32603, data: { code: 'SERVICE_UNAVAILABLE', httpStatus: status, status, message } },
      },
    },
  ])
}

test('a button retries at once', async ({ open }) => {
  const { key, page } = await open(3, { session: 'none' })
  await page.clock.install()
  await signIn(page, key)
  await showing(page, '1–3 of 3')
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.route('**/trpc/**', (route) => route.abort())
  await choose(page, 'Open')
  await expect.poll(() => page.clock.runFor(300).then(() => page.getByText('could not be loaded').count())).toBe(1)
  await page.unroute('**/trpc/**')
  // The clock stands still here, so no automatic retry happens.
  await page.getByRole('button', { name: 'Try again now' }).click()
  await expect.poll(() => page.clock.runFor(10).then(() => names(page))).toHaveLength(3)
})

test.for(Object.entries(slowResponses))(
  'the sign-in form reports a response %s',
  async ([, send], { consoleFolder, visit }) => {
    const { app } = await startTestApi({ consoleFolder })
    await app.ready()
    const url = await startServer((request, response) => {
      if (request.url?.startsWith('/trpc/')) send(response)
      else app.routing(request, response)
    })
    const page = await visit(url)
    await page.clock.install()
    await page.getByLabel('API key').fill('note_any')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Checking…' }).waitFor()
    const alert = page.getByRole('alert').getByText('The key could not be checked')
    await expect.poll(() => page.clock.runFor(5_000).then(() => alert.count())).toBe(1)
  },
)

test('a rate limit shows the remaining time, and the console waits for it', async ({ start }) => {
  const { show } = await start(0, { config: { rateLimit: { requests: 3, seconds: 60 } } })
  const page = await show()
  await counting(page, 'All 0')
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await page.clock.install()
  await page.reload()
  const alert = page.getByRole('alert')
  await alert.getByText(/^Too many requests\. Trying again in \d+ s\.$/).waitFor()
  await inspect(page, 'rate-limited')
  const before = await alert.textContent()
  const requests: string[] = []
  page.on('request', (request) => void requests.push(request.url()))
  await page.clock.runFor(5_000)
  expect(await alert.textContent()).not.toBe(before)
  expect(requests).toEqual([])
})

test('a rate limit of a proxy is no outage: it shows the remaining time, and nothing was added', async ({ open }) => {
  const { page } = await open()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await page.route('**/trpc/**', (route) =>
    route.fulfill({
      status: 429,
      contentType: 'text/html',
      headers: { 'retry-after': '30' },
      body: '<h1>Too Many Requests</h1>',
    }),
  )
  await enterNote(page, 'Tea', '7')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('The note was not added').waitFor()
  await page.reload()
  await page
    .getByRole('alert')
    .getByText(/^Too many requests\. Trying again in \d+ s\.$/)
    .waitFor()
})
