import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../engine/test/support/free-port.ts'
import { type Run, runCommand, stopService, waitForOutput, whenListening } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { bannerKey, commandLine, createFirstKey, runProgram, startServer } from '../support/petstore.ts'

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new Error(`This line is not JSON: ${line}`, { cause: error })
  }
}

/** The exit code is 1, and standard error has what `message` matches, without a stack. */
async function expectRefusal(run: Run, message: RegExp): Promise<void> {
  expect(await run.ended).toBe(1)
  expect(run.stdout).toBe('')
  expect(run.stderr).toMatch(message)
  expect(run.stderr).not.toMatch(/^\s+at |node:internal|\.ts:\d/m)
}

/** On a busy machine, a service that has just started sheds requests. */
async function waitUntilReady(url: string): Promise<void> {
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200)
}

test('the first start creates the database and a key, and the curl line works when pasted', async () => {
  const folder = temporaryFolder()
  const server = await startServer({ folder })
  const key = await waitForOutput(server, bannerKey)
  const [, header = '', url = ''] = /curl -H '([^']+)' ([^\s"]+)/.exec(server.stdout) ?? []
  const [name = '', value = ''] = header.split(': ')
  await waitUntilReady(server.url)
  const response = await fetch(url, { headers: { [name]: value } })
  expect([response.status, await response.json()]).toEqual([200, []])
  expectPrivateFiles(join(folder, 'data'))

  await stopService(server)
  expect(server.stderr).toBe('')
  // SQLite has removed its log.
  expect(readdirSync(join(folder, 'data'))).toEqual(['petstore.db'])
  const lines = server.stdout.trimEnd().split('\n').map(parseLine)
  expect(lines.filter((line) => JSON.stringify(line).includes(key))).toEqual([
    expect.objectContaining({
      level: 'info',
      msg: 'Petstore is ready',
      console: `${server.url}/`,
      rest: `${server.url}/v1/pets`,
      rpc: `${server.url}/trpc`,
      reference: `${server.url}/docs/`,
      database: 'data/petstore.db',
      firstApiKey: key,
      curl: `curl -H 'Authorization: Bearer ${key}' ${server.url}/v1/pets`,
    }),
  ])
})

function expectPrivateFiles(folder: string): void {
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(readdirSync(folder).length).toBeGreaterThan(1)
  for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777, file).toBe(0o600)
}

test('the first start shows the key even if LOG_LEVEL=silent, because it shows the key only once', async () => {
  const port = await freePort()
  const run = runProgram({ env: { PORT: String(port), LOG_LEVEL: 'silent' } })
  const key = await waitForOutput(run, bannerKey)
  const lines = run.stdout.trimEnd().split('\n').map(parseLine)
  expect(lines.at(-1)).toMatchObject({ firstApiKey: key })
  const headers = { authorization: `Bearer ${key}` }
  await waitUntilReady(`http://127.0.0.1:${port}`)
  expect((await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers })).status).toBe(200)
})

test('the first start shows the addresses for clients if PUBLIC_URL is set', async () => {
  const run = runProgram({ env: { PUBLIC_URL: 'https://shop.example//petstore/' } })
  const key = await waitForOutput(run, bannerKey)
  expect(run.stdout.trimEnd().split('\n').map(parseLine)).toContainEqual(
    expect.objectContaining({
      console: 'https://shop.example/petstore/',
      rest: 'https://shop.example/petstore/v1/pets',
      rpc: 'https://shop.example/petstore/trpc',
      reference: 'https://shop.example/petstore/docs/',
      curl: `curl -H 'Authorization: Bearer ${key}' https://shop.example/petstore/v1/pets`,
    }),
  )
})

// Not every machine has this program.
if (existsSync('/usr/bin/script')) {
  const startInTerminal = (env = {}) => {
    const command = commandLine.map((word) => `'${word}'`).join(' ')
    return runCommand(['/usr/bin/script', '-qec', command, '/dev/null'], { env })
  }

  test('the first start shows a banner on a terminal', async () => {
    const run = startInTerminal()
    const key = await waitForOutput(run, bannerKey)
    await waitForOutput(run, /(curl -H 'Authorization)/)
    expect(run.stdout).toContain(`Your API key, shown only this once: ${key}`)
    expect(run.stdout).not.toContain('firstApiKey')
  })

  test('with LOG_FORMAT=json a terminal gets JSON lines and no banner', async () => {
    const run = startInTerminal({ LOG_FORMAT: 'json' })
    await waitForOutput(run, /("firstApiKey")/)
    for (const line of run.stdout.trimEnd().split('\r\n')) expect(parseLine(line)).toMatchObject({ level: 'info' })
  })
}

test('a later start takes seconds, shows no key and finds the pets, also under "node --watch"', async () => {
  const folder = temporaryFolder()
  const key = await createFirstKey(folder)
  // "node --watch" sends messages of its own through the ports of worker threads.
  const run = runCommand([process.execPath, '--watch', ...commandLine.slice(1)], { folder })
  const first = await whenListening(run)
  await waitUntilReady(first.url)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  for (const name of ['Rex', 'Tom', 'Minka']) {
    const body = JSON.stringify({ name, categoryId: 7 })
    expect((await fetch(`${first.url}/v1/pets`, { method: 'POST', headers, body })).status).toBe(201)
  }
  first.child.kill('SIGTERM')
  await first.ended

  const begin = performance.now()
  const second = await startServer({ folder })
  await waitUntilReady(second.url)
  const pets = await (await fetch(`${second.url}/v1/pets`, { headers })).json()
  expect(performance.now() - begin).toBeLessThan(30_000)
  expect(pets).toMatchObject([{ name: 'Rex' }, { name: 'Tom' }, { name: 'Minka' }])
  expect(second.stdout).not.toMatch(bannerKey)
})

test('of two services that start on one port at the same time, one is refused', async () => {
  const port = await freePort()
  const runs = [runProgram({ env: { PORT: String(port) } }), runProgram({ env: { PORT: String(port) } })] as const
  const loser = await Promise.race(runs.map((run) => run.ended.then(() => run)))
  const winner = loser === runs[0] ? runs[1] : runs[0]
  expect(loser.stderr).toMatch(/^Port \d+ on 127\.0\.0\.1 is taken by another program: [^\n]+\.\n$/)
  expect(await loser.ended).toBe(1)
  expect(await waitForOutput(winner, /listening at http:\/\/127\.0\.0\.1:(\d+)/)).toBe(String(port))
})

test('a version of Node that is too old is refused with one sentence', async () => {
  const folder = temporaryFolder()
  const pretend = join(folder, 'old-node.mjs')
  writeFileSync(
    pretend,
    "Object.defineProperty(process, 'version', { value: 'v20.20.2' }); Object.defineProperty(process.versions, 'node', { value: '20.20.2' })",
  )
  const run = runProgram({ folder, env: { NODE_OPTIONS: `--import=${pretend}` } })
  await expectRefusal(run, /^Petstore needs Node 24 or newer, and this is v20\.20\.2: .+\n$/)
  expect(existsSync(join(folder, 'data'))).toBe(false)
})
