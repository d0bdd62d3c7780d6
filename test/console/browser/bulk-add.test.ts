import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished } from 'vitest'
import type { Store } from '../../../db/store.ts'
import { names, showing } from '../../../engine/console/test/browser/list.ts'
import {
  closeByEscape,
  describes,
  holdRequests,
  inspect,
  isFocused,
  loseResponses,
  press,
} from '../../../engine/console/test/browser/page.ts'
import { openBulkAdd, panelsLoaded, pasteRows } from '../../../engine/console/test/browser/panels.ts'
import { signIn } from '../../../engine/console/test/browser/session.ts'
import type { Locator, Page } from '../../../engine/console/test/browser/visit.ts'
import { freePort } from '../../../engine/test/support/free-port.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { createFirstKey, createKey, startServer } from '../../support/petstore.ts'
import { test } from '../console.ts'

describe('adding many pets', () => {
  test('a pasted text is checked and added, and pasting it again adds no pet twice', async ({ open }) => {
    const { store, page } = await open()
    const panel = await openBulkAdd(page)
    await expect.poll(() => isFocused(panel.getByRole('textbox'))).toBe(true)
    await pasteRows(panel, 'Name;Category;notes;Status\n Rex ;7;;SOLD\n;seven;;\nTom;9223372036854775807;nice;')
    await panel.getByText('2 pets can be added, 1 row has a problem. CSV with semicolons.').waitFor()
    await panel.getByText('The column notes is not used.').waitFor()
    await panel
      .getByRole('row', { name: '3 seven Available The name is missing. The category is not a whole number.' })
      .waitFor()
    await inspect(page, 'bulk-preview')

    await panel.getByRole('button', { name: 'Add 2 pets' }).press('Enter')
    await panel.getByText('2 pets were added.').waitFor()
    expect(await isFocused(panel.getByRole('button', { name: 'View pets' }))).toBe(true)
    await panel.getByRole('row', { name: '4 Tom 9223372036854775807 available Added with id' }).waitFor()
    await inspect(page, 'bulk-finished')
    await panel.getByRole('button', { name: 'View pets' }).press('Enter')
    await panel.waitFor({ state: 'hidden' })
    await showing(page, '1–2 of 2')
    expect(await isFocused(page.getByRole('button', { name: 'Add many' }))).toBe(true)

    const again = await openBulkAdd(page, 'name,categoryId,status\n Rex ,7,sold\n\nTom,9223372036854775807,available')
    await again.getByText('0 pets can be added. 2 pets were already added, and will be skipped.').waitFor()
    await page.keyboard.press('Escape')
    await page.reload()
    await openBulkAdd(page)
    await pasteRows(again, 'name,categoryId,status\n Rex ,7,sold\n\nTom,9223372036854775807,available')
    await again.getByRole('button', { name: 'Add 2 pets' }).click()
    await again.getByText('0 pets were added, 2 had already been added.').waitFor()
    expect(await store.pets.list({ limit: 9, cursor: 0n })).toMatchObject([
      { categoryId: expect.any(BigInt) },
      { status: expect.any(String) },
    ])
  })

  test('rows with a problem are corrected in the table, and adding all again adds none twice', async ({ open }) => {
    const { store, page } = await open(30)
    const rows = Array.from({ length: 500 }, (_, index) => `row ${index + 1},7,sold`)
    const text = rows.with(122, ',7,sold').with(376, 'row 377,seven,lost').join('\n')

    // Add first, then correct. Without the mouse.
    let panel = await openBulkAdd(page, text)
    await panel.getByRole('button', { name: 'Add 498 pets' }).press('Enter')
    await panel.getByText('498 pets were added.').waitFor({ timeout: 60_000 })
    await panel.getByText('Correct the other rows in the table').waitFor()
    expect(await panel.locator('tbody tr').count()).toBe(2)
    await correctByKeyboard(panel)
    await inspect(page, 'bulk-corrected')
    await page.keyboard.press('Enter')
    await panel.getByText('500 pets were added.').waitFor()
    await page.keyboard.press('Enter')
    await showing(page, '529–530 of 530')
    expect(await names(page)).toEqual(expect.arrayContaining(['Zoe', 'row 377']))

    // Correct first, then add, after a reload.
    await page.reload()
    panel = await openBulkAdd(page, text)
    await panel.getByText('2 rows have a problem').waitFor()
    await correctByKeyboard(panel)
    expect(await isFocused(panel.getByRole('button', { name: 'Add 500 pets' }))).toBe(true)
    await page.keyboard.press('Enter')
    await panel.getByText('0 pets were added, 500 had already been added.').waitFor({ timeout: 60_000 })
    expect(await store.pets.list({ limit: 100, cursor: 500n })).toHaveLength(30)
  })

  test('rows whose pets were removed since are added again, once for each click', async ({ open }) => {
    const { store, page } = await open()
    const text = Array.from({ length: 70 }, (_, index) => `row ${index + 1},7`).join('\n')
    let sheet = await openBulkAdd(page, text)
    await sheet.getByRole('button', { name: 'Add 70 pets' }).click()
    await sheet.getByRole('button', { name: 'View pets' }).click()
    for (const { id } of await store.pets.list({ limit: 100, cursor: 0n })) await store.pets.remove({ id })

    async function addAll(): Promise<void> {
      await page.reload()
      sheet = await openBulkAdd(page, text)
      await sheet.getByRole('button', { name: 'Add 70 pets' }).click()
      await sheet.getByText('0 pets were added, 70 had already been added.').waitFor()
    }
    await addAll()
    await sheet
      .getByText('70 pets were added by an earlier import, and may have been removed since. ')
      .getByText('Adding them again creates 70 further pets.')
      .waitFor()
    await inspect(page, 'bulk-existed')
    // The responses to the first requests are lost, and the page is loaded again before the others are sent.
    await loseResponses(page, '**/trpc/pets.create**', 2)
    await sheet.getByRole('button', { name: 'Add 70 again' }).click()
    await sheet.getByText('The service cannot be reached.').waitFor()
    expect(await sheet.getByRole('button', { name: /again$/ }).count()).toBe(0)
    expect(await isFocused(sheet.getByRole('button', { name: 'Adding…' }))).toBe(true)
    page.once('dialog', (dialog) => dialog.accept())
    await page.reload()
    await page.unroute('**/trpc/pets.create**')
    const count = async () => (await store.pets.list({ limit: 100, cursor: 0n })).length
    expect(await count()).toBe(40)
    await page.getByRole('button', { name: 'Show the rows' }).click()
    sheet = page.getByRole('dialog', { name: 'Add many pets' })
    await sheet.getByRole('button', { name: 'Add 70 pets' }).click()
    await sheet.getByText('30 pets were added, 40 had already been added.').waitFor()
    expect(await count()).toBe(70)

    // The same click in a page that knows nothing of the former one.
    await sheet.getByRole('button', { name: 'View pets' }).click()
    await addAll()
    await sheet.getByRole('button', { name: 'Add 70 again' }).click()
    await sheet.getByText('0 pets were added, 70 had already been added.').waitFor()
    expect(await count()).toBe(70)
    await sheet.getByRole('button', { name: 'Add 70 again' }).click()
    await sheet.getByText('70 pets were added.').waitFor()
    expect((await store.pets.list({ limit: 100, cursor: 140n })).length).toBe(70)
  })

  test('rows that are the same are named before both are added', async ({ open }) => {
    const { store, page } = await open()
    const panel = await openBulkAdd(page, 'Rex,7\nMolly,7\nRex,07')
    await panel.getByText('1 row is the same as an earlier row, and will be added, too.').waitFor()
    await panel.getByRole('row', { name: '3 Rex 07' }).getByText('Same as row 1').waitFor()
    await panel.getByRole('button', { name: 'Add 3 pets' }).click()
    await panel.getByText('3 pets were added.').waitFor()
    expect(await panel.getByText('Same as row').count()).toBe(0)
    expect(await store.pets.list({ limit: 9, cursor: 0n })).toHaveLength(3)
  })

  test('the filter of the rows counts those with a problem, and those that were corrected', async ({ open }) => {
    const { page } = await open()
    const sheet = await openBulkAdd(page, ',7\n,8\nTom,9')
    await sheet.getByRole('checkbox', { name: 'Show only 2 rows to correct', exact: true }).check()
    expect(await describes(page, 'Name, row 1')).toContain('The name is missing.')
    await sheet.getByLabel('Name, row 1').fill('Rex')
    await sheet.getByRole('checkbox', { name: 'Show only 1 row to correct and 1 corrected row', exact: true }).waitFor()
    await sheet.getByLabel('Name, row 2').fill('Max')
    await sheet.getByRole('checkbox', { name: 'Show only 2 corrected rows', exact: true, checked: true }).waitFor()
    await sheet.getByRole('button', { name: 'Add 3 pets' }).click()
    await sheet.getByText('3 pets were added.').waitFor()
    expect(await sheet.getByRole('checkbox').count()).toBe(0)
  })

  test('rows that were left are named above the list until they are added or dismissed', async ({ open }) => {
    const { store, page } = await open()
    let panel = await openBulkAdd(page, 'Rex,7\n,8\nTom,9')
    await panel.getByRole('button', { name: 'Add 2 pets' }).click()
    await panel.getByText('2 pets were added.').waitFor()
    await panel.getByLabel('Name, row 2').fill(' Max')
    await page.keyboard.press('Escape')
    await showing(page, '2 added, 1 row is not added yet')
    await inspect(page, 'bulk-left')
    await page.reload()
    await showing(page, '2 added, 1 row is not added yet')
    await page.getByRole('button', { name: 'Show the rows' }).click()
    panel = page.getByRole('dialog', { name: 'Add many pets' })
    await panel.getByText('1 pet can be added. 2 pets were already added, and will be skipped.').waitFor()
    await panel.getByRole('button', { name: 'Add 1 pet' }).click()
    await panel.getByRole('button', { name: 'View pets' }).click()
    await showing(page, '3 of 3')
    expect((await store.pets.list({ limit: 9, cursor: 0n })).map(({ name }) => name)).toEqual(['Rex', 'Tom', ' Max'])

    panel = await openBulkAdd(page, 'Zoe,7')
    await panel.getByRole('button', { name: 'Add 1 pet' }).waitFor()
    // Also if the panel is open.
    await page.reload()
    await showing(page, '1 row is not added yet')
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Account' }).waitFor()
    expect(await page.getByText('1 row is not added yet').count()).toBe(0)
  })

  test('a file can be chosen and dropped, and must be small enough and UTF-8', async ({ open }) => {
    const { page } = await open()
    const panel = await openBulkAdd(page)
    const choose = async (buffer: Buffer) => {
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        panel.getByRole('button', { name: 'Choose a file' }).click(),
      ])
      await chooser.setFiles({ name: 'pets.csv', mimeType: 'text/csv', buffer })
    }
    await choose(Buffer.from('François,7', 'latin1'))
    await panel.getByRole('alert').getByText('pets.csv is not UTF-8 text.').waitFor()
    await choose(Buffer.alloc(5_000_001, 'Rex,7\n'))
    await panel.getByRole('alert').getByText('The file is larger than 5 MB.').waitFor()
    await choose(Buffer.from('\ufeff\r\n'))
    await panel.getByRole('alert').getByText('pets.csv has no rows.').waitFor()
    await choose(Buffer.from('name,categoryId\n'))
    await panel.getByRole('alert').getByText('There is no pet in it. Add a row for each pet.').waitFor()
    await inspect(page, 'file-with-a-header-only')
    await choose(Buffer.from('François,7'))
    await panel.getByRole('row', { name: '1 François 7 available' }).waitFor()
    await panel.getByText('From pets.csv').waitFor()
    expect(await panel.getByRole('alert').count()).toBe(0)

    await dropFile(page, 'pets.ndjson', '{"name":"Tom","categoryId":8}')
    await panel.getByRole('row', { name: '1 Tom 8 available' }).waitFor()
    await panel.getByText('From pets.ndjson').waitFor()
    expect(await panel.getByRole('textbox').inputValue()).toBe('{"name":"Tom","categoryId":8}')

    // The rows of the first file stay. The button names that file, so that nobody adds them by mistake.
    await choose(Buffer.from('\ufeffKim,9', 'utf16le'))
    const problem = 'pets.csv is not UTF-8 text. Save it as “CSV UTF-8”.'
    await panel.getByRole('alert').getByText(`${problem} The rows of pets.ndjson are kept.`).waitFor()
    await panel.getByRole('button', { name: 'Add 1 pet of pets.ndjson', exact: true }).waitFor()
    await panel.getByText('From pets.ndjson').waitFor()
    await inspect(page, 'second-file-not-read')

    await panel.getByRole('textbox').fill('Ann,3')
    await panel.getByRole('button', { name: 'Add 1 pet', exact: true }).waitFor()
    await choose(Buffer.from('\ufeffKim,9', 'utf16le'))
    await panel.getByRole('alert').getByText(`${problem} Your rows are kept.`).waitFor()
    await panel.getByRole('row', { name: '1 Ann 3 available' }).waitFor()
    await panel.getByRole('button', { name: 'Add 1 pet', exact: true }).waitFor()
  })

  test('only the visible rows of a long text are rendered, and one beyond the limit is refused', async ({ open }) => {
    const { page } = await open()
    const panel = await openBulkAdd(page)
    const rows = Array.from({ length: 10_000 }, (_, index) => `pet ${index + 1},7`).with(4_999, '"a ""b""",x')
    await pasteRows(panel, `${rows.join('\n')}\nRex,7`)
    await panel.getByRole('alert').getByText('10,001 rows are too many. Add at most 10,000 at a time.').waitFor()
    await pasteRows(panel, rows.join('\n'))
    await panel.getByText('9,999 pets can be added, 1 row has a problem.').waitFor()
    const onlyProblems = panel.getByRole('checkbox', { name: 'Show only 1 row to correct' })
    const problem = panel.getByRole('row', { name: '5000 a "b" x Available The category is not a whole number.' })
    await problem.waitFor()
    await onlyProblems.uncheck()
    expect(await panel.locator('tbody tr').count()).toBe(50)
    await panel.getByText('9,950 rows more').scrollIntoViewIfNeeded()
    await panel.getByText('9,900 rows more').waitFor({ state: 'attached' })
    await panel.getByRole('row', { name: '51 pet 51 7 available' }).waitFor()
    await onlyProblems.check()
    await problem.waitFor()
    expect(await panel.locator('tbody tr').count()).toBe(1)
  })

  test('a run can be stopped and continued, and the panel stays open meanwhile', async ({ open }) => {
    const { store, page } = await open()
    // The first batch is sent, the others wait.
    const { promise, resolve } = Promise.withResolvers<void>()
    let requests = 0
    await page.route('**/trpc/pets.create**', async (route) => {
      if (++requests > 1) await promise
      // The page may have cancelled the request.
      await route.continue().catch(() => {})
    })
    const panel = await openBulkAdd(page, Array.from({ length: 100 }, (_, index) => `pet ${index + 1},7`).join('\n'))
    await panel.getByRole('button', { name: 'Add 100 pets' }).click()
    await panel
      .getByText(/^\d+ of 100$/)
      .filter({ hasNotText: /^0 / })
      .waitFor()
    await page.keyboard.press('Escape')
    await panel.getByRole('alert').getByText('Pets are being added.').waitFor()
    const isUnloadPrevented = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
    expect(await isUnloadPrevented()).toBe(true)
    await inspect(page, 'bulk-adding')
    await panel.getByRole('button', { name: 'Stop' }).press('Enter')
    await panel.getByText(/rows were not confirmed\. Continuing adds no pet twice\./).waitFor()
    const others = panel.getByRole('button', { name: /^Add the other \d+$/ })
    expect(await isFocused(others)).toBe(true)
    await page.keyboard.press('Enter')
    // The second click closes nothing.
    await panel.getByRole('button', { name: 'Stop' }).dblclick()
    await others.waitFor()
    await inspect(page, 'bulk-stopped')
    expect(await isUnloadPrevented()).toBe(false)
    resolve()
    await page.unroute('**/trpc/pets.create**')
    await others.click()
    await panel.getByText('Adding the same rows again within 24 hours').waitFor()
    expect(await sortedNames(store)).toEqual(Array.from({ length: 100 }, (_, index) => `pet ${index + 1}`).toSorted())
    // From the first one that the first part added.
    await panel.getByRole('button', { name: 'View pets' }).click()
    await showing(page, '1–20 of 100')
  })

  test('without Web Crypto, the same text is added once until the page is left', async ({ open }) => {
    const { key, page } = await open(0, { session: 'none' })
    await page.addInitScript(() => Reflect.deleteProperty(Crypto.prototype, 'subtle'))
    await page.reload()
    await page.getByLabel('API key').fill(key)
    await page.keyboard.press('Enter')
    for (const result of ['1 pet was added.', '0 pets were added, 1 had already been added.']) {
      const panel = await openBulkAdd(page, 'Rex,7')
      await panel.getByRole('button', { name: 'Add 1 pet' }).click()
      await panel.getByText(result).waitFor()
      await closeByEscape(panel)
    }
  })

  test('after its key is revoked half-way, another key continues with the other rows', async ({ open }) => {
    const { store, page } = await open(0, { session: 'form' })
    let panel = await openBulkAdd(page)
    const rows = Array.from({ length: 300 }, (_, index) => `pet ${index + 1},7,sold`)
    await pasteRows(panel, rows.join('\n'))
    await panel.getByRole('button', { name: 'Add 300 pets' }).click()
    const stored = async () => (await store.pets.counts()).sold.count
    await expect.poll(stored, { interval: 20, timeout: 60_000 }).toBeGreaterThan(60)
    for (const each of await store.apiKeys.list()) await store.apiKeys.revoke(each, new Date())
    await page.getByRole('alert').getByText('You were signed out').waitFor()
    const added = await stored()
    expect(added).toBeLessThan(300)

    await signIn(page, await createKey(store, 'second'))
    panel = page.getByRole('dialog', { name: 'Add many pets' })
    await panel
      .getByText(`${300 - added} pets can be added. ${added} pets were already added, and will be skipped.`)
      .waitFor()
    // The table shows the last row that was added.
    expect(await panel.getByText('1–50 of 300').count()).toBe(0)
    await inspect(page, 'bulk-continued')
    await panel.getByRole('button', { name: `Add ${300 - added} pets` }).click()
    await panel.getByText('300 pets were added.').waitFor({ timeout: 60_000 })
    expect(await stored()).toBe(300)
    const names = new Set<string>()
    for (const cursor of [0n, 100n, 200n]) {
      for (const { name } of await store.pets.list({ limit: 100, cursor })) names.add(name)
    }
    expect(names.size).toBe(300)
  })

  test.for([
    { rows: 25, retry: 'abort' },
    // More requests than the console keeps to show them.
    { rows: 60, retry: 'continue' },
  ] as const)(
    '$rows rows that another key may have added are added only if the user wants that',
    async ({ rows, retry }, { open }) => {
      const { store, page } = await open(0, { session: 'form' })
      let panel = await openBulkAdd(page)
      await pasteRows(panel, Array.from({ length: rows }, (_, index) => `pet ${index + 1},7,sold`).join('\n'))
      const stored = async () => (await store.pets.counts()).sold.count
      let requests = 0
      await page.route('**/trpc/pets.create**', async (route) => {
        const request = ++requests
        if (request > 3) return route[retry]()
        await route.fetch()
        if (request === 3) for (const each of await store.apiKeys.list()) await store.apiKeys.revoke(each, new Date())
        await route.abort()
      })
      await panel.getByRole('button', { name: `Add ${rows} pets` }).click()
      await page.getByRole('alert').getByText('You were signed out').waitFor()
      await page.unroute('**/trpc/pets.create**')
      const added = await stored()
      expect(added).toBeGreaterThan(0)

      await signIn(page, await createKey(store, 'second'))
      panel = page.getByRole('dialog', { name: 'Add many pets' })
      await panel.getByText(`${rows} pets may have been added with another API key.`).waitFor()
      await inspect(page, `bulk-doubtful-${rows}`)
      await panel.getByRole('button', { name: `Add ${rows} anyway` }).click()
      await panel.getByText(`${rows} pets were added.`).waitFor()
      expect(await stored()).toBe(rows + added)
    },
  )

  test('a text that is changed after some of its rows were added adds only the others', async ({ open }) => {
    const { store, page } = await open()
    let panel = await openBulkAdd(page, 'Rex,7\n,8')
    await panel.getByRole('button', { name: 'Add 1 pet' }).click()
    await panel.getByText('1 pet was added.').waitFor()
    await closeByEscape(panel)

    panel = await openBulkAdd(page)
    await panel
      .getByText('0 pets can be added, 1 row has a problem. 1 pet was already added, and will be skipped.')
      .waitFor()
    await pasteRows(panel, 'name,categoryId\nMax,8\nRex,7\nRex,7')
    await panel.getByRole('row', { name: '3 Rex 7 available Added with id 1' }).waitFor()
    await inspect(page, 'bulk-skipped')
    await panel.getByRole('button', { name: 'Add 2 pets' }).click()
    await panel.getByText('3 pets were added.').waitFor()
    expect(await sortedNames(store)).toEqual(['Max', 'Rex', 'Rex'])
    await closeByEscape(panel)

    // After everything was added, nothing is skipped. The user can also ask for that.
    panel = await openBulkAdd(page, 'Rex,7\nZoe,7\n,9')
    await panel.getByRole('button', { name: 'Add 2 pets' }).click()
    await panel.getByText('2 pets were added.').waitFor()
    await page.keyboard.press('Escape')
    panel = await openBulkAdd(page)
    await panel.getByRole('button', { name: 'Start over' }).click()
    expect(await isFocused(panel.getByRole('textbox', { name: 'Paste rows of a spreadsheet, CSV or JSON' }))).toBe(true)
    await pasteRows(panel, 'Tom,7\nRex,7')
    await panel.getByRole('button', { name: 'Add 2 pets' }).click()
    await panel.getByText('2 pets were added.').waitFor()
    expect(await sortedNames(store)).toEqual(['Max', 'Rex', 'Rex', 'Rex', 'Rex', 'Tom', 'Zoe'])
  })

  test('a file that is dropped on the list opens in the panel', async ({ open }) => {
    const { page } = await open()
    await page.getByRole('heading', { name: 'No pets yet' }).waitFor()
    await panelsLoaded(page)
    await dropFile(page, 'pets.csv', 'Rex,7')
    const panel = page.getByRole('dialog', { name: 'Add many pets' })
    await panel.getByText('From pets.csv').waitFor()
    const release = await holdRequests(page, '**/trpc/pets.create**')
    await panel.getByRole('button', { name: 'Add 1 pet' }).click()
    await panel.getByRole('progressbar').waitFor({ state: 'attached' })
    // While rows are added, it is ignored, and does not leave the page.
    expect(await dropFile(page, 'others.csv', 'Tom,8')).toBe(false)
    release()
    await panel.getByText('1 pet was added.').waitFor()
    await closeByEscape(panel)
    await openBulkAdd(page)
    expect(await panel.getByRole('textbox', { name: 'Paste rows of a spreadsheet, CSV or JSON' }).inputValue()).toBe('')
  })

  test.for([
    { width: 360, colorScheme: 'dark', forcedColors: 'none' },
    { width: 768, colorScheme: 'light', forcedColors: 'active' },
    { width: 1440, colorScheme: 'light', forcedColors: 'none' },
  ] as const)('the panel fits: %o', async ({ width, colorScheme, forcedColors }, { open }) => {
    const { page } = await open(0, { viewport: { width, height: 800 }, colorScheme, forcedColors })
    const panel = await openBulkAdd(page)
    await inspect(page, `bulk-empty-${width}`)
    const rows = ['Rex,7,sold', `${'W'.repeat(255)},-9223372036854775808`, ',x,lost', 'ركس,7', '🐕‍🦺,8,pending']
    await pasteRows(panel, rows.join('\n'))
    await panel.getByText('4 pets can be added, 1 row has a problem.').waitFor()
    expect(await panel.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    await inspect(page, `bulk-preview-${width}`)
    const release = await holdRequests(page, '**/trpc/pets.create**')
    await panel.getByRole('button', { name: 'Add 4 pets' }).click()
    await panel.getByRole('progressbar').waitFor({ state: 'attached' })
    await inspect(page, `bulk-adding-${width}`)
    release()
    await panel.getByText('4 pets were added.').waitFor()
    await inspect(page, `bulk-finished-${width}`)
  })
})

test('each valid row is stored once if the service is killed half-way', async ({ visit }) => {
  const folder = temporaryFolder()
  const key = await createFirstKey(folder)
  const env = { PORT: String(await freePort()) }
  const server = await startServer({ folder, env })
  const database = new Database(join(folder, 'data/petstore.db'))
  onTestFinished(() => void database.close())
  const stored = () => database.prepare<[], string>('SELECT name FROM pets').pluck().all()

  const page = await visit(server.url, { key })
  const panel = await openBulkAdd(page)
  const rows = Array.from({ length: 2_000 }, (_, index) => `pet ${index + 1},7,sold`).with(999, ',7,sold')
  await pasteRows(panel, `name,categoryId,status\n${rows.join('\n')}`)
  await panel.getByText('1,999 pets can be added, 1 row has a problem.').waitFor()
  const killed = Promise.withResolvers<void>()
  let requests = 0
  await page.route('**/trpc/pets.create**', async (route) => {
    // Each has 20 rows. The others wait, or the service could have all rows before it is killed.
    if (++requests > 50) await killed.promise
    await route.continue().catch(() => {})
  })
  await panel.getByRole('button', { name: 'Add 1,999 pets' }).click()
  await expect.poll(() => stored().length, { interval: 20, timeout: 60_000 }).toBeGreaterThan(900)
  server.child.kill('SIGKILL')
  await server.ended
  killed.resolve()
  expect(stored().length).toBeLessThan(1_999)
  await panel.getByText('The service cannot be reached.').waitFor()
  await inspect(page, 'bulk-service-away')

  await startServer({ folder, env })
  const summary = panel.getByText(/^[\d,]+ pets were added(, [\d,]+ had already been added)?\. Adding the same rows/)
  await summary.waitFor({ timeout: 60_000 })
  const expected = Array.from({ length: 2_000 }, (_, index) => `pet ${index + 1}`).toSpliced(999, 1)
  expect(stored().toSorted()).toEqual(expected.toSorted())
  const counts = [...((await summary.textContent()) ?? '').matchAll(/([\d,]+) (?:pets were|had)/g)]
  expect(counts.reduce((sum, [, count = '']) => sum + Number(count.replace(',', '')), 0)).toBe(1_999)
})

/** Corrects the two rows of the test, from the first problem on. */
async function correctByKeyboard(panel: Locator): Promise<void> {
  const page = panel.page()
  await panel.getByRole('checkbox', { name: 'Show only 2 rows to correct' }).press('Tab')
  await page.keyboard.type('Zoe')
  await press(page, 'Enter', 'Control+A')
  await page.keyboard.type('8')
  await page.keyboard.press('Enter')
  expect(await isFocused(panel.getByLabel('Status, row 377'))).toBe(true)
  await press(page, 'A', 'Enter')
}

/** Drops a file on the page. Returns whether the browser opens it in place of the page. */
async function dropFile(page: Page, name: string, text: string): Promise<boolean> {
  const drag = (type: string) =>
    page.evaluate(
      ([event, file, content]) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([content], file))
        const dispatched = new DragEvent(event, { dataTransfer, bubbles: true, cancelable: true })
        return document.body.dispatchEvent(dispatched)
      },
      [type, name, text] as const,
    )
  await drag('dragover')
  await page.locator('[data-dragged]').waitFor()
  return drag('drop')
}

async function sortedNames({ pets }: Store): Promise<string[]> {
  const found = await pets.list({ limit: 100, cursor: 0n })
  return found.map(({ name }) => name).toSorted()
}
