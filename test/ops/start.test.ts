import { once } from 'node:events'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mintApiKey } from '../../server/auth/api-key.ts'
import { freePort } from '../support/free-port.ts'
import {
  bannerKey,
  petstore,
  type Run,
  runCommand,
  runPetstore,
  startServer,
  waitForOutput,
  whenListening,
} from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new Error(`This line is not JSON: ${line}`, { cause: error })
  }
}

/** A start that fails: exit code 1, one line for the operator unless `message` says more, and nothing of the code. */
async function expectRefusal(run: Run, message: RegExp | string): Promise<void> {
  expect(await run.ended).toBe(1)
  expect(run.stdout).toBe('')
  if (typeof message === 'string') expect(run.stderr).toMatch(/^[A-Z][^\n]+\.\n$/)
  expect(run.stderr).toMatch(message)
  expect(run.stderr).not.toMatch(/^\s+at |node:internal|\.ts:\d/m)
}

describe('the first start', () => {
  test('makes the database and a key, and its curl line works when pasted', async () => {
    const folder = temporaryFolder()
    const server = await startServer({ folder })
    await waitForOutput(server, bannerKey)
    const [, header = '', url = ''] = /curl -H '([^']+)' ([^\s"]+)/.exec(server.stdout) ?? []
    const [name = '', value = ''] = header.split(': ')
    const answer = await fetch(url, { headers: { [name]: value } })
    expect([answer.status, await answer.json()]).toEqual([200, []])
    expect(server.stdout).toContain(`${server.url}/docs/`)
    expect(server.stdout).toContain('data/petstore.db')
  })

  test('writes only JSON lines where standard output is no terminal, and one of them has the facts of the banner', async () => {
    const server = await startServer()
    const key = await waitForOutput(server, bannerKey)
    server.child.kill('SIGTERM')
    await server.ended
    const lines = server.stdout.trimEnd().split('\n').map(parseLine)
    expect(lines.filter((line) => JSON.stringify(line).includes(key))).toEqual([
      expect.objectContaining({
        level: 30,
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

  test.for(['error', 'silent'])('shows the key under LOG_LEVEL=%s, too, since it is shown only once', async (level) => {
    const port = await freePort()
    const run = runPetstore({ env: { PORT: String(port), LOG_LEVEL: level } })
    const key = await waitForOutput(run, bannerKey)
    expect(parseLine(run.stdout.trimEnd())).toMatchObject({ firstApiKey: key })
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers })).status).toBe(200)
  })

  test('shows no key where one is configured', async () => {
    const server = await startServer({ env: { PETSTORE_API_KEY: mintApiKey() } })
    server.child.kill('SIGTERM')
    await server.ended
    expect(server.stdout).not.toMatch(bannerKey)
    expect(server.stdout).not.toContain('firstApiKey')
  })

  // Not every machine has it.
  if (existsSync('/usr/bin/script')) {
    test('shows the banner on a terminal', async () => {
      const command = petstore.map((word) => `'${word}'`).join(' ')
      const run = runCommand(['/usr/bin/script', '-qec', command, '/dev/null'], { env: { PORT: '0' } })
      const key = await waitForOutput(run, bannerKey)
      await waitForOutput(run, /(curl -H 'Authorization)/)
      expect(run.stdout).toContain(`Your API key, shown only this once: ${key}`)
      expect(run.stdout).not.toContain('firstApiKey')
      run.child.kill('SIGTERM')
      await run.ended
    })
  }

  test('leaves files that no other user can read', async () => {
    const folder = temporaryFolder()
    const server = await startServer({ folder })
    await waitForOutput(server, bannerKey)
    const data = join(folder, 'data')
    expect(statSync(data).mode & 0o777).toBe(0o700)
    expect(readdirSync(data).length).toBeGreaterThan(1)
    for (const file of readdirSync(data)) expect(statSync(join(data, file)).mode & 0o777, file).toBe(0o600)
  })
})

test('the service works under "node --watch", which sends messages of its own through the ports of threads', async () => {
  const run = runCommand([process.execPath, '--watch', petstore[1] ?? ''], { env: { PORT: '0' } })
  const { url, child, ended } = await whenListening(run)
  const headers = { authorization: `Bearer ${await waitForOutput(run, bannerKey)}`, 'content-type': 'application/json' }
  for (const name of ['Rex', 'Tom', 'Minka']) {
    const body = JSON.stringify({ name, categoryId: 7 })
    expect((await fetch(`${url}/v1/pets`, { method: 'POST', headers, body })).status).toBe(201)
  }
  child.kill('SIGTERM')
  await ended
})

describe('a later start', () => {
  test('shows no key, and finds the pets again', async () => {
    const folder = temporaryFolder()
    const first = await startServer({ folder })
    const key = await waitForOutput(first, bannerKey)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    await fetch(`${first.url}/v1/pets`, { method: 'POST', headers, body: '{"name":"Rex","categoryId":7}' })
    first.child.kill('SIGTERM')
    await first.ended
    const second = await startServer({ folder })
    expect(await (await fetch(`${second.url}/v1/pets`, { headers })).json()).toMatchObject([{ name: 'Rex' }])
    expect(second.stdout).not.toMatch(bannerKey)
  })

  test('answers soon', async () => {
    const folder = temporaryFolder()
    const first = await startServer({ folder })
    first.child.kill('SIGTERM')
    await first.ended
    const begin = performance.now()
    const { url } = await startServer({ folder })
    await fetch(url)
    expect(performance.now() - begin).toBeLessThan(5_000)
  })
})

test.for(['SIGTERM', 'SIGINT'] as const)(
  '%s ends the service with exit code 0 and a whole database',
  async (signal) => {
    const folder = temporaryFolder()
    const server = await startServer({ folder })
    await waitForOutput(server, bannerKey)
    server.child.kill(signal)
    expect(await server.ended).toBe(0)
    expect(server.stderr).toBe('')
    expect(readdirSync(join(folder, 'data'))).toEqual(['petstore.db'])
  },
)

test('SIGTERM lets a request that is under way be answered', async () => {
  const server = await startServer()
  const key = await waitForOutput(server, bannerKey)
  const body = '{"name":"Rex","categoryId":7}'
  const creation = request(`${server.url}/v1/pets`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  })
  creation.flushHeaders()
  await once(creation, 'continue')
  server.child.kill('SIGTERM')
  await waitForOutput(server, /"(stopping)"/)
  creation.end(body)
  const [answer] = (await once(creation, 'response')) as [IncomingMessage]
  answer.resume()
  expect(answer.statusCode).toBe(201)
  expect(await server.ended).toBe(0)
})

test('wrong configuration is refused with every problem, and nothing is made', async () => {
  const folder = temporaryFolder()
  const run = runPetstore({ folder, env: { PORT: 'x', LOG_LEVEL: 'loud' } })
  await expectRefusal(run, /^The configuration is wrong:\n {2}PORT: expected .*\n {2}LOG_LEVEL: expected .*\n$/)
  expect(readdirSync(folder)).toEqual([])
})

test('a taken port is refused, and nothing is made', async () => {
  const folder = temporaryFolder()
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const run = runPetstore({ folder, env: { PORT: String(port) } })
  await expectRefusal(
    run,
    `Port ${port} on 127.0.0.1 is taken by another program: stop it, or set PORT to another one.`,
  )
  expect(readdirSync(folder)).toEqual([])
})

test('of two starts on one port at the same moment, one serves and the other is refused', async () => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  const runs = [runPetstore({ env: { PORT: String(port) } }), runPetstore({ env: { PORT: String(port) } })] as const
  const loser = await Promise.race(runs.map((run) => run.ended.then(() => run)))
  const winner = loser === runs[0] ? runs[1] : runs[0]
  expect(loser.stderr).toMatch(/^Port \d+ on 127\.0\.0\.1 is taken by another program: [^\n]+\.\n$/)
  expect(await loser.ended).toBe(1)
  expect(await waitForOutput(winner, /listening at http:\/\/127\.0\.0\.1:(\d+)/)).toBe(String(port))
})

test('an address that is not of this machine is refused', async () => {
  await expectRefusal(runPetstore({ env: { HOST: '192.0.2.1' } }), 'cannot be listened on (EADDRNOTAVAIL)')
})

test('a database that cannot be used is refused in a sentence', async () => {
  const path = join(temporaryFolder(), 'diary.txt')
  writeFileSync(path, 'Dear diary,')
  await expectRefusal(
    runPetstore({ env: { PORT: '0', DATABASE_URL: `file:${path}` } }),
    `The database ${path} cannot be used: it is not an SQLite database; choose another file.`,
  )
})

test('a Node that is too old is told so in a sentence', async () => {
  const folder = temporaryFolder()
  const pretend = join(folder, 'old-node.mjs')
  writeFileSync(
    pretend,
    "Object.defineProperty(process, 'version', { value: 'v20.20.2' }); Object.defineProperty(process.versions, 'node', { value: '20.20.2' })",
  )
  const run = runPetstore({ folder, env: { NODE_OPTIONS: `--import=${pretend}` } })
  await expectRefusal(run, /^Petstore needs Node 24 or newer, and this is v20\.20\.2: .+\n$/)
  expect(existsSync(join(folder, 'data'))).toBe(false)
})
