import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { openBrowser } from '../../../engine/console/test/browser/open-browser.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { addPets, startTestApi } from '../../support/petstore.ts'
import { serveFolder } from './serve-folder.ts'

const root = join(import.meta.dirname, '../../..')

// The pages import the built package.
beforeAll(() => promisify(execFile)(process.execPath, [join(root, 'deploy/client/build.ts')]))

test('the package runs on a page of another origin', async () => {
  const site = temporaryFolder()
  const lib = { entry: join(root, 'interop/package/front-end.ts'), formats: ['es' as const], fileName: 'page' }
  await build({ configFile: false, logLevel: 'error', build: { lib, outDir: site } })
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>shop</title>')
  const origin = await serveFolder(site)
  const { url, key } = await startService(origin)
  const page = await (await openBrowser()).newPage()
  await page.goto(origin)
  const words = JSON.stringify([url, key])
  expect(await page.evaluate(`import('/page.js').then(({ visit }) => visit(...${words}))`)).toEqual([
    ...Array<string>(3).fill('1 Rex 9007199254740993 pending'),
    'not_found',
  ])
})

test('the React page lists pets, shows a pet by its bigint id, adds a pet and shows an error', async () => {
  const site = temporaryFolder()
  const origin = await serveFolder(site)
  const { url, key, store } = await startService(origin)
  await addPets(store, 2)
  vi.stubEnv('VITE_PETSTORE_URL', url)
  onTestFinished(() => void vi.unstubAllEnvs())
  await build({
    root: join(root, 'examples/react'),
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

async function startService(origin: string) {
  const { app, key, store } = await startTestApi({ config: { corsOrigins: [origin] } })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, key, store }
}
