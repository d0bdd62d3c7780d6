import { describe, expect } from 'vitest'
import { createKey } from '../../../test/notes/fixtures.ts'
import { enterNote, test } from './notes.ts'
import { closeByEscape, describes, holdRequests, inspect, isFocused, received } from './page.ts'
import { addButton, openBulkAdd, panel, submitButton } from './panels.ts'
import { account, signIn } from './session.ts'
import type { Page } from './visit.ts'

test('the console of an empty store leads to the first note', async ({ open }) => {
  const { url, key, store, page } = await open(0, { session: 'none' })
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.title()).toBe('Sign in · Notes')
  await page
    .getByText('Ask the person who runs the service for a key. At its first start, the service prints one.')
    .waitFor()
  await inspect(page, 'sign-in')
  await signIn(page, key)
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  expect(await page.getByText('curl').textContent()).toContain(`${url}/v1/notes`)
  await inspect(page, 'empty')

  await page.locator('.item-list').getByRole('button', { name: 'Add note' }).click()
  await panel(page, 'Add note').waitFor()
  await inspect(page, 'add')
  await page.getByRole('textbox', { name: 'Text' }).fill('Tea')
  await page.getByRole('textbox', { name: 'Priority' }).fill('9007199254740993')
  await page.getByRole('combobox', { name: 'State' }).selectOption('Waiting')
  await submitButton(page).click()

  await panel(page).waitFor({ state: 'hidden' })
  await page
    .locator('.item-list')
    .getByRole('row', { name: '1 Tea Filter by Priority 9007199254740993 State of Tea: Waiting' })
    .waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Tea')
  expect(await store.notes.get(1n)).toMatchObject({ body: 'Tea', priority: 9007199254740993n, state: 'waiting' })
})

test('the form rejects invalid keys at the field and then accepts a valid one', async ({ open }) => {
  const { key, page } = await open(0, { session: 'none' })
  const field = page.getByRole('textbox', { name: 'API key' })
  expect(await field.getAttribute('type')).toBe('password')
  // Consecutive messages differ, because the previous one stays until the check has finished.
  for (const wrong of ['note_…', '', 'note_wrong']) {
    await field.fill(wrong)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page
      .getByRole('alert')
      .getByText(wrong === '' ? 'Enter an API key.' : 'This key is not valid.')
      .waitFor()
    expect(await describes(page, 'API key')).toContain(await page.getByRole('alert').textContent())
    expect(await isFocused(field)).toBe(true)
  }
  // A repeated message is a new element, so a screen reader announces it again.
  await page.getByRole('alert').evaluate((alert) => alert.setAttribute('data-former', ''))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('[role=alert]:not([data-former])').waitFor()
  await inspect(page, 'wrong-key')
  await page.getByRole('button', { name: 'Show the key' }).click()
  expect(await field.getAttribute('type')).toBe('text')
  await signIn(page, ` ${key} `)
})

test('a stored text that cannot be a key leads to the sign-in page', async ({ open }) => {
  const { key, page } = await open(0, { session: 'none', key: 'schlüssel' })
  await signIn(page, key)
})

test('a password manager can tell the services of one origin apart', async ({ open }) => {
  const { url, page } = await open(0, { session: 'none' })
  const fields = page.locator('form input[autocomplete]')
  await fields.first().waitFor({ state: 'attached' })
  // Safe: the locator finds input elements.
  const described = await fields.evaluateAll((inputs) =>
    (inputs as HTMLInputElement[]).map(({ autocomplete, type, value }) => [autocomplete, type, value]),
  )
  expect(described).toEqual([
    ['username', 'text', new URL(url).host],
    ['current-password', 'password', ''],
  ])
})

describe('a link with a key', () => {
  test('signs in, and the key leaves the address before the first request', async ({ open }) => {
    const { url, key, log, page } = await open(0, { path: '/livez', session: 'none' })
    const addresses: string[] = []
    const sent: string[] = []
    await page.exposeFunction('report', (address: string) => void addresses.push(address))
    await page.addInitScript(() => {
      const { fetch } = window
      window.fetch = (...args) => {
        Reflect.get(window, 'report')(location.href)
        return fetch(...args)
      }
    })
    page.on('request', (request) => void sent.push(request.url()))
    await page.goto(`${url}/?state=done#key=${key}`)
    await page.getByRole('heading', { name: 'No done notes' }).waitFor()
    expect(page.url()).toBe(`${url}/?state=done`)
    expect(new Set(addresses)).toEqual(new Set([`${url}/?state=done`]))
    expect(sent.filter((each) => new URL(each).hash === '' && each.includes(key))).toEqual([])
    expect(log.join('')).not.toContain(key)
    expect(await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))).not.toContain(
      key,
    )
    // Neither a reload nor the history needs the link.
    await page.reload()
    await page.getByRole('heading', { name: 'No done notes' }).waitFor()
  })

  test('signs in on a page that is open already', async ({ open }) => {
    const { url, key, page } = await open(0, { session: 'none' })
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto(`${url}/#key=${key}`)
    await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
    expect(page.url()).toBe(`${url}/`)
  })

  test('is rejected like the same key in the form', async ({ start }) => {
    const { url, key, show } = await start()
    for (const [wrong, message] of [
      [key.slice(0, -1), 'This key is not valid.'],
      ['', 'Enter an API key.'],
      ['note_…', 'This key is not valid.'],
    ] as const) {
      const page = await show({ path: `/#key=${wrong}`, session: 'none' })
      await page.getByRole('alert').getByText(message).waitFor()
      expect(page.url()).toBe(`${url}/`)
      expect(await page.getByLabel('API key').inputValue()).toBe(wrong)
      await signIn(page, key)
    }
  })

  test('asks before it replaces the key of the tab, and changes no other tab', async ({ start }) => {
    const { url, key, store, show } = await start()
    const other = await createKey(store, 'other')
    const page = await show({ session: 'none' })
    await signIn(page, key)
    const tab = await page.context().newPage()
    await tab.goto(url)
    await account(tab).waitFor()

    await page.goto(`${url}/#key=${other}`)
    await page.getByText('This link has another key').waitFor()
    await inspect(page, 'link')
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    expect(await keyName(page)).toBe('test')

    await page.goto(`${url}/#key=wrong`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('This key is not valid.').waitFor()
    await page.reload()
    expect(await keyName(page)).toBe('test')

    await page.goto(`${url}/#key=${other}`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await keyName(page)).toBe('other')
    await tab.reload()
    expect(await keyName(tab)).toBe('test')
  })

  test('leaves what is in progress as it is until the user signs in', async ({ open }) => {
    const { url, store, page } = await open()
    const other = await createKey(store, 'other')
    const question = page.getByRole('dialog', { name: 'This link has another key' })
    await enterNote(page, 'Tea', '7')
    await page.keyboard.press('Escape')
    // Going back takes a moment, and would undo what follows.
    await page.getByRole('textbox', { name: 'Text' }).waitFor({ state: 'hidden' })
    await page.goto(`${url}/#key=${other}`)
    await question.waitFor()
    expect(await isFocused(question.getByLabel('API key'))).toBe(true)
    await question.getByRole('button', { name: 'Stay signed in' }).click()
    await question.waitFor({ state: 'hidden' })
    expect(await page.title()).toBe('Notes · Notes')
    await addButton(page).click()
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('Tea')
    await page.keyboard.press('Escape')

    const sheet = await openBulkAdd(page, 'Tom,7\nZoe,7')
    const release = await holdRequests(page, '**/trpc/notes.create**')
    await sheet.getByRole('button', { name: 'Add 2 notes' }).click()
    await page.goto(`${url}/#key=${other}`)
    await question.waitFor()
    release()
    await sheet.getByText('2 notes were added.').waitFor()
    await inspect(page, 'link-over-import')
    await closeByEscape(question)
    await sheet.getByRole('button', { name: 'View notes' }).click()
    await sheet.waitFor({ state: 'hidden' })
    expect(await keyName(page)).toBe('test')
  })

  test('changes nothing if the user stays signed in while its key is checked', async ({ open }) => {
    const { url, store, page } = await open()
    await account(page).waitFor()
    await page.goto(`${url}/#key=${await createKey(store, 'other')}`)
    const release = await holdRequests(page, '**/trpc/session.current**')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    release()
    await received(page, '/trpc/session.current')
    expect(await keyName(page)).toBe('test')
  })

  test('changes nothing if it has the key of the tab', async ({ open }) => {
    const { url, key, page } = await open(0, { session: 'form' })
    await page.goto(`${url}/#key=${key}`)
    await expect.poll(() => page.url()).toBe(`${url}/`)
    expect(await keyName(page)).toBe('test')
  })
})

/** The name of the key in the account menu. */
async function keyName(page: Page): Promise<string | null> {
  await account(page).click()
  const name = page.getByRole('dialog', { name: 'Account' }).getByRole('definition').first()
  await expect.poll(() => name.textContent()).not.toBe('…')
  return name.textContent()
}
