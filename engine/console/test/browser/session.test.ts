import { describe, expect } from 'vitest'
import { createKey, revokeKey, service } from '../../../test/notes/fixtures.ts'
import { choose, counting, justAdded, names, showing, turnPage } from './list.ts'
import { enterNote, test } from './notes.ts'
import { closeByEscape, holdRequests, inspect, isFocused, press } from './page.ts'
import { addButton, openBulkAdd, panel, submitButton } from './panels.ts'
import { openRequest, takeKeyOfConsole } from './reference.ts'
import { account, openAccount, signIn, signOut } from './session.ts'
import type { Page } from './visit.ts'

describe('the key of a session', () => {
  test('is kept in the tab until the sign-out', async ({ open }) => {
    const { key, page } = await open(0, { session: 'form' })
    await page.reload()
    await account(page).waitFor()
    expect(page.url()).not.toContain(key)
    expect(JSON.stringify(await page.context().storageState())).not.toContain(key)

    await signOut(page)
    await isSignedOut(page)
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.reload()
    await isSignedOut(page)
  })

  test('is handed over to a new tab, without a flash of the sign-in form', async ({ open }) => {
    const { url, page } = await open(0, { session: 'form' })
    const tab = await page.context().newPage()
    await tab.addInitScript(() => {
      // The other tab has as much time as it needs.
      const wait = window.setTimeout
      Object.assign(window, { setTimeout: (run: () => void, ms = 0) => wait(run, ms < 100 ? ms : 60_000) })
      new MutationObserver(() => {
        if (document.querySelector('[type=password]')) Object.assign(window, { flashed: true })
      }).observe(document, { childList: true, subtree: true })
    })
    await tab.goto(url)
    await tab.getByRole('heading', { name: 'No notes yet' }).waitFor()
    expect(await tab.evaluate(() => 'flashed' in window)).toBe(false)

    // Each tab signs out for itself, and does not sign in again with the key of another one.
    await signOut(page)
    await isSignedOut(page)
    await page.reload()
    await isSignedOut(page)
    await tab.reload()
    await tab.getByRole('heading', { name: 'No notes yet' }).waitFor()
  })

  test('is handed over to a new tab that shows the sign-in form by then', async ({ open }) => {
    const { url, page } = await open(0, { session: 'form' })
    await page.evaluate(() => {
      const post = BroadcastChannel.prototype.postMessage
      const held: (() => void)[] = []
      BroadcastChannel.prototype.postMessage = function (message) {
        held.push(() => post.call(this, message))
      }
      const release = () => {
        BroadcastChannel.prototype.postMessage = post
        for (const send of held) send()
      }
      Object.assign(window, { release })
    })
    const tab = await page.context().newPage()
    await tab.goto(url)
    await isSignedOut(tab)
    await page.evaluate(() => Reflect.get(window, 'release')())
    await tab.getByRole('heading', { name: 'No notes yet' }).waitFor()
  })

  test('is not handed over after the service has rejected it', async ({ open }) => {
    const { url, store, page } = await open(0, { session: 'form' })
    await revokeKey(store, 'test')
    await page.getByRole('alert').getByText('You were signed out').waitFor()
    const tab = await page.context().newPage()
    await tab.goto(url)
    await isSignedOut(tab)
    expect(await tab.getByRole('alert').count()).toBe(0)
  })

  test('is forgotten by all tabs and by the device if the user wants that', async ({ open }) => {
    const { url, key, store, page } = await open(0, { session: 'none' })
    await page.getByLabel('Remember on this device').check()
    await signIn(page, key)
    const another = await createKey(store, 'other')
    const tab = await page.context().newPage()
    await tab.goto(`${url}/#key=${another}`)
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await account(tab).waitFor()
    await account(tab).click()
    await tab.getByRole('button', { name: 'Sign out in all tabs' }).click()
    await isSignedOut(tab)
    await isSignedOut(page)
    // No request of the session is left.
    await page.getByRole('button', { name: 'Requests' }).click()
    await page.getByText('This tab has sent no request yet.').waitFor()
    await page.reload()
    await isSignedOut(page)
    const third = await page.context().newPage()
    await third.goto(url)
    await isSignedOut(third)
    await signIn(page, key)
  })

  test('is kept on the device only if the user wants that, until the sign-out', async ({ open }) => {
    const { url, key, page } = await open(0, { session: 'none' })
    await page.getByLabel('Remember on this device').check()
    await signIn(page, key)
    await page.goto('about:blank')
    const tab = await page.context().newPage()
    await tab.goto(url)
    await tab.getByRole('heading', { name: 'No notes yet' }).waitFor()
    await signOut(tab)
    await isSignedOut(tab)
    const another = await page.context().newPage()
    await another.goto(url)
    await isSignedOut(another)
  })
})

test('a revoked key signs out, and signing in with another key returns to the same page', async ({ open }) => {
  const { store, page } = await open(50, { path: '/?cursor=20' })
  await showing(page, '20 notes, from id 21')
  await counting(page, 'All 50')
  // The list is loaded again soon.
  await revokeKey(store, 'test')
  await page.getByRole('alert').getByText('You were signed out').waitFor()
  await inspect(page, 'signed-out')
  await page.getByLabel('API key').fill('note_wrong')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('This key is not valid.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(1)
  await signIn(page, await createKey(store, 'other'))
  await showing(page, '20 notes, from id 21')
  await turnPage(page, 'Next', '41–50 of 50')
})

test('after a revoked key, each tab continues with the new key that is entered in one of them', async ({ open }) => {
  const { url, store, page } = await open(0, { session: 'form' })
  const tab = await page.context().newPage()
  await tab.goto(url)
  await account(tab).waitFor()
  await revokeKey(store, 'test')
  for (const each of [page, tab]) await each.getByRole('alert').getByText('You were signed out').waitFor()
  await signIn(page, await createKey(store, 'other'))
  await account(tab).waitFor()
})

test('a create with a revoked key signs out, and another key continues with the form', async ({ open }) => {
  const { store, page } = await open()
  await addButton(page).waitFor()
  await enterNote(page, 'Tea', '7')
  // The list, which is loaded again all the time, would sign out first.
  const release = await holdRequests(page, /\/trpc\/notes\.(list|search|counts)/)
  await revokeKey(store, 'test')
  await submitButton(page).click()
  await page.getByRole('alert').getByText('You were signed out').waitFor()
  release()

  await signIn(page, await createKey(store, 'other'))
  expect(await entered(page)).toEqual(['Tea', '7'])
  await submitButton(page).click()
  await justAdded(page).getByRole('link', { name: 'Tea #1' }).waitFor()
  // The saved entries are not a draft any more.
  await addButton(page).click()
  expect(await entered(page)).toEqual(['', ''])
})

test('a sign-out forgets the entries of the form and of the import', async ({ open }) => {
  const { key, page } = await open()
  const sheet = await openBulkAdd(page, 'Tom,7')
  await page.keyboard.press('Escape')
  await enterNote(page, 'Tea', '7')
  await signOut(page)
  await signIn(page, key)
  expect(await entered(page)).toEqual(['', ''])
  await openBulkAdd(page)
  expect(await sheet.getByRole('textbox').inputValue()).toBe('')
})

/** The text and the priority in the form for a new note. */
function entered(page: Page): Promise<string[]> {
  return Promise.all(['Text', 'Priority'].map((name) => page.getByRole('textbox', { name }).inputValue()))
}

test('notes that were loaded with one key are not shown after signing in with another', async ({ open }) => {
  const { store, page } = await open(3)
  await showing(page, '1–3 of 3')
  await signOut(page)
  // Only the check of the key gets a response.
  await page.route(
    (request) => /"limit":21\b/.test(request.searchParams.get('input') ?? ''),
    () => {},
  )
  await signIn(page, await createKey(store, 'other'))
  await showing(page, 'Loading…')
  expect(await names(page)).toEqual([])
})

describe('the account menu', () => {
  test('shows the key, its expiry, the calls that are left and the release', async ({ start }) => {
    const { store, show } = await start(0, { config: { rateLimit: { requests: 1_000, seconds: 3_600 } } })
    const key = await createKey(store, 'shop', 86_400_000)
    const page = await show({ key })
    const menu = await openAccount(page)
    await menu.getByText(/^9\d\d of 1,000 until \d+:\d\d:\d\d/).waitFor()
    const [name, access, expiry, , release] = await menu.getByRole('definition').allTextContents()
    expect([name, access, release]).toEqual(['shop', 'Reads and changes', service.product.version])
    const time = Date.parse(expiry ?? '')
    expect(Math.abs(time - Date.now() - 86_400_000)).toBeLessThan(180_000)
    await inspect(page, 'account')
  })

  test('shows a command that creates another key, with another name each time', async ({ open }) => {
    const { page } = await open(0, { permissions: ['clipboard-read', 'clipboard-write'] })
    const commands = new Set<string>()
    for (let round = 0; round < 2; round++) {
      const menu = await openAccount(page)
      await menu.getByText('Create another key').click()
      await menu.getByText('with its environment variables, such as DATABASE_URL').waitFor()
      await inspect(page, 'another-key')
      await menu.getByRole('button', { name: 'Copy the command' }).click()
      commands.add(await page.evaluate(() => navigator.clipboard.readText()))
      await closeByEscape(menu)
    }
    expect([...commands]).toEqual(Array(2).fill(expect.stringMatching(/^npx --no -- notes keys create console-\w+$/)))
  })

  test('opens and closes by keys, and keeps the keys of the list and of a panel to itself', async ({ open }) => {
    const { page } = await open(3, { path: '/?note=2' })
    await panel(page, 'note 2').waitFor()
    await account(page).press('Enter')
    const menu = page.getByRole('dialog', { name: 'Account' })
    // The key has no expiry and no limit.
    for (const text of ['Never', 'Unlimited']) await menu.getByText(text).waitFor()
    expect(await account(page).getAttribute('aria-expanded')).toBe('true')
    await press(page, 'n', 'Tab')
    expect(await isFocused(menu.getByRole('button', { name: 'Colors: system' }))).toBe(true)
    await closeByEscape(menu)
    expect(await isFocused(account(page))).toBe(true)
    expect(await panel(page, 'note 2').isVisible()).toBe(true)
    await closeByEscape(panel(page, 'note 2'))
  })
})

function isSignedOut(page: Page): Promise<void> {
  return page.getByRole('heading', { name: 'Sign in' }).waitFor()
}

/** What browsers block together with cookies. */
const blocked = {
  Chromium: ['localStorage', 'sessionStorage', 'indexedDB'],
  Firefox: ['localStorage', 'sessionStorage', 'indexedDB', 'BroadcastChannel'],
}

/** A page on which reading these properties of the window throws a SecurityError. */
async function blockStorage(page: Page, properties: string[]): Promise<void> {
  await page.addInitScript((names) => {
    for (const name of names) {
      Object.defineProperty(window, name, {
        configurable: true,
        get() {
          throw new DOMException('Access is denied for this document.', 'SecurityError')
        },
      })
    }
  }, properties)
  await page.reload()
}

/** A page on which nothing can be stored, as in the private windows of some browsers. */
async function leaveNoSpace(page: Page): Promise<void> {
  await page.addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError')
    }
  })
  await page.reload()
}

describe.for([
  ...Object.entries(blocked).map(([name, properties]) => [
    `blocks storage as ${name} does`,
    (page: Page) => blockStorage(page, properties),
  ]),
  ['has no space', leaveNoSpace],
] as [string, (page: Page) => Promise<void>][])('where a browser %s', ([, block]) => {
  test('the console works, and the sign-in lasts until the page is left', async ({ open }) => {
    const { key, page } = await open(3, { session: 'none' })
    await block(page)
    await page.getByLabel('Remember on this device').check()
    await signIn(page, key)
    await choose(page, 'Done')
    await page.getByRole('heading', { name: 'No done notes' }).waitFor()
    await choose(page, 'All')
    await expect.poll(() => names(page)).toHaveLength(3)
    await page.getByRole('combobox', { name: 'Notes per page' }).selectOption('50')
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck()
    await page.keyboard.press('Escape')
    await account(page).click()
    await page.getByRole('button', { name: 'Colors: system' }).click()
    await page.keyboard.press('Escape')
    await showing(page, '1–3 of 3')
    await signOut(page)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn(page, key)
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('the API reference shows the operations and sends requests', async ({ open }) => {
    const { key, page } = await open(0, { path: '/docs/', session: 'none' })
    await block(page)
    await takeKeyOfConsole(page)
    await page.getByRole('status').getByText('No tab of the console is signed in.').waitFor()
    const send = await openRequest(page, 'get /team/all-books', key)
    expect((await send()).status).toBe(200)
  })
})
