import { describe, expect } from 'vitest'
import { runCurl } from '../../../test/support/curl.ts'
import { parseExactly } from '../../../test/support/exact-json.ts'
import { showing } from './list.ts'
import { addNote, enterNote, test } from './notes.ts'
import { beDeveloper, inspect, isFocused } from './page.ts'
import { openBulkAdd, panel, panelsLoaded, submitButton } from './panels.ts'
import { account, drawerOf, openAccount, openRequests, signIn, signOut } from './session.ts'
import type { Locator } from './visit.ts'

const permissions = ['clipboard-read', 'clipboard-write']

describe('the drawer of the requests', () => {
  test('lists what the tab sent as REST requests, the newest first, without the API key', async ({ open }) => {
    const { key, page } = await open(85)
    const requestIds: (string | undefined)[] = []
    page.on('response', (response) => requestIds.push(response.headers()['x-request-id']))
    for (const range of ['1–20', '21–40', '41–60']) {
      await showing(page, `${range} of 85`)
      await page.keyboard.press(']')
    }
    await showing(page, '61–80 of 85')
    // Equal requests are one line.
    for (let refreshes = 0; refreshes < 2; refreshes++) {
      await page.waitForResponse(/notes\.list/)
    }
    await page.getByRole('link', { name: 'note 62', exact: true }).press('Enter')
    await panel(page, 'note 62').waitFor()
    const drawer = await openRequests(page)
    const list = request(drawer, 'GET /v1/notes?cursor=60&limit=20')
    expect(await list.count()).toBe(1)
    expect(await list.innerText()).toMatch(/^\d\d:\d\d:\d\d\s+GET \S+\s+200\s+[\d,]+ ms$/)
    await list.click()
    expect(requestIds).toContain(await list.locator('xpath=..').locator('p code').innerText())
    // What the user did comes first, and then what the page loaded besides.
    const sent = await requestsOf(drawer).locator('code').allTextContents()
    expect(sent.slice(0, 5)).toEqual([
      'GET /v1/notes?cursor=61&limit=1',
      // As many as the user sees, although the console asks for one more.
      ...[60, 40, 20].map((cursor) => `GET /v1/notes?cursor=${cursor}&limit=20`),
      'GET /v1/notes?limit=20',
    ])
    expect(sent).toContain('notes.counts')
    expect(await page.content()).not.toContain(key.slice(10))
    await inspect(page, 'requests')
    await closeRequests(drawer)
    await panel(page, 'note 62').waitFor()
  })

  test('copies commands that repeat a request, and a repeated create adds no second note', async ({ open }) => {
    const { key, store, page } = await open(0, { permissions })
    await addNote(page, "O'Hara", '9007199254740993')
    await panel(page, 'Add note').waitFor({ state: 'hidden' })
    const drawer = await openRequests(page)
    expect(await requestsOf(drawer).first().innerText()).toContain('POST /v1/notes')
    const note = { id: 1n, body: "O'Hara", priority: 9007199254740993n, state: 'open' }
    expect(await run(drawer, 'POST /v1/notes', key)).toEqual(note)
    expect(await run(drawer, 'GET /v1/notes?limit=20', key)).toEqual([note])
    expect(await store.notes.list({ limit: 9, cursor: 0n })).toHaveLength(1)
  })

  test('lists a request once that the page sends twice in a batch', async ({ open }) => {
    const { page } = await open(85)
    await showing(page, '1–20 of 85')
    await addNote(page, 'Tea', '7')
    await showing(page, '1–20 of 86')
    const drawer = await openRequests(page)
    await request(drawer, 'GET /v1/notes?cursor=85&limit=100').first().waitFor()
    expect(await request(drawer, 'GET /v1/notes?cursor=85&limit=100').count()).toBe(1)
  })

  test('shows TypeScript for a procedure that only the RPC API has', async ({ open }) => {
    const { rpc, page } = await open([{ body: 'Milk', priority: 9_007_199_254_740_993n, state: 'done' }], {
      path: '/?search=9007199254740993',
    })
    await showing(page, '1 of 1')
    const drawer = await openRequests(page)
    for (const procedure of ['notes.search', 'notes.counts']) {
      await request(drawer, procedure).last().click()
      await drawer.getByText(`Only the RPC API has ${procedure}.`).last().waitFor()
    }
    expect(await requestsOf(drawer).first().innerText()).toContain('notes.search')
    const code = await drawer.locator('details[open] .command code').allTextContents()
    expect(code).toContain(
      'await client.notes.search.query({ limit: 20, order: "oldest", priority: 9007199254740993n })',
    )
    expect(code).toContain('await client.notes.counts.query()')
    for (const call of code) await new Function('client', `return ${call.slice('await '.length)}`)(rpc)
    await inspect(page, 'requests-rpc')
  })

  test('has the status of each call of a batch', async ({ open }) => {
    const { url, key, page } = await open(0, { session: 'none' })
    let isRefused = false
    await page.route(/notes\.list/, async (route) => {
      const url = route.request().url()
      if (!isRefused && url.includes('notes.list,notes.list')) {
        isRefused = true
        // The service refuses the second call.
        await route.continue({ url: url.replace('notes.list,notes.list', 'notes.list,notes.get') })
        return
      }
      // Loading the note again has no response: it would find that there is none.
      if (!isRefused || !decodeURIComponent(url).includes('"cursor":"998"')) await route.continue()
    })
    await page.goto(`${url}/?note=999`)
    await signIn(page, key)
    await page.getByText('The note could not be loaded').waitFor()
    const drawer = await openRequests(page)
    await withStatus(request(drawer, 'GET /v1/notes?cursor=998&limit=1'), 400).waitFor()
    await withStatus(request(drawer, 'GET /v1/notes?limit=20'), 200).waitFor()
  })

  test('has the idempotency key of each call of a batch', async ({ open }) => {
    const { page } = await open()
    await showing(page, 'No notes')
    const sheet = await openBulkAdd(page, 'Ann,7,done\nTom,8,done')
    await sheet.getByRole('button', { name: 'Add 2 notes' }).click()
    await sheet.getByText('2 notes were added.').waitFor()
    await page.keyboard.press('Escape')
    const drawer = await openRequests(page)
    const keys = new Set<string | undefined>()
    for (const name of ['Ann', 'Tom']) {
      const command = drawer.locator('.command code', { hasText: `"${name}"` })
      keys.add(/--header 'Idempotency-Key: ([0-9a-f]{64}:\d)'/.exec((await command.textContent()) ?? '')?.[1])
    }
    expect(keys.size).toBe(2)
    expect(keys).not.toContain(undefined)
  })

  test('opens at the request of a failure', async ({ open }) => {
    const { page } = await open()
    await showing(page, 'No notes')
    let attempts = 0
    await page.route('**/trpc/notes.create', (route) => {
      attempts++
      return route.abort()
    })
    await enterNote(page, 'Tea', '7')
    // The form tries again after a while. The page itself notices the failure before that.
    const failed = page.evaluate(async () => {
      while (!document.querySelector('[role=alert]')) await new Promise(requestAnimationFrame)
    })
    const attemptsAtFailure = failed.then(() => attempts)
    await submitButton(page).click()
    // The client has tried once more.
    expect(await attemptsAtFailure).toBe(2)
    await page.getByRole('alert').getByText('The note may not have been added').waitFor()
    await beDeveloper(page)
    await panel(page, 'Add note').getByRole('button', { name: 'Technical details' }).click()
    const drawer = drawerOf(page)
    const opened = drawer.locator('details[open] summary')
    await opened.waitFor()
    expect(await opened.allInnerTexts()).toEqual([expect.stringMatching(/POST \/v1\/notes\s+No response/)])
    expect(await request(drawer, 'POST /v1/notes').count()).toBeGreaterThanOrEqual(2)
    await inspect(page, 'requests-unanswered')
    await closeRequests(drawer)
  })

  test('lets the console show what only developers need from then on', async ({ open }) => {
    const { page } = await open(1, { path: '/?note=1' })
    const details = panel(page).getByText('Request and JSON')
    await details.waitFor({ state: 'attached' })
    expect(await details.isVisible()).toBe(false)
    await closeRequests(await openRequests(page))
    await details.waitFor()
    await page.reload()
    await details.waitFor()
  })

  test('opens at a row that the service rejected', async ({ open }) => {
    const { page } = await open()
    await showing(page, 'No notes')
    await page.route('**/trpc/notes.create', (route) =>
      route.continue({ postData: route.request().postData()?.replace('"Tea"', '""') ?? '' }),
    )
    await page.getByRole('button', { name: 'Add many' }).first().click()
    const sheet = page.getByRole('dialog', { name: 'Add many notes' })
    await sheet.getByRole('textbox').fill('Tea,7')
    await sheet.getByRole('button', { name: 'Add 1 note' }).click()
    await beDeveloper(page)
    await sheet.getByRole('row').getByRole('button', { name: 'Technical details' }).click()
    const drawer = drawerOf(page)
    await withStatus(drawer.locator('details[open] summary'), 400).waitFor()
    await closeRequests(drawer)
    await sheet.waitFor()
  })

  test('is available before sign-in, and is empty for the next user', async ({ open }) => {
    const { key, page } = await open(0, { session: 'none' })
    await page.getByLabel('API key').fill('note_wrong')
    await page.keyboard.press('Enter')
    await page.getByText('This key is not valid.').waitFor()
    const drawer = await openRequests(page)
    expect(await requestsOf(drawer).allInnerTexts()).toEqual([expect.stringMatching(/session\.current\s+401/)])
    await inspect(page, 'requests-sign-in')
    await closeRequests(drawer)
    await signIn(page, key)
    await showing(page, 'No notes')
    await openRequests(page)
    expect(await withStatus(requestsOf(drawer), 401).count()).toBe(0)
    await closeRequests(drawer)
    await signOut(page)
    await openRequests(page)
    await drawer.getByText('This tab has sent no request yet.').waitFor()
  })

  test('is in the account menu, which gets the focus back', async ({ open }) => {
    const { page } = await open(0, { isLoaded: true })
    await showing(page, 'No notes')
    expect(await page.getByRole('banner').getByRole('link').allTextContents()).toEqual(['Notes', 'Notes', 'Books'])
    expect(await page.getByRole('button', { name: 'Requests' }).count()).toBe(0)
    const menu = await openAccount(page)
    await menu.getByRole('button', { name: 'Requests' }).click()
    const drawer = drawerOf(page)
    await drawer.waitFor()
    await menu.waitFor({ state: 'hidden' })
    await closeRequests(drawer)
    await expect.poll(() => isFocused(account(page))).toBe(true)
  })

  test('opens while the service is away, and fits each width', async ({ open }) => {
    const { app, page } = await open([{ body: 'W'.repeat(255), priority: -9007199254740993n, state: 'done' }])
    await showing(page, '1 of 1')
    await panelsLoaded(page)
    await page.waitForLoadState('networkidle')
    await app.close()
    const drawer = await openRequests(page)
    await drawer.getByRole('button', { name: 'Copy the command' }).first().waitFor()
    for (const width of [1_920, 1_440, 640, 360, 320]) {
      await page.setViewportSize({ width, height: 740 })
      const overflows = await page
        .locator('html, [role=dialog]')
        .evaluateAll((all) => all.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
      expect(Math.max(...overflows), `${width}`).toBeLessThanOrEqual(0)
    }
    await inspect(page, 'requests-320')
  })

  test.for(['js', 'css'])(
    'says so if its %s could not be loaded in advance, after the list',
    async (type, { open }) => {
      const { url, page } = await open(0, { path: '/livez' })
      const files = `**/assets/requests*.${type}`
      await page.route(files, (route) => route.abort())
      await page.goto(url)
      await panelsLoaded(page)
      await page.unroute(files)
      await openAccount(page)
      await page.getByRole('button', { name: 'Requests' }).click()
      await page.getByRole('alert').getByText('Reload the page.').waitFor()
      // axe-core fails at a style sheet that is missing.
      if (type === 'js') await inspect(page, 'requests-not-loaded')
      await page.getByRole('button', { name: 'Reload' }).click()
      await openRequests(page)
    },
  )
})

async function closeRequests(drawer: Locator): Promise<void> {
  await drawer.page().keyboard.press('Escape')
  await drawer.waitFor({ state: 'hidden' })
}

/** The lines of the list, each of which opens its details. */
function requestsOf(drawer: Locator): Locator {
  return drawer.locator('summary')
}

function request(drawer: Locator, call: string): Locator {
  return requestsOf(drawer).filter({ has: drawer.page().locator('code', { hasText: call }) })
}

/** The lines with this status. Their durations are numbers, too. */
function withStatus(lines: Locator, status: number): Locator {
  return lines.filter({ has: lines.page().locator('.request-status', { hasText: String(status) }) })
}

/** Copies the command of the newest such request, which must be what the drawer shows, and runs it. */
async function run(drawer: Locator, call: string, key: string): Promise<unknown> {
  const page = drawer.page()
  const details = drawer
    .locator('details')
    .filter({ has: page.locator('summary code', { hasText: call }) })
    .first()
  // The first one is open.
  if ((await details.getAttribute('open')) === null) await details.locator('summary').click()
  await details.getByRole('button', { name: 'Copy the command' }).click()
  const command = await page.evaluate(() => navigator.clipboard.readText())
  expect(command).toBe(await details.locator('code', { hasText: 'curl' }).textContent())
  expect(command).not.toContain(key)
  return parseExactly(await runCurl(command, { NOTES_API_KEY: key }))
}
