import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { expect, vi } from 'vitest'
import { proceduresIn } from '../../../engine/console/vite.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { fixtureRouter } from '../../fixture/service/router.ts'
import { northside, southside, startFixtureApi } from '../../fixture/service/support.ts'
import { describes, inspect, isFocused, listen, names, panel, pasteRows, showing, test } from '../console.ts'

const root = join(import.meta.dirname, '../../..')

test('the console lists, filters, shows, adds, imports and exports another resource', async ({ visit }) => {
  const { app, key, store } = await startFixtureApi({ consoleFolder: await buildConsole() })
  const url = await listen(app)
  for (let index = 0; index < 12; index++) {
    await store.shelters.create({ ...northside, capacity: 40n, name: `north ${index}` })
    await store.shelters.create({ ...southside, name: `south ${index}` })
  }
  const page = await visit(url, { key, permissions: ['clipboard-read', 'clipboard-write'] })
  await showing(page, '1–20, more follow')
  expect(await page.getByRole('columnheader').allTextContents()).toEqual([
    'Id',
    'Name',
    'City',
    'Capacity',
    'Access',
    'Added',
  ])
  expect(await page.title()).toBe('Shelters · Petstore')
  await inspect(page, 'shelters')
  expect(await page.getByRole('link', { name: 'Shelters', exact: true }).getAttribute('aria-current')).toBe('page')
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('Add a new shelter').waitFor()
  await page.keyboard.press('Escape')
  // Its fields are not searched.
  expect(await page.getByRole('combobox', { name: 'Order' }).count()).toBe(0)
  const field = page.getByRole('textbox', { name: 'Go to id' })
  await page.keyboard.type('/rex')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Enter 1 to 19 digits.').waitFor()
  expect(await describes(page, 'Go to id')).toContain('Enter 1 to 19 digits.')
  expect(await isFocused(field)).toBe(true)
  await inspect(page, 'invalid-id')
  await page.keyboard.type('23')
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.keyboard.press('Enter')
  await panel(page, 'north 11').waitFor()
  await page.keyboard.press('Escape')
  await panel(page).waitFor({ state: 'hidden' })
  await page.goto(url)
  await showing(page, '1–20, more follow')
  await page.keyboard.press(']')
  await showing(page, '21–24')
  await page.getByRole('combobox', { name: 'Shelters per page' }).selectOption('50')
  await showing(page, '21–24')
  // Without a search, too.
  await page.keyboard.press('[')
  await showing(page, '1–24')
  await page.getByRole('combobox', { name: 'Shelters per page' }).selectOption('20')
  await showing(page, '1–20, more follow')

  await page.getByRole('radiogroup', { name: 'Access' }).getByRole('radio', { name: 'Closed' }).check()
  await showing(page, '1–12')
  expect(new URL(page.url()).search).toBe('?isOpen=false')
  expect((await names(page))[0]).toBe('south 0')
  await page.reload()
  await showing(page, '1–12')

  await page.getByRole('link', { name: 'south 1', exact: true }).click()
  await panel(page, 'south 1').getByRole('definition').getByText('Knock.').waitFor()
  expect(new URL(page.url()).search).toBe('?isOpen=false&shelter=4')
  expect(await panel(page).getByRole('definition').allTextContents()).toEqual([
    '4',
    'Bern',
    String(2n ** 62n),
    'Closed',
    'Knock.',
    expect.stringMatching(/20\d\d/),
  ])
  await panel(page).locator('summary').click()
  await panel(page)
    .getByText(/"isOpen": false,\n {2}"note": "Knock\.",\n {2}"createdAt": "20.*Z"/)
    .waitFor()
  await page.getByRole('button', { name: 'Requests' }).click()
  await page.getByRole('dialog', { name: 'Requests' }).getByText('GET /v1/shelters?isOpen=false&limit=20').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await panel(page).waitFor({ state: 'hidden' })

  await page.keyboard.press('n')
  const form = panel(page, 'Add shelter')
  expect(await form.getByRole('combobox', { name: 'Access' }).inputValue()).toBe('false')
  await page.keyboard.type('West')
  await page.keyboard.press('Enter')
  await form.getByText('The city is missing.').waitFor()
  await form.getByText('The capacity is missing.').waitFor()
  await form.getByRole('textbox', { name: 'City', exact: true }).fill('Chur')
  await form.getByRole('textbox', { name: 'Capacity' }).fill('7')
  await form.getByRole('textbox', { name: 'Mascot' }).fill('99')
  await page.keyboard.press('Enter')
  await form.getByRole('alert').getByText('The shelter was not added').waitFor()
  await form.getByRole('textbox', { name: 'Mascot' }).fill('')
  await page.keyboard.press('Enter')
  await panel(page).waitFor({ state: 'hidden' })
  expect(await store.shelters.get(25n)).toMatchObject({ name: 'West', city: 'Chur', capacity: 7n, isOpen: false })

  await page.getByRole('button', { name: 'Add many' }).click()
  const sheet = page.getByRole('dialog', { name: 'Add many shelters' })
  await pasteRows(sheet, 'name,city,capacity,isOpen,note\nEast,Chur,3,true,\nFar,Chur,4,perhaps,')
  await sheet.getByText('The access is not one of true, false.').waitFor()
  await sheet.getByRole('button', { name: 'Add 1 shelter' }).click()
  await sheet.getByRole('button', { name: 'View shelters' }).click()
  expect(await store.shelters.get(26n)).toMatchObject({ name: 'East', isOpen: true })

  await page.getByRole('radiogroup', { name: 'Access' }).getByRole('radio', { name: 'Closed' }).check()
  await page.getByRole('button', { name: 'Export' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog', { name: 'Export shelters' }).getByRole('button', { name: 'CSV' }).click(),
  ])
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n')
  expect(lines[0]).toBe('id,name,city,capacity,isOpen,note,registration,mascotId,createdAt')
  expect(lines[1]).toMatch(/^2,south 0,Bern,4611686018427387904,false,Knock\.,,,20\d\d-.*Z$/)
  expect(lines).toHaveLength(15)
})

/** Builds the console with the page of the shelters. */
async function buildConsole(): Promise<string> {
  const folder = temporaryFolder()
  vi.stubEnv('NODE_ENV', 'production')
  await build({
    configFile: join(root, 'web/vite.config.ts'),
    configLoader: 'native',
    define: { SERVICE_PROCEDURES: JSON.stringify(proceduresIn(fixtureRouter)) },
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: true },
    plugins: [
      {
        name: 'second-resource',
        transformIndexHtml: {
          order: 'pre',
          handler: (html) => html.replace('/main.tsx', '../test/console/shelters/main.tsx'),
        },
      },
    ],
  })
  vi.unstubAllEnvs()
  return folder
}
