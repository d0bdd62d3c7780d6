import { expect } from 'vitest'
import { startTestApi } from '../../../test/notes/fixtures.ts'
import { runCurl } from '../../../test/support/curl.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { startPrefixProxy } from '../../../test/support/prefix-proxy.ts'
import { choose, justAdded, names } from './list.ts'
import { addNote, test } from './notes.ts'
import { openBulkAdd, panel } from './panels.ts'
import { openRequest, takeKeyOfConsole } from './reference.ts'
import { account, openAccount, openRequests, signIn } from './session.ts'
import type { Page } from './visit.ts'

const path = '/shop/notes'

/** Starts a service with a console, and a proxy that serves it below a path. */
async function startBelowPath(consoleFolder: string) {
  const port = await freePort()
  const origin = await startPrefixProxy(`http://127.0.0.1:${port}`, path)
  const api = await startTestApi({ consoleFolder, config: { publicUrl: origin + path } })
  await api.app.listen({ host: '127.0.0.1', port })
  return { ...api, origin, url: origin + path }
}

test.for(['', '/'])(
  'the console works below a path, opened as "/shop/notes%s"',
  async (slash, { consoleFolder, visit }) => {
    const { origin, url, key } = await startBelowPath(consoleFolder)
    const page = await visit(url + slash, { permissions: ['clipboard-read', 'clipboard-write'] })
    await signIn(page, key)
    await page.getByText(`curl '${url}/v1/notes'`).waitFor()
    await addNote(page, 'Tea', '7')
    await justAdded(page).getByText('Tea').waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('radio', { name: /^Done/ }).check()
    expect(page.url()).toBe(`${url}/?state=done`)
    await page.getByRole('radio', { name: /^Open/ }).check()
    await page.locator('.item-list tbody').getByRole('link', { name: 'Tea' }).click()
    await panel(page, 'Tea').waitFor()
    await page.reload()
    await panel(page, 'Tea').getByRole('button', { name: 'Copy link' }).click()
    expect(await copied(page)).toBe(`${url}/?note=1`)

    await openRequests(page)
    const details = page
      .getByRole('dialog')
      .locator('details')
      .filter({ hasText: `GET ${path}/v1/notes?limit=1` })
    await details.getByRole('button', { name: 'Copy the command' }).click()
    const found = await runCurl(await copied(page), { NOTES_API_KEY: key })
    expect(JSON.parse(found)).toMatchObject([{ id: 1, body: 'Tea' }])
    await page.keyboard.press('Escape')
    // Closing the drawer goes back in the history.
    await page.getByRole('dialog').waitFor({ state: 'hidden' })

    await page.goto(`${url}/nothing/here`)
    await page.getByText(`This service has nothing at ${path}/nothing/here.`).waitFor()
    await page.getByRole('link', { name: 'Go to the notes' }).click()
    await expect.poll(() => names(page)).toEqual(['Tea'])
    // The origin has other services.
    expect((await page.request.get(`${origin}/`)).status()).toBe(404)
  },
)

test('the API reference works below a path, with the key of the console', async ({ consoleFolder, visit }) => {
  const { url, key } = await startBelowPath(consoleFolder)
  const page = await visit(`${url}/`)
  await signIn(page, key)
  await (await openAccount(page)).getByRole('link', { name: 'API reference' }).click()
  // The script of the page listens by then.
  await page.waitForURL(`${url}/docs/`)
  await takeKeyOfConsole(page)
  await page.getByRole('status').getByText('Requests use the key').waitFor()
  await page.getByRole('button', { name: 'Open Group - books' }).click()
  const send = await openRequest(page, 'get /team/all-books')
  expect(await send()).toEqual({ status: 200, url: `${url}/v1/team/all-books?limit=20` })
  await page.goto(`${url}/docs`)
  await page.getByRole('link', { name: 'Notes', exact: true }).click()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  expect(page.url()).toBe(`${url}/`)
})

test('two services on one origin do not share the API key', async ({ consoleFolder, visit }) => {
  const [first, second] = [await startBelowPath(consoleFolder), await freePort()]
  const other = await startTestApi({ consoleFolder, config: { publicUrl: `${first.url}/other` } })
  await other.app.listen({ host: '127.0.0.1', port: second })
  const page = await visit(`${first.url}/`)
  await page.getByLabel('Remember on this device').check()
  await signIn(page, first.key)
  const tab = await page.context().newPage()
  await tab.route(`${first.url}/other/**`, async (route) => {
    const { pathname, search } = new URL(route.request().url().replace(`${path}/other`, ''))
    await route.fulfill({ response: await route.fetch({ url: `http://127.0.0.1:${second}${pathname}${search}` }) })
  })
  await tab.goto(`${first.url}/other/`)
  await tab.getByRole('heading', { name: 'Sign in' }).waitFor()
  await tab.goto(`${first.url}/other/docs/`)
  await takeKeyOfConsole(tab)
  await tab.getByRole('status').getByText('No tab of the console is signed in.').waitFor()
  await tab.getByText('/team/all-books').first().waitFor()
})

test('what is stored below a path has a name with the path', async ({ consoleFolder, visit }) => {
  const { url, key } = await startBelowPath(consoleFolder)
  const page = await visit(`${url}/`)
  await page.getByLabel('Remember on this device').check()
  await signIn(page, key)
  await choose(page, 'Done')
  await page.getByRole('heading', { name: 'No done notes' }).waitFor()
  await choose(page, 'All')
  await addNote(page, 'Tea', '7')
  await justAdded(page).getByText('Tea').waitFor()
  await page.getByRole('combobox', { name: 'Notes per page' }).selectOption('50')
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck()
  await page.keyboard.press('Escape')
  await account(page).click()
  await page.getByRole('button', { name: 'Colors: system' }).click()
  await page.keyboard.press('Escape')
  const sheet = await openBulkAdd(page, 'Tom,8')
  await sheet.getByRole('button', { name: 'Add 1 note' }).waitFor()
  // The page stores the drafts when it is left.
  await page.goto(`${url}/livez`)
  const stored = await page.evaluate(() => [localStorage, sessionStorage].map((each) => Object.keys(each).sort()))
  expect(stored).toEqual(
    [
      ['mantine-color-scheme-value', 'notes-api-key', 'notes-character-keys', 'notes-filter', 'notes-page-size'],
      [
        'notes-added-again',
        'notes-api-key',
        'notes-create-keys',
        'notes-edits',
        'notes-edits-of-many',
        'notes-field-drafts',
        'notes-filter',
        'notes-form',
        'notes-import',
      ],
    ].map((each) => each.map((name) => name + path).sort()),
  )
})

function copied(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText())
}
