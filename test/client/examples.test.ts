import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { AppOptions } from '../../server/app.ts'
import { openBrowser } from '../support/browser.ts'
import { addPets } from '../support/database.ts'
import { serveFolder } from '../support/serve-folder.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { startTestApi } from '../support/test-api.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const examples = join(root, 'examples')

// The examples import the built package.
beforeAll(() => run(process.execPath, [join(root, 'client/build.ts')]))

test('repeated runs of the script add one pet, read all pages and show an error', async () => {
  const { env, store } = await startService()
  await addPets(store, 150)
  const words = [join(examples, 'script.ts')]
  const first = await run(process.execPath, words, { env })
  const pets = Array.from({ length: 150 }, (_, index) => `${index + 1} pet ${index + 1}`)
  expect(first.stdout.split('\n')).toEqual([
    'Rex has the id 151.',
    ...pets,
    '151 Rex',
    'invalid_request: name: expected at least one character that is not white space',
    '',
  ])
  const second = await run(process.execPath, words, { env })
  expect(second.stdout).toBe(first.stdout)
})

test("the script with tRPC's own links sends more calls at once than one batch allows", async () => {
  const { env, store } = await startService()
  await addPets(store, 50)
  const { stdout } = await run(process.execPath, [join(examples, 'links.ts')], { env })
  expect(stdout).toBe(Array.from({ length: 50 }, (_, index) => `pet ${index + 1}\n`).join(''))
})

test('the React page lists pets, shows a pet by its bigint id, adds a pet and shows an error', async () => {
  const site = temporaryFolder()
  const origin = await serveFolder(site)
  const { env, key, store } = await startService({ corsOrigins: [origin] })
  await addPets(store, 2)
  vi.stubEnv('VITE_PETSTORE_URL', env.PETSTORE_URL)
  onTestFinished(() => void vi.unstubAllEnvs())
  await build({
    root: join(examples, 'react'),
    configFile: false,
    logLevel: 'error',
    build: { outDir: site, emptyOutDir: false },
  })

  const page = await (await openBrowser()).newPage()
  page.setDefaultTimeout(60_000)
  page.on('dialog', (dialog) => dialog.accept(key))
  await page.goto(origin)
  await page.getByText('pet 2').waitFor()
  const pets = page.getByRole('listitem')
  expect(await pets.allTextContents()).toEqual(['pet 1', 'pet 2'])

  await page.getByRole('button', { name: 'pet 2' }).click()
  await page.getByText('pet 2 has the id 2.').waitFor()
  await page.getByRole('button', { name: 'pet 1' }).click()
  await page.getByText('pet 1 has the id 1.').waitFor()

  await page.getByRole('textbox', { name: 'Name' }).fill('Rex')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByText('Rex').waitFor()
  expect(await pets.allTextContents()).toEqual(['pet 1', 'pet 2', 'Rex'])

  await page.getByRole('textbox', { name: 'Name' }).fill(' ')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').textContent()).toContain('not white space')
  expect(await pets.count()).toBe(3)
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe(' ')
})

async function startService(config: Partial<AppOptions['config']> = {}) {
  const { app, key, store } = await startTestApi({ config })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { env: { PATH: process.env.PATH, PETSTORE_URL: url, KEY: key }, key, store }
}
