import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createProduct } from '../../engine/create.ts'
import { query } from '../../engine/test/support/postgres/databases.ts'
import { startPostgres } from '../../engine/test/support/postgres/server.ts'
import { runCommand, waitForOutput, whenListening } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { copyEngines } from '../support/copied-engines.ts'
import { codeBlocksOf, document, root, stepsOf } from '../support/documents.ts'

/** The examples on the pages of the engines are one product, which a reader makes with `engine/create.ts`. */

const store = document('engine/store/README.md')
const client = document('engine/client/README.md')

/** The status and the output of `engine/create.ts`. */
function create(...words: string[]): [number | null, string] {
  const command = [join(root, 'engine/create.ts'), ...words]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' })
  return [status, stdout || stderr]
}

test('a product is made in a new folder only', () => {
  const folder = join(temporaryFolder(), 'notes')
  git(temporaryFolder(), 'init', '--quiet', folder)
  expect(create(folder)).toEqual([0, expect.stringContaining('has the engines and an example')])
  writeFileSync(join(folder, 'main.ts'), 'mine')
  expect(create(folder)).toEqual([1, `${folder} is not empty. Name a new folder.\n`])
  expect(readFileSync(join(folder, 'main.ts'), 'utf8')).toBe('mine')
  const usage = 'Usage: npx node engine/create.ts [--update] [--with-console] [--with-tests] <folder>\n'
  expect(create()).toEqual([1, usage])
})

test('a product has the names of its folder', () => {
  const folder = join(temporaryFolder(), '2_My-shop')
  createProduct(folder, { withConsole: true })
  const textOf = (path: string) => readFileSync(join(folder, path), 'utf8')
  for (const name of ["'My shop'", "'my-shop'", "keyPrefix: 'my_shop_'"]) expect(textOf('product.ts')).toContain(name)
  expect(textOf('product.ts')).not.toContain('0x4e4f5445')
  expect(textOf('web/index.html')).toContain('<title>My shop</title>')
  expect(textOf('web/docs/index.html')).toContain('<title>API reference · My shop</title>')
  expect(textOf('web/public/favicon.svg')).toContain('<title>My shop</title>')
  expect(textOf('prometheus-alerts.yaml')).toMatch(
    /^# The rules .*\ngroups:\n {2}- name: my-shop\n.* my_shop_ready == 0\n/s,
  )
  expect(textOf('prometheus-alerts.yaml')).not.toMatch(/petstore|notes|docs\//i)
  expect(textOf('Dockerfile')).toMatch(/file:\/data\/my-shop\.db\n.*^CMD exec node .* main\.ts\n$/ms)
  expect(readJson(join(folder, 'package.json'))).toHaveProperty('name', 'my-shop')
  expect(textOf('web/index.html')).toMatch(/^<!doctype html>/)
  expect(textOf('README.md')).toMatch(/^# My shop\n/)
  for (const path of ['store.ts', 'migrations/sqlite/0001_notes.sql'])
    expect(textOf(path)).toMatch(/^(?:import|CREATE) /)
})

test('an update replaces the engines of a product, keeps what is its own, and loses nothing that git does not have', () => {
  const folder = join(temporaryFolder(), 'notes')
  expect(create('--update', folder)).toEqual([1, expect.stringContaining(`${folder} has no engines.`)])
  expect(create('--update', root)).toEqual([1, expect.stringContaining('Name the folder of a product.')])
  createProduct(folder)
  const [page, manifest] = ['engine/store/README.md', 'package.json'].map((path) => join(folder, path))
  const { dependencies, ...others } = readJson(manifest)
  const { zod: _, ...lacking } = dependencies
  writeFileSync(
    String(manifest),
    JSON.stringify({ ...others, dependencies: { ...lacking, mine: '1.0.0', fastify: '1.0.0', pino: '99.1.0' } }),
  )
  writeFileSync(join(folder, 'main.ts'), 'mine')
  writeFileSync(join(folder, 'engine/mine.ts'), '')
  expect(create('--update', folder)).toEqual([1, expect.stringMatching(/^Commit engine\/ first\./)])

  git(folder, 'init', '--quiet')
  git(folder, 'add', '.')
  expect(create('--update', folder)).toEqual([1, expect.stringMatching(/^Commit engine\/ first\./)])
  expect(existsSync(join(folder, 'engine/mine.ts'))).toBe(true)
  git(folder, 'commit', '--quiet', '--message', 'x')
  // What git ignores is lost, too, but for what is installed.
  mkdirSync(join(folder, 'engine/store/node_modules'))
  for (const path of ['node_modules/a.js', 'mine.db']) writeFileSync(join(folder, 'engine/store', path), '')
  expect(create('--update', folder)).toEqual([1, expect.stringMatching(/^Commit engine\/ first\./)])
  rmSync(join(folder, 'engine/store/mine.db'))
  writeFileSync(join(folder, 'main.ts'), 'also mine')
  const packages = 'package.json also has mine: yours, or what older engines needed.'
  expect(create('--update', folder)).toEqual([0, expect.stringContaining(`see engine/CHANGELOG.md. ${packages}`)])
  expect(existsSync(join(folder, 'engine/mine.ts'))).toBe(false)
  expect(readFileSync(String(page), 'utf8')).toBe(store.text)
  expect(readFileSync(join(folder, 'engine/LICENSE'), 'utf8')).toContain('MIT License')
  expect(readFileSync(join(folder, 'main.ts'), 'utf8')).toBe('also mine')
  expect(readJson(manifest)).toEqual({
    ...others,
    // What is newer stays.
    dependencies: { ...dependencies, pino: '99.1.0', mine: '1.0.0' },
  })

  // The tests of the engines come when they are asked for, and then with each update.
  const hasTests = () => existsSync(join(folder, 'engine/store/test'))
  for (const [options, has] of [
    [[], false],
    [['--with-tests'], true],
    [[], true],
  ] as const) {
    git(folder, 'add', '.')
    git(folder, 'commit', '--quiet', '--message', 'x')
    expect(create('--update', ...options, folder)).toEqual([0, expect.any(String)])
    expect([hasTests(), 'test:engines' in readJson(manifest).scripts]).toEqual([has, has])
    expect('fast-check' in readJson(manifest).devDependencies).toBe(has)
  }
})

test('a product gets the console when it is made, or later beside what is its own', () => {
  const [folder, other] = [join(temporaryFolder(), 'notes'), join(temporaryFolder(), 'notes')]
  createProduct(other, { withConsole: true })
  createProduct(folder)
  mkdirSync(join(folder, 'web'))
  writeFileSync(join(folder, 'web/main.tsx'), 'mine')
  git(folder, 'init', '--quiet')
  git(folder, 'add', '.')
  git(folder, 'commit', '--quiet', '--message', 'x')
  expect(create('--update', '--with-console', folder)).toEqual([0, expect.any(String)])
  const files = globSync('**', { cwd: other })
  expect(files).toContain('engine/console/index.ts')
  expect(globSync('**', { cwd: folder }).toSorted()).toEqual(files.toSorted())
  expect(readJson(join(folder, 'package.json'))).toEqual(readJson(join(other, 'package.json')))
  expect(readFileSync(join(folder, 'web/main.tsx'), 'utf8')).toBe('mine')
})

test('a change of the schema is drafted, and keeps the rows and their ids', () => {
  const folder = copyEngines()
  const change = (...replacements: [string, string][]) => {
    for (const file of ['tables.ts', 'store.ts'].map((name) => join(folder, name))) {
      const text = readFileSync(file, 'utf8')
      writeFileSync(
        file,
        replacements.reduce((changed, [from, to]) => changed.replace(from, to), text),
      )
    }
  }
  const draft = (name: string) => {
    const output = runScript(folder, 'db:generate', '--', '--name', name)
    const [path] = globSync(`migrations/sqlite/*_${name}.sql`, { cwd: folder })
    return path === undefined ? output : readFileSync(join(folder, path), 'utf8')
  }
  writeFileSync(
    join(folder, 'add.ts'),
    `import { openStore } from '#store'
     import { definition } from './store.ts'
     const store = await openStore(definition, { kind: 'sqlite', path: 'notes.db' })
     await store.notes.create({ body: 'Call Ann' })
     const { id } = await store.notes.create({ body: 'Call Bob' })
     await store.notes.remove({ id })
     console.log(String(id), (await store.notes.list({ limit: 9 })).length)
     await store.close()`,
  )
  expect(draft('nothing')).toContain('No schema changes')
  expect(run(folder, 'add.ts')).toBe('2 1\n')

  change(
    ['import { sqliteTable', 'import { index, sqliteTable'],
    [
      'export const notes =',
      "export const tags = sqliteTable('tags', { id: int64('id').primaryKey({ autoIncrement: true }) })\n$&",
    ],
    ['import { int64, lineChecks }', 'import { int64, lineChecks, timestamp, timestampCheck }'],
    [
      'body: text().notNull(),',
      "$& shelf: text(), dueAt: timestamp('due_at'), tagId: int64('tag_id').references(() => tags.id),",
    ],
    [
      'lineChecks(note.body, maxBody)',
      "[...$&, index('notes_by_due_at').on(note.dueAt), timestampCheck(note.dueAt), ...lineChecks(note.shelf, 300)]",
    ],
    ['table: notes,', "table: notes, filters: ['dueAt'],"],
  )
  expect(draft('columns')).toMatch(
    /^CREATE TABLE `tags` \([^;]*\) STRICT;\n--> statement-breakpoint\n(ALTER TABLE `notes` ADD [^;]*;\n--> statement-breakpoint\n){3}CREATE INDEX [^;]*;\n$/,
  )
  expect(run(folder, 'add.ts')).toBe('4 2\n')

  // The checks of a table change only with a copy of it.
  change(['lineChecks(note.shelf, 300)', 'lineChecks(note.shelf, 200)'])
  expect(draft('checks')).toMatch(/CREATE TABLE `__new_notes` \([^;]*\) STRICT;/)
  expect(run(folder, 'add.ts')).toBe('6 3\n')
})

test('the example of the store prints what its page shows', async () => {
  const folder = copyEngines()
  const [step] = stepsOf(store)
  expect(run(folder, 'try.ts')).toBe(`${step?.output}\n`)
})

test('the example is served on PostgreSQL as the recipe does it', async () => {
  const folder = copyEngines()
  writeFileSync(
    join(folder, 'postgres-tables.ts'),
    "import { postgresTableOf } from '#store/postgres'\nimport * as sqlite from './tables.ts'\n\nexport const notes = postgresTableOf(sqlite.notes)\n",
  )
  const edit = (path: string, from: string, to: string, copy = path) =>
    writeFileSync(join(folder, copy), readFileSync(join(folder, path), 'utf8').replace(from, to))
  const configuration = 'drizzle.postgres.config.ts'
  const parts = "'postgresql', schema: './postgres-tables.ts', out: './migrations/postgres'"
  edit('drizzle.config.ts', "'sqlite', schema: './tables.ts', out: './migrations/sqlite'", parts, configuration)
  edit('package.json', 'drizzle.config.ts', `$& ${configuration}`)
  expect(existsSync(join(folder, 'migrations/postgres'))).toBe(false)
  runScript(folder, 'db:generate', '--', '--name', 'notes')
  // The engines have the migration 0000.
  expect(existsSync(join(folder, 'migrations/postgres/0001_notes.sql'))).toBe(true)
  const file = join(folder, 'store.ts')
  const line = codeBlocksOf(document('engine/README.md'), 'ts').at(-1)?.code.split('\n')[1]
  writeFileSync(file, readFileSync(file, 'utf8').replace('migrations: {', `$&\n${line}`))

  const { url, stop } = await startPostgres()
  onTestFinished(stop)
  const command = [process.execPath, 'main.ts']
  const server = await whenListening(runCommand(command, { folder, env: { DATABASE_URL: url } }))
  const apiKey = await waitForOutput(server, /\b(notes_[0-9A-Za-z]{38})\b/)
  const [step] = stepsOf(client)
  expect(run(folder, 'client.ts', { SERVICE_URL: server.url, SERVICE_API_KEY: apiKey })).toBe(`${step?.output}\n`)

  writeFileSync(
    join(folder, 'test/database.test.ts'),
    `import { expect, test } from 'vitest'
     import { openTestStore, startTestService } from '#test'
     import { service } from '../service.ts'
     import { definition } from '../store.ts'
     test('it is PostgreSQL', async () => {
       const [store, api] = [await openTestStore(definition), await startTestService(service)]
       for (const { load } of [store, api.store]) expect(load()).toHaveProperty('pool')
     })`,
  )
  const env = { ...process.env, TEST_DATABASE_URL: url }
  const { status, stdout, stderr } = spawnSync('npm', ['test'], { cwd: folder, encoding: 'utf8', env })
  expect(status, stdout + stderr).toBe(0)
  expect(stdout).toContain('test/store.test.ts')
  expect(await query(url, "SELECT datname FROM pg_database WHERE datname LIKE 'test%'")).toEqual([])
})

test('a definition that its module exports under another name ends the start with the reason', () => {
  const folder = copyEngines()
  for (const file of ['store.ts', 'service.ts'].map((name) => join(folder, name)))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('definition', 'notesStore'))
  const env = { ...process.env, PORT: '0' }
  const { stderr } = spawnSync(process.execPath, ['main.ts'], { cwd: folder, encoding: 'utf8', env, timeout: 60_000 })
  expect(stderr).toContain('store.ts must export what defineStore returns under the name "definition".')
})

test('the example of the service serves REST, RPC and the document, and that of the client prints what its page shows', async () => {
  const folder = copyEngines()
  const { start } = readJson(join(folder, 'package.json')).scripts
  const server = await whenListening(
    runCommand(['sh', '-c', start], { folder, env: { DATABASE_URL: 'file:notes.db' } }),
  )
  const apiKey = await waitForOutput(server, /\b(notes_[0-9A-Za-z]{38})\b/)
  const [step] = stepsOf(client)
  expect(run(folder, 'client.ts', { SERVICE_URL: server.url, SERVICE_API_KEY: apiKey })).toBe(`${step?.output}\n`)

  const request = async (
    path: string,
    init: { headers?: Record<string, string>; method?: string; body?: string } = {},
  ) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...init.headers }
    const response = await fetch(`${server.url}${path}`, { ...init, headers })
    return {
      status: response.status,
      replayed: response.headers.get('idempotency-replayed'),
      body: JSON.parse(await response.text()),
    }
  }
  const create = { method: 'POST', headers: { 'idempotency-key': 'order-18' }, body: '{"body":"Buy tea"}' }
  const note = { id: 2, body: 'Buy tea' }
  expect(await request('/v1/notes', create)).toEqual({ status: 201, replayed: null, body: note })
  expect(await request('/v1/notes', create)).toEqual({ status: 201, replayed: 'true', body: note })
  expect(await request('/v1/notes')).toMatchObject({ status: 200, body: [{ id: 1, body: 'Call Ann' }, note] })
  expect(await request('/v1/notes', { ...create, headers: {}, body: '{"body":""}' })).toMatchObject({
    status: 400,
    body: { message: 'body: expected 1 to 1000 characters' },
  })
  const append = (text: string) => request('/v1/notes/2/body', { method: 'PATCH', body: JSON.stringify({ text }) })
  expect(await append(' for Ann')).toMatchObject({ status: 200, body: { id: 2, body: 'Buy tea for Ann' } })
  const refusal = { code: 'conflict', message: 'The note is full.', status: 409 }
  expect(await append('x'.repeat(1_000))).toEqual({ status: 409, replayed: null, body: refusal })
  const removal = { method: 'DELETE', headers: { 'idempotency-key': 'order-19' } }
  expect(await request('/v1/notes/2', removal)).toEqual({ status: 200, replayed: null, body: { id: 2 } })
  expect(await request('/v1/notes/2', removal)).toEqual({ status: 200, replayed: 'true', body: { id: 2 } })
  expect(await request('/v1/notes/2', { method: 'DELETE' })).toMatchObject({ status: 404 })
  const { body } = await request('/openapi.json')
  expect(Object.keys(body.paths)).toEqual(['/notes', '/notes/{noteId}', '/notes/{noteId}/body'])
  expect(body.info).toEqual({
    title: 'Notes',
    version: '1.0.0',
    description: expect.stringMatching(/^Keeps the records of Notes\./),
  })

  const { stdout } = spawnSync(process.execPath, ['main.ts', '--help'], { cwd: folder, encoding: 'utf8' })
  expect(stdout).toContain('$ notes keys create shop')
  expect(stdout).not.toContain('petstore')
})

test('the tests of the example pass, with the script of the product', () => {
  const { status, stdout, stderr } = spawnSync('npm', ['test'], { cwd: copyEngines(), encoding: 'utf8' })
  expect(status, stdout + stderr).toBe(0)
  for (const path of ['test/store.test.ts', 'test/service.test.ts']) expect(stdout).toContain(path)
})

test('the example of the console is built and served', async () => {
  const folder = copyEngines({ withConsole: true })
  const built = spawnSync(
    join(root, 'node_modules/.bin/vite'),
    ['build', 'web', '--logLevel', 'warn', '--configLoader', 'native'],
    {
      cwd: folder,
      encoding: 'utf8',
      // Vitest sets NODE_ENV, which Vite would use.
      env: { PATH: process.env.PATH },
    },
  )
  expect([built.status, built.stderr]).toEqual([0, ''])

  const env = { DATABASE_URL: 'file:notes.db' }
  const { url } = await whenListening(runCommand([process.execPath, 'main.ts'], { folder, env }))
  const html = await (await fetch(url)).text()
  const scripts = [...html.matchAll(/(?:src|href)="\.(\/assets\/[^"]*\.js)"/g)].map(([, path]) => `${url}${path}`)
  const code = await Promise.all(scripts.map(async (script) => (await fetch(script)).text()))
  expect(code.some((text) => text.includes('notes_'))).toBe(true)
  expect(await (await fetch(`${url}/docs/`)).text()).toContain('<title>API reference · Notes</title>')
})

test('a product without a console is compiled, tested and served, also after an update', async () => {
  const folder = copyEngines({ withTests: true })
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
  const files = globSync('engine/**', { cwd: folder })
  git(folder, 'init', '--quiet')
  git(folder, 'add', '.')
  git(folder, 'commit', '--quiet', '--message', 'x')
  expect(create('--update', folder)).toEqual([0, expect.not.stringContaining('package.json also has')])
  expect(globSync('engine/**', { cwd: folder })).toEqual(files)
  expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe(manifest)

  for (const script of ['check', 'check:engines', 'test']) {
    const { status, stdout, stderr } = spawnSync('npm', ['run', script], { cwd: folder, encoding: 'utf8' })
    expect(status, stdout + stderr).toBe(0)
  }
  const env = { DATABASE_URL: 'file:notes.db' }
  const { url } = await whenListening(runCommand([process.execPath, 'main.ts'], { folder, env }))
  for (const path of ['/', '/docs/']) {
    const response = await fetch(`${url}${path}`)
    expect([response.url, await response.json()]).toEqual([
      `${url}/openapi.json`,
      expect.objectContaining({ paths: expect.anything() }),
    ])
  }
})

function git(folder: string, ...words: string[]) {
  return spawnSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...words], { cwd: folder })
}

function readJson(path = '') {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** Runs a script of the product, and returns what it prints. */
function runScript(folder: string, ...words: string[]): string {
  return spawnSync('npm', ['run', ...words], { cwd: folder, encoding: 'utf8' }).stdout
}

/** Runs a file of the project, and returns what it prints. */
function run(folder: string, file: string, env: Record<string, string> = {}): string {
  const { stdout, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', env })
  expect(stderr).toBe('')
  return stdout
}
