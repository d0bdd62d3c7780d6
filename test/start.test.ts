import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { addPets, openTestStore, temporaryFolder } from './helpers.ts'
import { bannerKey, type Run, runPetstore, startServer, waitForOutput } from './process.ts'

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
    const [, header = '', url = ''] = /curl -H '([^']+)' (\S+)/.exec(server.stdout) ?? []
    const [name = '', value = ''] = header.split(': ')
    const answer = await fetch(url, { headers: { [name]: value } })
    expect([answer.status, await answer.json()]).toEqual([200, []])
    expect(server.stdout).toContain(`${server.url}/docs/`)
    expect(server.stdout).toContain('data/petstore.db')
  })

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

test('a first start that was killed while it wrote is undone by the next', async () => {
  const path = join(temporaryFolder(), 'petstore.db')
  makeKilled(path)
  const server = await startServer({ env: { DATABASE_URL: `file:${path}` } })
  await waitForOutput(server, bannerKey)
  expect(existsSync(`${path}-journal`)).toBe(false)
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

describe('a database that cannot be used is refused and left as it was:', () => {
  const files: [name: string, make: (path: string) => void | Promise<void>, message: string][] = [
    ['a text', (path) => writeFileSync(path, 'Dear diary,\n'.repeat(100)), 'it is not an SQLite database'],
    ['random bytes', (path) => writeFileSync(path, randomBytes(8_192)), 'it is not an SQLite database'],
    ['a short text', (path) => writeFileSync(path, 'x'), 'it is not an SQLite database'],
    ['another program’s', (path) => makeForeign(path, 'DELETE'), 'it is the SQLite database of another program'],
    [
      'another program’s in WAL mode',
      (path) => makeForeign(path, 'WAL'),
      'it is the SQLite database of another program',
    ],
    [
      'another program’s that was killed while it wrote',
      (path) => makeKilled(path, 'CREATE TABLE diary (x)'),
      'it is the SQLite database of another program',
    ],
    [
      'a short text with a file beside it that is named like a journal',
      (path) => {
        writeFileSync(path, 'x')
        writeFileSync(`${path}-journal`, 'Dear diary')
      },
      'it is not an SQLite database',
    ],
    ['one with broken pages', makeCorrupt, 'it is corrupt; restore a backup'],
    ['one cut short', makeTruncated, 'it is corrupt; restore a backup'],
    [
      'one of a newer release',
      (path) => changeJournal(path, "INSERT INTO migrations VALUES ('9999_future', 'x', 'now')"),
      'it was migrated by a newer release (9999_future)',
    ],
    ['one of a newer release that was killed', makeNewerKilled, 'it was migrated by a newer release (9999_future)'],
    [
      'one with a changed migration',
      (path) => changeJournal(path, "UPDATE migrations SET hash = 'x'"),
      'the migration 0000_init was changed after it was applied',
    ],
  ]

  test.for(files)('%s', async ([, make, message]) => {
    const path = join(temporaryFolder(), 'petstore.db')
    await make(path)
    const before = fingerprints(path)
    await expectRefusal(runPetstore({ env: { PORT: '0', DATABASE_URL: `file:${path}` } }), message)
    expect(fingerprints(path)).toMatchObject(before)
  })

  test('a folder', async () => {
    const path = temporaryFolder()
    await expectRefusal(runPetstore({ env: { PORT: '0', DATABASE_URL: `file:${path}` } }), 'it is not a file')
  })

  test('a named pipe, which to open would wait for ever', async () => {
    const path = join(temporaryFolder(), 'petstore.db')
    execFileSync('mkfifo', [path])
    await expectRefusal(runPetstore({ env: { PORT: '0', DATABASE_URL: `file:${path}` } }), 'it is not a file')
  })

  test('a path below a file', async () => {
    const path = join(temporaryFolder(), 'file')
    writeFileSync(path, '')
    await expectRefusal(
      runPetstore({ env: { PORT: '0', DATABASE_URL: `file:${path}/petstore.db` } }),
      'a part of its path is a file, not a folder',
    )
  })

  test('a link to itself', async () => {
    const path = join(temporaryFolder(), 'petstore.db')
    symlinkSync(path, path)
    await expectRefusal(runPetstore({ env: { PORT: '0', DATABASE_URL: `file:${path}` } }), 'too many symbolic links')
  })
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

/** The state of the file and of what SQLite needs beside it, but for the index of the log, which every reader renews. */
function fingerprints(path: string): Record<string, object> {
  const files = [path, `${path}-wal`, `${path}-journal`].filter((file) => existsSync(file))
  return Object.fromEntries(
    files.map((file) => [
      file,
      { hash: createHash('sha256').update(readFileSync(file)).digest('hex'), changed: statSync(file).mtimeMs },
    ]),
  )
}

function makeForeign(path: string, journalMode: string): void {
  const database = new Database(path)
  database.pragma(`journal_mode = ${journalMode}`)
  database.exec('CREATE TABLE pets (id INTEGER PRIMARY KEY); INSERT INTO pets VALUES (1)')
  database.close()
}

/** Leaves what a process leaves that is killed in a transaction, when part of it is in the file already. */
function makeKilled(path: string, ...before: string[]): void {
  const original = join(temporaryFolder(), 'original.db')
  const database = new Database(original)
  for (const statement of before) database.exec(statement)
  database.pragma('cache_size = 1')
  database.exec(`
    BEGIN;
    PRAGMA application_id = ${before.length === 0 ? 0x50455453 : 0};
    CREATE TABLE large (x);
    WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 200)
    INSERT INTO large SELECT zeroblob(3000) FROM counter;
  `)
  copyFileSync(original, path)
  copyFileSync(`${original}-journal`, `${path}-journal`)
  database.close()
}

/** The newer release's last migration is in the write-ahead log only. */
async function makeNewerKilled(path: string): Promise<void> {
  const original = join(temporaryFolder(), 'original.db')
  await makeOurs(original)
  const database = new Database(original)
  database.exec("INSERT INTO migrations VALUES ('9999_future', 'x', 'now')")
  copyFileSync(original, path)
  copyFileSync(`${original}-wal`, `${path}-wal`)
  database.close()
}

async function makeOurs(path: string): Promise<void> {
  const store = openTestStore(path)
  await addPets(store, 2_000)
  await store.close()
}

async function makeCorrupt(path: string): Promise<void> {
  await makeOurs(path)
  const bytes = readFileSync(path)
  bytes.fill(0xff, 5 * 4096, 9 * 4096)
  writeFileSync(path, bytes)
}

async function makeTruncated(path: string): Promise<void> {
  await makeOurs(path)
  truncateSync(path, 8 * 4096)
}

async function changeJournal(path: string, statement: string): Promise<void> {
  await makeOurs(path)
  const database = new Database(path)
  database.exec(statement)
  database.close()
}
