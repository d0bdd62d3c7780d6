import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build, createServer } from 'vite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openBrowser } from '../engine/console/test/browser/open-browser.ts'
import { temporaryFolder } from '../engine/test/support/temporary.ts'
import { serveFolder } from '../test/console/pages/serve-folder.ts'
import { codeBlocksOf, document, root } from '../test/support/documents.ts'
import { addPets, startTestApi } from '../test/support/petstore.ts'

/** The guides import the package of the client; the tests use its source. */
const client = join(root, 'client/index.ts')
const alias = { 'petstore-client': client }

test('the versions that the React guide overrides are those that its code is tested with', () => {
  const [shown] = codeBlocksOf(document('docs/guides/react.md'), 'json')
  const { overrides } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'))
  expect(JSON.parse(String(shown?.code))).toEqual({ overrides })
})

test('the page of the React guide lists pets page by page, adds a pet and shows an error', async () => {
  const { project, site, key, store, page } = await startProject(['react'])
  await addPets(store, 25)
  const index = '<!doctype html><html lang="en"><body></body><script type="module" src="/src/main.tsx"></script></html>'
  writeFileSync(join(project, 'index.html'), index)
  await buildPage(project, site.folder)

  page.on('dialog', (dialog) => dialog.accept(key))
  await page.goto(site.origin)
  await page.getByText('pet 20').waitFor()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByText('pet 25').waitFor()
  expect(await page.getByRole('button', { name: 'More' }).count()).toBe(0)

  await page.getByRole('textbox', { name: 'Name' }).fill('Rex')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByText('Rex').waitFor()
  expect(await page.getByRole('listitem').count()).toBe(26)

  await page.getByRole('textbox', { name: 'Name' }).fill(' ')
  await page.getByRole('button', { name: 'Add' }).click()
  expect(await page.getByRole('alert').textContent()).toContain('not white space')
})

test('the guide to server-side rendering renders pets, and the browser takes them over without a request', async () => {
  const { project, site, key, store, page } = await startProject(['react', 'server-side-rendering'])
  await addPets(store, 3)
  await store.pets.create({ name: '</script><b>', categoryId: 9007199254740993n, status: 'sold' })
  vi.stubEnv('PETSTORE_API_KEY', key)
  onTestFinished(() => void vi.unstubAllEnvs())

  const html = await renderPage(project, 2n)
  expect(html).toContain('<ul><li>pet 3</li><li>&lt;/script&gt;&lt;b&gt;</li></ul>')
  writeFileSync(join(project, 'index.html'), html)
  await buildPage(project, site.folder)

  const problems: string[] = []
  const requests: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => requests.push(new URL(request.url()).pathname))
  page.on('dialog', (dialog) => dialog.accept(key))
  await page.goto(site.origin, { waitUntil: 'networkidle' })
  expect(await page.getByRole('listitem').allTextContents()).toEqual(['pet 3', '</script><b>'])
  expect(problems).toEqual([])
  expect(requests.filter((path) => path.startsWith('/trpc'))).toEqual([])
})

/** Starts a service, and writes and compiles a project from the code of guides. `site` is where its page is served. */
async function startProject(guides: string[]) {
  const folder = temporaryFolder()
  const origin = await serveFolder(folder)
  const { app, key, store } = await startTestApi({ config: { corsOrigins: [origin] } })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })

  const project = temporaryFolder()
  symlinkSync(join(import.meta.dirname, 'node_modules'), join(project, 'node_modules'))
  for (const { code } of guides.flatMap((name) => codeBlocksOf(document(`docs/guides/${name}.md`), 'tsx'))) {
    const path = join(project, String(/^\/\/ (src\/\S+)\n/.exec(code)?.[1]))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, code.replace('http://127.0.0.1:3000', url))
  }
  await compile(project)
  const page = await (await openBrowser()).newPage()
  page.setDefaultTimeout(60_000)
  return { project, site: { folder, origin }, key, store, page }
}

async function compile(project: string): Promise<void> {
  const compilerOptions = {
    target: 'es2025',
    lib: ['es2025', 'dom', 'dom.iterable', 'esnext.disposable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    // One copy of tRPC's types, as in a project that has installed the client.
    paths: {
      'petstore-client': [client],
      '@trpc/client': typesOf('@trpc/client'),
      '@trpc/server': typesOf('@trpc/server'),
    },
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', project]).catch((error) => error)
  expect(stdout).toBe('')
}

function typesOf(name: string): string[] {
  return [join(root, 'node_modules', name, 'dist/index.d.mts')]
}

async function buildPage(project: string, outDir: string): Promise<void> {
  const options = { outDir, emptyOutDir: false }
  await build({ root: project, configFile: false, logLevel: 'error', resolve: { alias }, build: options })
}

/** Runs the server of the guide. */
async function renderPage(project: string, after: bigint): Promise<string> {
  const vite = await createServer({
    root: project,
    configFile: false,
    logLevel: 'error',
    appType: 'custom',
    cacheDir: join(project, '.vite'),
    resolve: { alias },
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, ws: false, watch: null },
  })
  onTestFinished(() => vite.close())
  const { renderPage } = await vite.ssrLoadModule('/src/server.tsx')
  return renderPage(after)
}
