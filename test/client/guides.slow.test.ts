import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { isInstalled } from '../../engine/test/support/curl.ts'
import { codeBlocksOf, document } from '../support/documents.ts'
import { addPets, startTestApi } from '../support/petstore.ts'

const run = promisify(execFile)

// Not every machine has bash and curl.
if (isInstalled('bash') && isInstalled('curl')) {
  test('repeated runs of the curl script add one pet, read all pages and show an error', async () => {
    const runScript = await prepare('docs/guides/http-tools.md', 'bash')
    const output = await runScript()
    const [added, ...rest] = output.trimEnd().split('\n')
    expect(JSON.parse(added ?? '')).toEqual({ id: 4, name: 'Rex', categoryId: 7, status: 'available' })
    expect(rest.slice(0, -1).flatMap((page) => JSON.parse(page).map(({ name }: { name: string }) => name))).toEqual([
      'pet 1',
      'pet 2',
      'pet 3',
      'Rex',
    ])
    expect(JSON.parse(rest.at(-1) ?? '')).toMatchObject({ code: 'invalid_request', status: 400 })
    expect(await runScript()).toBe(output)
  })
}

// Older ones do not repeat a request whose connection breaks.
if (isInstalled('bash') && isInstalled('curl') && curlVersion() >= 7.71) {
  test('the curl script repeats a request whose connection breaks', async () => {
    const runScript = await prepare('docs/guides/http-tools.md', 'bash', { breaksConnection: true })
    expect(await runScript()).toContain('"name":"Rex"')
  })
}

// Not every machine has Python.
if (isInstalled('python3')) {
  test('repeated runs of the Python script add one pet, read all pages and show an error', async () => {
    const runScript = await prepare('docs/guides/python.md', 'python3', { pets: 150 })
    const output = await runScript()
    expect(output.split('\n')).toEqual([
      "{'id': 151, 'name': 'Rex', 'categoryId': 9007199254740993, 'status': 'available'}",
      ...Array.from({ length: 150 }, (_, index) => `${index + 1} pet ${index + 1}`),
      '151 Rex',
      'invalid_request: name: expected at least one character that is not white space',
      '',
    ])
    expect(await runScript()).toBe(output)
  })
}

function curlVersion(): number {
  return Number.parseFloat(
    /^curl (\d+\.\d+)/.exec(execFileSync('curl', ['--version'], { encoding: 'utf8' }))?.[1] ?? '0',
  )
}

/** Returns a function that runs the script of a guide against a service with some pets. */
async function prepare(
  path: string,
  program: 'bash' | 'python3',
  { pets = 3, breaksConnection = false } = {},
): Promise<() => Promise<string>> {
  const { app, key, store } = await startTestApi()
  await addPets(store, pets)
  if (breaksConnection) app.server.once('connection', (socket) => socket.destroy())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const [script] = codeBlocksOf(document(path), program.replace('3', ''))
  const env = { PATH: process.env.PATH, PETSTORE_URL: url, KEY: key }
  return async () => (await run(program, ['-c', String(script?.code)], { env })).stdout
}
