import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPetstoreClient } from '../../client/index.ts'
import { isInstalled } from '../../engine/test/support/curl.ts'
import { type Server, waitForOutput } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { expectToCompile } from '../support/compile.ts'
import { codeBlocksOf, type Document, document, documents, read, root, stepsOf } from '../support/documents.ts'
import { bannerKey, startServer } from '../support/petstore.ts'

/** The address in the documents. */
const address = 'http://127.0.0.1:3000'
const run = promisify(execFile)

interface Tour {
  folder: string
  server: Server
  key: string
}

async function startTour(): Promise<Tour> {
  const folder = temporaryFolder()
  const server = await startServer({ folder })
  return { folder, server, key: await waitForOutput(server, bannerKey) }
}

test('the README: each command gives the output that is shown, and the typed client runs', async () => {
  const readme = document('README.md')
  const tour = await startTour()
  await follow(readme, tour)

  const [{ command, output } = { command: '', output: '' }] = stepsOf(readme).filter(({ command }) =>
    command.startsWith('sqlite3'),
  )
  expect(query(tour.folder, command)).toBe(output)

  const outputs = scriptsOf(readme).map((script) => runScript(script, tour))
  expect(await Promise.all(outputs)).toEqual(["{ id: 2n, name: 'Minka', categoryId: 7n, status: 'pending' }\n"])
})

test('the README shows a procedure as it is in the source', () => {
  const blocks = codeBlocksOf(document('README.md'), 'typescript')
  expect(blocks).toHaveLength(1)
  for (const { code } of blocks) expect(read('server/pets/pets.ts')).toContain(code.replaceAll(/^(?=.)/gm, '  '))
})

test('the API document: each command gives the output that is shown, and so do the scripts', async () => {
  const api = document('docs/reference/api.md')
  const tour = await startTour()
  await follow(api, tour)

  const outputs = scriptsOf(api).map((script) => runScript(script, tour))
  const sold = "{'id': '2', 'name': 'Tom', 'categoryId': '7', 'status': 'sold'}\n"
  expect(await Promise.all(outputs)).toEqual(['true\n', ...(isInstalled('python3') ? [sold] : [])])
})

test('the guide to tests: the client gets the pet of the fake fetch, and a spy on a procedure is refused', async () => {
  const outputs = scriptsOf(document('docs/guides/testing.md')).map(async (script) =>
    runScript(script, await startTour()),
  )
  expect(await Promise.all(outputs)).toEqual(["[ { id: 1n, name: 'Rex', categoryId: 7n, status: 'available' } ]\n"])
  const petstore = createPetstoreClient({ url: address, apiKey: 'key' })
  expect(() => vi.spyOn(petstore.pets.list, 'query')).toThrow('"query" is not defined')
})

test('no other document has curl lines, which no test would run', () => {
  const withCurl = documents.filter((each) => stepsOf(each).some(({ command }) => command.startsWith('curl')))
  expect(withCurl.map(({ path }) => path)).toEqual(['README.md', 'docs/reference/api.md'])
})

test('the documents and the script of the examples run one after the other on one database, and share no key', async () => {
  const tour = await startTour()
  for (const source of documents.filter(({ path }) => !path.startsWith('engine/'))) {
    for (const { command, output } of stepsOf(source).filter(({ command }) => command.startsWith('curl')))
      expect(errorCodeIn(await curl(command, tour)), command).toBe(errorCodeIn(output))
    for (const script of scriptsOf(source))
      expect(await runScript(script, tour), source.path).not.toContain('unprocessable')
  }
  await runScript({ program: 'node', code: read('examples/script.ts') }, tour)
})

test('the TypeScript examples of the documents compile', async () => {
  const folder = temporaryFolder()
  // The other examples have tests of their own: pages.slow.test.ts and documentation.test.ts.
  const compiled = documents.filter(({ path }) => !/^engine\/|guides\/extend/.test(path))
  for (const [index, source] of compiled.entries()) {
    const code = codeBlocksOf(source, 'ts').map((block) =>
      block.code.replaceAll("'../client/index.ts'", "'petstore-client'"),
    )
    if (code.length > 0)
      writeFileSync(join(folder, `${index}.ts`), `${declarationsFor(code.join('\n'))}\n${code.join('\n')}`)
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  await expectToCompile(folder)
})

/** Declarations that the examples use but do not show. */
function declarationsFor(code: string): string {
  const declarations = ["import type { PetstoreClient } from 'petstore-client'"]
  if (!code.includes('const petstore =')) declarations.push('declare const petstore: PetstoreClient')
  if (!code.includes('const petId')) declarations.push('declare const petId: bigint')
  return declarations.join('\n')
}

/** Runs each curl line of a document in order. */
async function follow(source: Document, tour: Tour): Promise<void> {
  const steps = stepsOf(source).filter(({ command }) => command.startsWith('curl'))
  expect(steps).not.toEqual([])
  for (const { command, output } of steps) {
    expect(await curl(command, tour), command).toBe(output)
  }
}

/** Sends the request of a curl line. The machine may have no curl. */
async function curl(line: string, { server, key }: Tour): Promise<string> {
  const command = line.replace(address, server.url).replace('$KEY', key)
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) =>
    String(single ?? double ?? bare),
  )
  const url = String(words.at(-1))
  const headers = words.flatMap((word, i) => (words[i - 1] === '-H' ? [toHeader(word)] : []))
  const body = words[words.indexOf('-d') + 1]
  const response = await fetch(
    url,
    words.includes('-d') ? { method: 'POST', headers, body: String(body) } : { headers },
  )
  return response.text()
}

/** The code of an Error body. Undefined for another response. */
function errorCodeIn(body: string): unknown {
  return JSON.parse(body).code
}

interface Script {
  program: 'node' | 'bash' | 'python3'
  code: string
}

/** The scripts that use a running service. The TypeScript blocks of a document are one. Not every machine has each program. */
function scriptsOf(source: Document): Script[] {
  const blocks = codeBlocksOf(source)
  const ts = blocks.filter(({ language }) => language === 'ts').map(({ code }) => code)
  const inLanguage = (program: Script['program'], of: string) =>
    blocks.filter(({ language }) => language === of).map(({ code }) => ({ program, code }))
  return [
    { program: 'node' as const, code: ts.join('\n') },
    ...inLanguage('node', 'js'),
    ...(isInstalled('bash') && isInstalled('curl') ? inLanguage('bash', 'bash') : []),
    ...(isInstalled('python3') ? inLanguage('python3', 'python') : []),
  ].filter(({ code }) => /createPetstoreClient\(|PETSTORE_URL/.test(code))
}

/** Returns what the script prints. */
async function runScript({ program, code }: Script, { folder, server, key }: Tour): Promise<string> {
  const file = join(folder, program === 'node' ? 'script.ts' : 'script')
  const [client, superjson] = ['client/index.ts', 'node_modules/superjson/dist/index.js'].map(
    (path) => pathToFileURL(join(root, path)).href,
  )
  writeFileSync(
    file,
    code
      .replace(/'(\.\.\/client\/index\.ts|petstore-client)'/, `'${client}'`)
      .replace("'superjson'", `'${superjson}'`)
      .replace(address, server.url)
      .replace("'…'", `'${key}'`),
  )
  const env = { PATH: process.env.PATH, KEY: key, PETSTORE_URL: server.url }
  return (await run(program === 'node' ? process.execPath : program, [file], { env })).stdout
}

function toHeader(line: string): [string, string] {
  const [name = '', value = ''] = line.split(': ')
  return [name, value]
}

/** Runs a line such as sqlite3 data/petstore.db 'SELECT …', and returns rows as sqlite3 prints them. */
function query(folder: string, command: string): string {
  const [, path = '', statement = ''] = /^sqlite3 (\S+) '(.+)'$/.exec(command) ?? []
  const database = new Database(join(folder, path), { readonly: true }).defaultSafeIntegers()
  onTestFinished(() => void database.close())
  const rows = database.prepare<[], unknown[]>(statement).raw().all()
  return rows.map((row) => row.join('|')).join('\n')
}
