import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished } from 'vitest'
import type { Store } from '../../../db/resources.ts'
import { freePort } from '../../support/free-port.ts'
import { createFirstKey, startServer } from '../../support/process.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { holdRequests, inspect, isFocused, openBulkAdd, pasteRows, showing, startConsole, test } from '../console.ts'

describe('adding many pets', () => {
  test('a pasted text is checked and added, and pasting it again adds no pet twice', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url, { key })
    const panel = await openBulkAdd(page)
    expect(await isFocused(panel.getByRole('textbox'))).toBe(true)
    await pasteRows(panel, 'name;categoryId;status\n Rex ;7;sold\n;seven;\nTom;9223372036854775807;')
    await panel.getByText('2 pets can be added, 1 row has a problem. CSV with semicolons, with a header row.').waitFor()
    await panel.getByRole('row', { name: '3 seven The name is missing. The category is not an integer.' }).waitFor()
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

    const again = await openBulkAdd(page)
    await pasteRows(again, 'name,categoryId,status\n Rex ,7,sold\n\nTom,9223372036854775807,available')
    await again.getByRole('button', { name: 'Add 2 pets' }).click()
    await again.getByText('0 pets were added, 2 were there already.').waitFor()
    expect(await store.pets.list({ limit: 9, cursor: 0n })).toMatchObject([
      { categoryId: expect.any(BigInt) },
      { status: expect.any(String) },
    ])
  })

  test('JSON keeps every digit', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url, { key })
    const panel = await openBulkAdd(page)
    const ids = ['9007199254740993', '-9223372036854775808', '9223372036854775807']
    await pasteRows(panel, `[${ids.map((id) => `{"name":"Rex","categoryId":${id}}`)}]`)
    await panel.getByText('3 pets can be added. JSON.').waitFor()
    await panel.getByRole('button', { name: 'Add 3 pets' }).click()
    await panel.getByText('3 pets were added.').waitFor()
    const pets = await store.pets.list({ limit: 9, cursor: 0n })
    expect(pets.map(({ categoryId }) => String(categoryId)).toSorted()).toEqual(ids.toSorted())
  })

  test('a file can be chosen and dropped, and must be small enough and UTF-8', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    const panel = await openBulkAdd(page)
    const choose = async (buffer: Buffer) => {
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        panel.getByRole('button', { name: 'Choose a file' }).click(),
      ])
      await chooser.setFiles({ name: 'pets.csv', mimeType: 'text/csv', buffer })
    }
    await choose(Buffer.from('François,7', 'latin1'))
    await panel.getByRole('alert').getByText('The file is not UTF-8 text.').waitFor()
    await choose(Buffer.alloc(5_000_001, 'Rex,7\n'))
    await panel.getByRole('alert').getByText('The file is larger than 5 MB.').waitFor()
    await choose(Buffer.from('François,7'))
    await panel.getByRole('row', { name: '1 François 7 available' }).waitFor()
    expect(await panel.getByRole('alert').count()).toBe(0)

    const dropped = await page.evaluateHandle(() => {
      const data = new DataTransfer()
      data.items.add(new File(['{"name":"Tom","categoryId":8}'], 'pets.ndjson'))
      return data
    })
    await page.dispatchEvent('main', 'dragover', { dataTransfer: dropped })
    await panel.getByText('Drop the file to read it').waitFor()
    await page.dispatchEvent('main', 'drop', { dataTransfer: dropped })
    await panel.getByRole('row', { name: '1 Tom 8 available' }).waitFor()
    expect(await panel.getByRole('textbox').inputValue()).toBe('{"name":"Tom","categoryId":8}')
  })

  test('a long text is shown 50 rows at a time, and one beyond the limit is refused', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    const panel = await openBulkAdd(page)
    const rows = Array.from({ length: 10_000 }, (_, index) => `pet ${index + 1},7`).with(4_999, '"a ""b""",x')
    await pasteRows(panel, `${rows.join('\n')}\nRex,7`)
    await panel.getByRole('alert').getByText('10,001 rows are too many. Add at most 10,000 at a time.').waitFor()
    await pasteRows(panel, rows.join('\n'))
    await panel.getByText('9,999 pets can be added, 1 row has a problem.').waitFor()
    expect(await panel.locator('tbody tr').count()).toBe(50)
    await panel.getByRole('button', { name: 'Next' }).click()
    await panel.getByText('51–100 of 10,000').waitFor()
    await panel.getByRole('row', { name: '51 pet 51 7 available' }).waitFor()
    await panel.getByRole('checkbox', { name: 'Only 1 row with a problem' }).check()
    expect(await panel.locator('tbody tr').allTextContents()).toEqual(['5000a "b"xThe category is not an integer.'])
    await panel.getByRole('button', { name: 'Copy 1 row as CSV' }).click()
    await panel.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('name,categoryId,status\r\n"a ""b""",x\r\n')
  })

  test('a run can be stopped and continued, and the panel stays open meanwhile', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url, { key })
    // The first sixteen requests are sent, the others wait.
    const { promise, resolve } = Promise.withResolvers<void>()
    let requests = 0
    await page.route('**/trpc/pets.create', async (route) => {
      if (++requests > 16) await promise
      // The page may have cancelled the request.
      await route.continue().catch(() => {})
    })
    const panel = await openBulkAdd(page)
    await pasteRows(panel, Array.from({ length: 60 }, (_, index) => `pet ${index + 1},7`).join('\n'))
    await panel.getByRole('button', { name: 'Add 60 pets' }).click()
    await panel
      .getByText(/^\d+ of 60$/)
      .filter({ hasNotText: /^0 / })
      .waitFor()
    await page.keyboard.press('Escape')
    await panel.getByRole('alert').getByText('Pets are being added.').waitFor()
    const isUnloadPrevented = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
    expect(await isUnloadPrevented()).toBe(true)
    await inspect(page, 'bulk-adding')
    await panel.getByRole('button', { name: 'Stop' }).click()
    await panel.getByText(/rows were not confirmed\. Continuing adds no pet twice\./).waitFor()
    await inspect(page, 'bulk-stopped')
    expect(await isUnloadPrevented()).toBe(false)
    resolve()
    await page.unroute('**/trpc/pets.create')
    await panel.getByRole('button', { name: /^Add the other \d+$/ }).click()
    await panel.getByText('Adding the same rows again within 24 hours').waitFor()
    expect(await sortedNames(store)).toEqual(Array.from({ length: 60 }, (_, index) => `pet ${index + 1}`).toSorted())
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'hidden' })
  })

  test('a rate limit pauses the run', async ({ visit }) => {
    const { url, key, store } = await startConsole({ config: { rateLimit: { requests: 40, seconds: 15 } } })
    const page = await visit(url, { key })
    const panel = await openBulkAdd(page)
    await pasteRows(panel, Array.from({ length: 60 }, (_, index) => `pet ${index + 1},7`).join('\n'))
    await panel.getByRole('button', { name: 'Add 60 pets' }).click()
    await panel.getByText(/Too many requests\. Trying again in \d+ s\./).waitFor()
    await inspect(page, 'bulk-rate-limited')
    await panel.getByText('60 pets were added.').waitFor()
    expect(await sortedNames(store)).toHaveLength(60)
  })

  test('without Web Crypto, the same text is added once until the page is left', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url)
    await page.addInitScript(() => Reflect.deleteProperty(Crypto.prototype, 'subtle'))
    await page.reload()
    await page.getByLabel('API key').fill(key)
    await page.keyboard.press('Enter')
    for (const result of ['1 pet was added.', '0 pets were added, 1 was there already.']) {
      const panel = await openBulkAdd(page)
      await pasteRows(panel, 'Rex,7')
      await panel.getByRole('button', { name: 'Add 1 pet' }).click()
      await panel.getByText(result).waitFor()
      await page.keyboard.press('Escape')
      await panel.waitFor({ state: 'hidden' })
    }
  })

  test('a revoked key signs out', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    const page = await visit(url, { key })
    const panel = await openBulkAdd(page)
    await pasteRows(panel, 'Rex,7\nTom,8')
    for (const { id } of await store.apiKeys.list()) await store.apiKeys.revoke(id, new Date())
    await panel.getByRole('button', { name: 'Add 2 pets' }).click()
    await page.getByRole('alert').getByText('You were signed out').waitFor()
  })

  test.for([
    { width: 360, colorScheme: 'dark', forcedColors: 'none' },
    { width: 768, colorScheme: 'light', forcedColors: 'active' },
    { width: 1440, colorScheme: 'light', forcedColors: 'none' },
  ] as const)('the panel fits: %o', async ({ width, colorScheme, forcedColors }, { visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key, viewport: { width, height: 800 }, colorScheme, forcedColors })
    const panel = await openBulkAdd(page)
    await inspect(page, `bulk-empty-${width}`)
    const rows = ['Rex,7,sold', `${'W'.repeat(255)},-9223372036854775808`, ',x,lost', 'ركس,7', '🐕‍🦺,8,pending']
    await pasteRows(panel, rows.join('\n'))
    await panel.getByText('4 pets can be added, 1 row has a problem.').waitFor()
    expect(await panel.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    await inspect(page, `bulk-preview-${width}`)
    const release = await holdRequests(page, '**/trpc/pets.create')
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
  await panel.getByRole('button', { name: 'Add 1,999 pets' }).click()
  await expect.poll(() => stored().length, { interval: 20, timeout: 60_000 }).toBeGreaterThan(900)
  server.child.kill('SIGKILL')
  await server.ended
  expect(stored().length).toBeLessThan(1_999)
  await panel.getByText('The service cannot be reached.').waitFor()
  await inspect(page, 'bulk-service-away')

  await startServer({ folder, env })
  const summary = panel.getByText(/^[\d,]+ pets were added(, [\d,]+ (was|were) there already)?\. Adding the same rows/)
  await summary.waitFor({ timeout: 60_000 })
  const expected = Array.from({ length: 2_000 }, (_, index) => `pet ${index + 1}`).toSpliced(999, 1)
  expect(stored().toSorted()).toEqual(expected.toSorted())
  const counts = [...((await summary.textContent()) ?? '').matchAll(/([\d,]+) (?:pets )?(?:was|were)/g)]
  expect(counts.reduce((sum, [, count = '']) => sum + Number(count.replace(',', '')), 0)).toBe(1_999)
})

async function sortedNames({ pets }: Store): Promise<string[]> {
  const found = await pets.list({ limit: 100, cursor: 0n })
  return found.map(({ name }) => name).toSorted()
}
