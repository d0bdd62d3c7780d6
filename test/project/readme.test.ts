import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { bannerKey, startServer, waitForOutput } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

const root = join(import.meta.dirname, '../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const address = 'http://127.0.0.1:3000'

test('the tour: each curl line, the TypeScript example and the look into the file give what is shown', async () => {
  const folder = temporaryFolder()
  const server = await startServer({ folder })
  const key = await waitForOutput(server, bannerKey)

  const tour = blocks('console').filter((block) => block.startsWith('$ curl'))
  for (const { command, output } of tour.flatMap(stepsOf)) {
    expect(await curl(command.replace(address, server.url).replace('$KEY', key)), command).toBe(output)
  }

  const [example = ''] = blocks('ts')
  const script = join(folder, 'example.ts')
  const client = pathToFileURL(join(root, 'client/index.ts')).href
  writeFileSync(script, example.replace('../client/index.ts', client).replace(address, server.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env: { KEY: key } })
  expect(stdout).toContain("{ id: 3n, name: 'Minka', categoryId: 7n, status: 'pending' }\n[")

  const [file = ''] = blocks('console').filter((block) => block.startsWith('$ sqlite3'))
  const [{ command, output } = { command: '', output: '' }] = stepsOf(file)
  const [, path = '', statement = ''] = /^sqlite3 (\S+) '(.+)'$/.exec(command) ?? []
  const database = new Database(join(folder, path), { readonly: true }).defaultSafeIntegers()
  onTestFinished(() => void database.close())
  expect(
    database
      .prepare(statement)
      .raw()
      .all()
      .map((row) => (row as unknown[]).join('|'))
      .join('\n'),
  ).toBe(output)
})

test('every npm script it names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const named = [...readme.matchAll(/npm (?:run (?:--silent )?)?([a-z:]+)/g)]
    .map(([, name]) => name)
    .filter((name) => !['ci', 'pack', 'install'].includes(String(name)))
  expect(named.length).toBeGreaterThan(5)
  for (const name of named) expect(scripts).toHaveProperty([String(name)])
})

test('every file it names exists, or is generated and listed in .gitignore', () => {
  const named = [...readme.matchAll(/[`"(]((?:server|db|client|web|examples|interop|test)\/[\w./-]*)[`")]/g)].map(
    ([, path]) => String(path),
  )
  expect(named.length).toBeGreaterThan(10)
  const generated = readFileSync(join(root, '.gitignore'), 'utf8').split('\n')
  const missing = named.filter((path) => !existsSync(join(root, path)) && !generated.includes(path))
  expect(missing).toEqual([])
})

test('its table names every variable of the configuration, and no other', () => {
  const table = readme.slice(readme.indexOf('## Configuration'), readme.indexOf('## The code'))
  const named = [...table.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => String(name))
  expect(named.length).toBeGreaterThan(5)
  expect(named.sort()).toEqual(
    readFileSync(join(root, 'server/config.ts'), 'utf8')
      .match(/^ {2}([A-Z_]+)(?=:)/gm)
      ?.map((line) => line.trim())
      .sort(),
  )
})

function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, text]) => String(text))
}

function stepsOf(block: string): { command: string; output: string }[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => ({
      command: step.slice(0, step.indexOf('\n')),
      output: step.slice(step.indexOf('\n') + 1).trimEnd(),
    }))
}

/** Does what a curl line of the README asks for, on machines that may lack curl. */
async function curl(command: string): Promise<string> {
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) =>
    String(single ?? double ?? bare),
  )
  const url = String(words.at(-1))
  const headers = words.flatMap((word, i) => (words[i - 1] === '-H' ? [word.split(': ') as [string, string]] : []))
  const body = words[words.indexOf('-d') + 1]
  const answer = await fetch(url, words.includes('-d') ? { method: 'POST', headers, body: String(body) } : { headers })
  return answer.text()
}
