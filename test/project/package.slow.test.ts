import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Run, runCommand, stopService, waitForOutput, whenListening } from '../../engine/test/support/process.ts'
import { share } from '../../engine/test/support/share.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { patternsFor, program } from '../../sources.ts'
import { layOutPackage } from '../support/built-package.ts'
import { read, root } from '../support/documents.ts'
import { bannerKey } from '../support/petstore.ts'

const installed = share((atEnd) => layOutPackage(temporaryFolder(atEnd)))

function runInstalled(words: string[], options: { env?: Record<string, string>; folder?: string } = {}): Run {
  return runCommand([join(installed(), '../.bin/petstore'), ...words], options)
}

test('the package contains the sources as JavaScript, all migrations, the console and the texts for its readers', () => {
  const shipped = globSync('**/*', { cwd: installed(), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed().length + 1))
  const expected = globSync(
    [
      ...patternsFor(program, '.{ts,mjs}'),
      'db/migrations/*/*.{sql,json}',
      'web/dist/**/*.*',
      'docs/**/*.md',
      'CHANGELOG.md',
      'SECURITY.md',
      'deploy/{petstore*.{service,timer},petstore*/*,nginx-tls.conf,prometheus-alerts.yaml,grafana-dashboard.json}',
    ],
    {
      cwd: root,
      exclude: ['db/drizzle.postgres.config.ts', 'db/tables.ts', 'engine/**/test/**'],
    },
  ).map((path) => path.replace(/\.ts$/, '.js'))
  const own = ['LICENSE', 'README.md', 'bin/petstore', 'package-lock.json', 'package.json']
  expect(shipped.toSorted()).toEqual([...expected, ...own].toSorted())
  expect(shipped).toContain('engine/store/sqlite/writer/writer-thread.js')
  const notices = readFileSync(join(installed(), 'web/dist/licenses.md'), 'utf8')
  for (const library of ['react', '@mantine/hooks', '@trpc/client', 'Tabler Icons'])
    expect(notices).toContain(`## ${library} - `)
})

test('the installed command serves, writes, backs up and stops', async () => {
  const folder = temporaryFolder()
  const server = await whenListening(runInstalled([], { folder }))
  const headers = {
    authorization: `Bearer ${await waitForOutput(server, bannerKey)}`,
    'content-type': 'application/json',
  }
  const body = JSON.stringify({ name: 'Rex', categoryId: 7 })
  expect((await fetch(`${server.url}/v1/pets`, { method: 'POST', headers, body })).status).toBe(201)
  expect(await (await fetch(`${server.url}/`)).text()).toContain('/assets/index-')
  const backup = runInstalled(['backup'], { folder })
  expect(await backup.ended, backup.stderr).toBe(0)
  expect(existsSync(backup.stdout.trim())).toBe(true)
  await stopService(server)
})

test('the installed command has the Node options of "npm start"', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const options = (text: string) => text.match(/--\S+/g)
  expect(options(scripts.start)).toHaveLength(4)
  expect(options(read('deploy/package/petstore'))).toEqual(options(scripts.start))
})

test.for([
  ['below the package', 'petstore-service/node_modules/.bin/node', 'pinned'],
  ['beside the package', '.bin/node', 'pinned'],
  ['beside the link to the package, where pnpm has it', 'link/node_modules/.bin/node', 'pinned'],
  ['of the system, if none was installed with the package', undefined, 'of the system'],
] as const)('the command runs the Node %s', async ([, place, expected]) => {
  const folder = temporaryFolder()
  const command = join(folder, 'modules/petstore-service/bin/petstore')
  writeScript(command, read('deploy/package/petstore'))
  const link = join(folder, 'modules/link/node_modules/petstore-service')
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(join(folder, 'modules/petstore-service'), link)
  writeScript(join(folder, 'system/node'), '#!/bin/sh\necho of the system')
  if (place) writeScript(join(folder, 'modules', place), '#!/bin/sh\necho pinned')
  const started = place?.startsWith('link') ? join(link, 'bin/petstore') : command
  const run = runCommand([started], { env: { PATH: `${join(folder, 'system')}:${process.env.PATH}` } })
  await run.ended
  expect(run.stdout.trim()).toBe(expected)
})

test('the command also runs with Node, as Yarn runs it', async () => {
  const run = runCommand([process.execPath, join(installed(), 'bin/petstore'), '--version'])
  expect([await run.ended, run.stdout, run.stderr]).toEqual([0, `${JSON.parse(read('package.json')).version}\n`, ''])
})

function writeScript(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, 0o755)
}
