import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand, waitForOutput, whenListening } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { codeBlocksOf, document, root, stepsOf } from '../support/documents.ts'

/** The examples on the pages of the engines are one product, which this test builds as a reader does. */

const store = document('engine/store/README.md')
const service = document('engine/service/README.md')
const client = document('engine/client/README.md')
const page = document('engine/console/README.md')

const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('the example of the store prints what its page shows', async () => {
  const folder = projectOf([store])
  const [step] = stepsOf(store)
  expect(run(folder, 'try.ts')).toBe(`${step?.output}\n`)
})

test('a definition that its module exports under another name is refused with the reason', () => {
  const folder = projectOf([store])
  for (const file of ['store.ts', 'try.ts'].map((name) => join(folder, name)))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('definition', 'notesStore'))
  const { stderr } = spawnSync(process.execPath, ['try.ts'], { cwd: folder, encoding: 'utf8' })
  expect(stderr).toContain('store.ts must export what defineStore returns under the name "definition".')
})

test('the example of the service serves REST, RPC and the document, and that of the client prints what its page shows', async () => {
  const folder = projectOf([store, service, client])
  const server = await whenListening(
    runCommand([process.execPath, 'main.ts'], { folder, env: { PORT: '0', DATABASE_URL: 'file:notes.db' } }),
  )
  const apiKey = await waitForOutput(server, /\b(note_[0-9A-Za-z]{38})\b/)
  const [step] = stepsOf(client)
  expect(run(folder, 'client.ts', { NOTES_URL: server.url, NOTES_API_KEY: apiKey })).toBe(`${step?.output}\n`)

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
  const { body } = await request('/openapi.json')
  expect(Object.keys(body.paths)).toEqual(['/notes', '/notes/{noteId}'])
  expect(body.info).toEqual({
    title: 'Notes',
    version: '1.0.0',
    description: expect.stringMatching(/^Keeps the notes of a team\./),
  })

  const { stdout } = spawnSync(process.execPath, ['main.ts', '--help'], { cwd: folder, encoding: 'utf8' })
  expect(stdout).toContain('$ notes keys create shop')
  expect(stdout).not.toContain('petstore')
})

test('the examples and the copied engines compile, and that of the console is built and served', async () => {
  const folder = projectOf([store, service, client, page])
  const web = { extends: join(root, 'web/tsconfig.json'), include: ['.'], exclude: ['node_modules'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...web, compilerOptions: { incremental: false } }))
  const bin = (name: string) => join(root, 'node_modules/.bin', name)
  expect(spawnSync(bin('tsc'), ['-p', folder], { encoding: 'utf8' }).stdout).toBe('')
  const built = spawnSync(bin('vite'), ['build', 'web', '--logLevel', 'warn', '--configLoader', 'native'], {
    cwd: folder,
    encoding: 'utf8',
    // Vitest sets NODE_ENV, which Vite would use.
    env: { PATH: process.env.PATH },
  })
  expect([built.status, built.stderr]).toEqual([0, ''])

  const env = { PORT: '0', DATABASE_URL: 'file:notes.db' }
  const { url } = await whenListening(runCommand([process.execPath, 'main.ts'], { folder, env }))
  const html = await (await fetch(url)).text()
  const [, script = ''] = /<script type="module" crossorigin src="\.(.*?)"/.exec(html) ?? []
  expect(await (await fetch(url + script)).text()).toContain('note_')
})

/** Writes the files of the examples, each of which begins with its path, beside a copy of the engines without tests. */
function projectOf(pages: (typeof store)[]): string {
  const folder = temporaryFolder(onTestFinished)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const isTest = /engine\/(?:\w+\/)?test$/
  cpSync(join(root, 'engine'), join(folder, 'engine'), { recursive: true, filter: (path) => !isTest.test(path) })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'notes', type: 'module', imports }))
  for (const { code } of pages.flatMap((each) => codeBlocksOf(each))) {
    const [, path] = /^(?:\/\/|--|<!--) ([\w./]+\.\w+)/.exec(code) ?? []
    if (path === undefined) continue
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), code)
  }
  return folder
}

/** Runs a file of the project, and returns what it prints. */
function run(folder: string, file: string, env: Record<string, string> = {}): string {
  const { stdout, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', env })
  expect(stderr).toBe('')
  return stdout
}
