import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backUpDatabase } from '../../db/sqlite/backup/backup.ts'
import { connect } from '../../db/sqlite/connection.ts'
import { prepareDatabase } from '../../db/sqlite/prepare.ts'
import type { Store } from '../../db/store.ts'
import { apiKeyRecord } from '../../server/auth/api-key.ts'
import { Caller } from '../support/caller.ts'
import { type DatabasePaths, databasePaths, linkTo, spellings } from '../support/database-paths.ts'
import { openFileStore, startTestApi as startApi, type TestApi } from '../support/helpers.ts'
import { report } from '../support/long-form.ts'
import { createFirstKey, runPetstore, startServer, waitForOutput } from '../support/process.ts'
import { addingPets, change } from '../support/sample-database.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { canTrace, startTraced } from '../support/traced.ts'

const rex = { name: 'Rex', categoryId: 7 }
const files = ['', '-wal', '-shm']

describe.for(spellings)('the database, opened through %s, is', ([, spell]) => {
  const startOnFile = () => startService(databasePaths(spell))

  test('deleted: writes are refused, reads go on, and both work again with the file that takes its place', async () => {
    const { api, path } = await startOnFile()
    expect((await create(api, 'kept')).status).toBe(201)
    const backup = snapshot(path)
    for (const suffix of files) rmSync(path + suffix)

    await expectUnavailable(create(api, 'lost'))
    await expectUnavailable(create(api, 'lost'))
    expect((await names(api)).status).toBe(200)

    copyFileSync(backup, path)
    expect((await create(api, 'after')).status).toBe(201)
    await expect.poll(async () => (await names(api)).names, { timeout: 5_000 }).toEqual(['kept', 'after'])
    expect(stored(path)).toEqual(['kept', 'after'])
  })

  test('replaced by another: the service goes over to that one', async () => {
    const { api, path, key } = await startOnFile()
    await create(api, 'old')
    const other = await makeDatabase('new', key)
    for (const suffix of files) rmSync(path + suffix)
    renameSync(other, path)

    await expectUnavailable(create(api, 'lost'))
    expect((await create(api, 'after')).status).toBe(201)
    await expect.poll(async () => (await names(api)).names, { timeout: 5_000 }).toEqual(['new', 'after'])
    expect(stored(path)).toEqual(['new', 'after'])
  })

  test('replaced beside the write-ahead log of the old one, which is not replayed into it', async () => {
    const { api, path, key } = await startOnFile()
    for (let i = 0; i < 50; i++) await create(api, `old ${i}`)
    const other = await makeDatabase('new', key)
    const before = readFileSync(other)
    renameSync(other, path)

    for (let i = 0; i < 3; i++) await expectUnavailable(create(api, 'lost'))
    await wait(1_500)
    expect(readFileSync(path).equals(before)).toBe(true)
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix)
    expect((await create(api, 'after')).status).toBe(201)
    expect(stored(path)).toEqual(['new', 'after'])
  })

  test('replaced by that of another program, which is left alone', async () => {
    const { api, path } = await startOnFile()
    await create(api, 'old')
    for (const suffix of files) rmSync(path + suffix)
    const foreign = new Database(path)
    foreign.exec('CREATE TABLE pets (id INTEGER PRIMARY KEY, name, category_id, status)')
    foreign.close()
    for (let i = 0; i < 3; i++) await expectUnavailable(create(api, 'lost'))
    expect(stored(path)).toEqual([])
  })

  // Where Linux does not tell, there is nothing to count.
  const openFiles = '/proc/self/fd'
  if (existsSync(openFiles)) {
    test('replaced by a damaged one: what is tried in vain leaves no file open', async () => {
      const { api, path } = await startOnFile()
      await create(api, 'old')
      const bytes = readFileSync(snapshot(path))
      for (const suffix of files) rmSync(path + suffix)
      writeFileSync(path, bytes.fill(0xff, 100, 200))
      await expectUnavailable(create(api, 'lost'))
      const before = readdirSync(openFiles).length
      for (let i = 0; i < 50; i++) expect((await create(api, 'lost')).status).toBe(503)
      expect(readdirSync(openFiles).length).toBeLessThan(before + 10)
    })
  }

  test('without its write-ahead log, which was deleted: what was acknowledged is saved', async () => {
    const { api, path } = await startOnFile()
    for (const name of ['a', 'b', 'c']) await create(api, name)
    rmSync(`${path}-wal`)
    await expectUnavailable(create(api, 'lost'))
    expect((await create(api, 'd')).status).toBe(201)
    expect(await names(api)).toEqual({ status: 200, names: ['a', 'b', 'c', 'd'] })
    expect(storedAfterKill(path)).toEqual(['a', 'b', 'c', 'd'])
    expect(open(path).pragma('integrity_check', { simple: true })).toBe('ok')
  })

  test('without its write-ahead log, which was deleted under load: nothing acknowledged is lost, and each 503 may be retried', async () => {
    const { api, path } = await startOnFile()
    const load = startLoad(api)
    for (let i = 0; i < 3; i++) {
      await load.reach(50)
      rmSync(`${path}-wal`)
    }
    await load.reach(50)
    await load.stop()
    expect(load.withoutRetryAfter).toEqual([])
    expect(storedAfterKill(path)).toEqual(expect.arrayContaining(load.acknowledged))
    expect(open(path).pragma('integrity_check', { simple: true })).toBe('ok')
  })

  test('without its write-ahead log, which was deleted while there were no writes: reads go on, and nothing acknowledged is lost', async () => {
    const { api, path } = await startOnFile()
    await create(api, 'a')
    rmSync(`${path}-wal`)
    await expect.poll(() => existsSync(`${path}-wal`), { timeout: 5_000 }).toBe(true)
    expect(await names(api)).toEqual({ status: 200, names: ['a'] })
    expect((await create(api, 'b')).status).toBe(201)
    expect(storedAfterKill(path)).toEqual(['a', 'b'])
  })

  test('without its write-ahead log while another process reads from it: writes are refused until the log is saved', async () => {
    const { api, path } = await startOnFile()
    await create(api, 'a')
    const other = open(path)
    other.exec('BEGIN')
    other.prepare('SELECT * FROM pets').all()
    await create(api, 'b')
    rmSync(`${path}-wal`)
    for (let i = 0; i < 3; i++) await expectUnavailable(create(api, 'lost'))
    other.exec('ROLLBACK')
    await expect.poll(async () => (await create(api, 'c')).status, { timeout: 5_000 }).toBe(201)
    expect(storedAfterKill(path)).toEqual(['a', 'b', 'c'])
  })

  test.for([0, 5_000])(
    'with its write-ahead log truncated to %i bytes: it serves what is left, without a restart',
    async (size) => {
      const { api, path } = await startOnFile()
      await create(api, 'in the database')
      checkpoint(path)
      for (let i = 0; i < 20; i++) await create(api, `destroyed ${i}`)
      truncateSync(`${path}-wal`, size)
      await expectUnavailable(create(api, 'lost'))
      await expect.poll(async () => (await create(api, 'after')).status, { timeout: 5_000 }).toBe(201)
      expect(await names(api)).toEqual({ status: 200, names: ['in the database', 'after'] })
      expect(storedAfterKill(path)).toEqual(['in the database', 'after'])
      expect(open(path).pragma('integrity_check', { simple: true })).toBe('ok')
    },
  )

  test('with its write-ahead log moved into it by another process, which is no fault', async () => {
    const { api, path } = await startOnFile()
    for (let i = 0; i < 5; i++) {
      expect((await create(api, `pet ${i}`)).status).toBe(201)
      checkpoint(path)
      expect((await names(api)).names.length).toBe(i + 1)
    }
  })

  test.for([
    ['another database', async (_path: string, key: string) => makeDatabase('new', key)],
    ['a backup of it', async (path: string) => makeBackupOf(path)],
  ] as const)(
    'overwritten with %s in the same file: requests get 503, not 401, and readiness fails',
    async ([, make]) => {
      const { api, path, key } = await startOnFile()
      for (let i = 0; i < 5; i++) await create(api, 'old')
      const other = await make(path, key)
      change(other, 'DELETE FROM api_keys')
      checkpoint(path)
      copyFileSync(other, path)
      for (let i = 0; i < 20; i++) {
        const { status } = await names(api)
        expect([200, 503]).toContain(status)
      }
      await expect.poll(async () => (await names(api)).status, { timeout: 5_000 }).toBe(503)
      for (const answer of [
        await api.rest.get('/readyz'),
        await create(api, 'lost'),
        await api.rest.get('/v1/pets/1'),
      ]) {
        expect(answer).toMatchObject({
          status: 503,
          body: { code: 'unavailable', message: expect.stringContaining('until an operator has repaired it') },
        })
        expect(answer.headers).not.toHaveProperty('retry-after')
      }
      expect(api.log.join('\n')).toContain('Another program wrote over the database file')
    },
  )

  test('in a folder that is moved away: each request that needs it may be retried, and works when it is back', async () => {
    const { api, path } = await startOnFile()
    const folder = dirname(path)
    await create(api, 'before')
    renameSync(folder, `${folder}.away`)
    for (let i = 0; i < 3; i++) await expectUnavailable(create(api, 'lost'))
    await expectUnavailable(api.rest.get('/readyz'))
    renameSync(`${folder}.away`, folder)
    expect((await create(api, 'after')).status).toBe(201)
    expect(storedAfterKill(path)).toEqual(['before', 'after'])
  })

  test('in a folder that cannot be read: each request that needs it may be retried, and works when it can', async () => {
    const { api, path } = await startOnFile()
    const folder = dirname(path)
    await create(api, 'before')
    renameSync(folder, `${folder}.away`)
    // No mode keeps a privileged user out of a folder; a link to itself does.
    symlinkSync(folder, folder)
    for (let i = 0; i < 3; i++) await expectUnavailable(create(api, 'lost'))
    rmSync(folder)
    renameSync(`${folder}.away`, folder)
    expect((await create(api, 'after')).status).toBe(201)
  })
})

test('a database that is overwritten is reported in the log, although no request asks for it', async () => {
  const folder = temporaryFolder()
  const key = await createFirstKey(folder)
  const server = await startServer({ folder })
  copyFileSync(await makeDatabase('new', key), join(folder, 'data/petstore.db'))
  const warning = JSON.parse(await waitForOutput(server, /^(.*Another program wrote over the database file.*)$/m))
  expect(warning).toMatchObject({ level: 40, msg: expect.stringContaining('npm run petstore -- restore') })
})

test.for([
  [
    'renamed, with a link in its old place',
    ({ path }: DatabasePaths) => {
      const renamed = join(dirname(path), 'real.db')
      renameSync(path, renamed)
      symlinkSync(renamed, path)
      return renamed
    },
  ],
  [
    'moved to the place of the link that led to it',
    ({ path, given }: DatabasePaths) => {
      renameSync(path, given)
      return given
    },
  ],
] as const)('a database that is %s while the service runs loses nothing that is acknowledged', async ([, move]) => {
  const paths = databasePaths(linkTo)
  const { api } = await startService(paths)
  await create(api, 'before')
  const path = move(paths)
  await expect.poll(async () => (await create(api, 'after')).status, { timeout: 5_000 }).toBe(201)
  await expect.poll(async () => (await names(api)).names, { timeout: 5_000 }).toContain('after')
  expect(storedAfterKill(path)).toEqual(expect.arrayContaining(['before', 'after']))
  expect((await api.rest.get('/readyz')).status).toBe(200)
})

test('without the index of its log, which was deleted, the service and other processes still see each other’s writes', async () => {
  const { api, path } = await startService(databasePaths((path) => path))
  for (let round = 0; round < 3; round++) {
    await create(api, `before ${round}`)
    rmSync(`${path}-shm`)
    change(path, `INSERT INTO pets (name, category_id, status) VALUES ('by hand ${round}', 1, 'sold')`)
    await expect.poll(async () => (await create(api, `after ${round}`)).status, { timeout: 5_000 }).toBe(201)
    change(path, `UPDATE pets SET status = 'pending' WHERE name = 'by hand ${round}'`)
  }
  await expect.poll(async () => (await names(api)).status, { timeout: 5_000 }).toBe(200)
  const ids = open(path).prepare('SELECT count(DISTINCT id) FROM pets').pluck().get()
  expect(storedAfterKill(path)).toHaveLength(Number(ids))
  const rounds = [0, 1, 2]
  expect(storedAfterKill(path)).toEqual(
    expect.arrayContaining(rounds.flatMap((n) => [`before ${n}`, `by hand ${n}`, `after ${n}`])),
  )
  expect(open(path).pragma('integrity_check', { simple: true })).toBe('ok')
})

test('without the index of its log, which was deleted, a key that a command revokes is refused', async () => {
  const folder = temporaryFolder()
  const key = await createFirstKey(folder)
  const path = join(folder, 'data/petstore.db')
  const api = await startApi({ store: openFileStore(path), keyName: 'second' })
  expect((await create(api, 'Rex')).status).toBe(201)
  rmSync(`${path}-shm`)
  expect(await runPetstore({ folder, arguments: ['keys', 'revoke', 'test'] }).ended).toBe(0)
  const status = async (bearer: string) =>
    (await api.rest.get('/v1/pets', { authorization: `Bearer ${bearer}` })).status
  await expect.poll(() => status(key), { timeout: 5_000 }).toBe(401)
  expect(await status(api.key)).toBe(200)
  expect(open(path).prepare('SELECT count(*) FROM api_keys WHERE revoked_at IS NOT NULL').pluck().get()).toBe(1n)
})

test('a log that is truncated while a create waits for the lock of another process loses no acknowledged create', async () => {
  const { api, path } = await startService(databasePaths((path) => path))
  await create(api, 'first')
  checkpoint(path)
  for (let round = 0; round < 3; round++) {
    await create(api, 'before')
    const other = open(path)
    other.exec('BEGIN IMMEDIATE')
    const waiting = create(api, `waiting ${round}`)
    await wait(60)
    truncateSync(`${path}-wal`, 0)
    other.exec('ROLLBACK')
    other.close()
    const { status } = await waiting
    await expect.poll(async () => (await create(api, `after ${round}`)).status, { timeout: 5_000 }).toBe(201)
    const kept = storedAfterKill(path)
    expect(kept).toContain(`after ${round}`)
    if (status === 201) expect(kept).toContain(`waiting ${round}`)
  }
})

test('a link that is pointed at another database while the service runs: the service opens that one', async () => {
  const { path, given } = databasePaths(linkTo)
  const { api, key } = await startService({ path, given })
  await create(api, 'old')
  const other = await makeDatabase('new', key)
  rmSync(given)
  symlinkSync(other, given)
  await expectUnavailable(create(api, 'lost'))
  expect((await create(api, 'after')).status).toBe(201)
  await expect.poll(async () => (await names(api)).names, { timeout: 5_000 }).toEqual(['new', 'after'])
  expect([stored(path), stored(other)]).toEqual([['old'], ['new', 'after']])
})

// Only strace can take the system call away, or let the disk fail.
if (canTrace()) {
  test('without the statx system call, creates are stored and acknowledged', async () => {
    const { server, key } = await startTraced(() => ['-e', 'trace=statx', '-e', 'inject=statx:error=ENOSYS'])
    const caller = new Caller(server.url, key)
    for (let i = 0; i < 5; i++) expect((await caller.post('/v1/pets', { ...rex, name: `pet ${i}` })).status).toBe(201)
  })

  test('a disk that cannot read: requests get 503 and may be retried', async () => {
    const fill = (path: string) => {
      change(path, addingPets(20_000, 'pet'))
      return ['-P', path, '-e', 'trace=pread64']
    }
    const untroubled = await startTraced(fill)
    const readsOfStart = readFileSync(await untroubled.stop(), 'utf8').split('\n').length
    const inject = ['-e', `inject=pread64:error=EIO:when=${readsOfStart + 10}+`]
    const { server, key } = await startTraced((path) => [...fill(path), ...inject])
    const caller = new Caller(server.url, key)
    const answers = []
    for (let id = 1; id < 20_000; id += 200) answers.push(await caller.get(`/v1/pets/${id}`))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, headers } of refused) expect([status, headers['retry-after']]).toEqual([503, '1'])
  })
}

describe('the database is', () => {
  test('locked by another process for three seconds: each of 16 writers waits as long as one, and reads go on', async () => {
    const { api, path } = await startService(databasePaths((path) => path))
    await create(api, 'before')
    const other = open(path)
    other.exec('BEGIN IMMEDIATE')
    const refusals: number[] = []
    const reads: number[] = []
    const lives: number[] = []
    const end = performance.now() + 3_000
    async function keepWriting(delay: number): Promise<void> {
      await wait(delay)
      while (performance.now() < end) refusals.push(await time(() => expectUnavailable(create(api, 'refused'))))
    }
    const writers = Promise.all(Array.from({ length: 16 }, (_, index) => keepWriting(index * 16)))
    while (performance.now() < end) {
      await wait(20)
      reads.push(await time(async () => expect((await names(api)).status).toBe(200)))
      lives.push(await time(async () => expect((await api.rest.get('/livez')).status).toBe(200)))
    }
    await writers
    other.exec('ROLLBACK')
    expect((await create(api, 'after')).status).toBe(201)
    const longest = { refusal: Math.max(...refusals), read: Math.max(...reads), livez: Math.max(...lives) }
    const p90 = refusals.toSorted((a, b) => a - b)[Math.floor(refusals.length * 0.9)]
    report('Locked for 3 s, in ms: the longest, and 90 % of the refusals', { ...longest, p90 })
    // openFileStore waits 250 ms for a lock. A few may take longer on a busy machine.
    expect(Math.min(...refusals)).toBeGreaterThan(240)
    expect(p90).toBeLessThan(400)
    expect(longest.read).toBeLessThan(200)
    expect(longest.livez).toBeLessThan(200)
    expect(stored(path)).toEqual(['before', 'after'])
  })

  test('corrupt in one page: what needs that page fails, with nothing said of trying again, and the rest goes on', async () => {
    const path = join(temporaryFolder(), 'petstore.db')
    prepareDatabase(path)
    const filler = open(path)
    filler.exec(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO pets (name, category_id, status) SELECT printf('%-200d', i), 1, 'available' FROM n",
    )
    filler.close()
    const { api } = await startService({ path, given: path })
    const bytes = readFileSync(path)
    const middle = Math.floor(bytes.length / 8192) * 4096
    bytes.fill(0xff, middle, middle + 4096)
    writeFileSync(path, bytes)
    const answers = []
    for (let id = 10; id < 20_000; id += 10) answers.push(await api.rest.get(`/v1/pets/${id}`))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]))
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused.length).toBeLessThan(20)
    for (const answer of refused) {
      expect(answer.body).toMatchObject({ code: 'unavailable' })
      expect(answer.headers).not.toHaveProperty('retry-after')
    }
    expect((await api.rest.get('/v1/pets?limit=1')).status).toBe(200)
  })
})

async function startService({ path, given }: DatabasePaths) {
  const store = openFileStore(given)
  const api = await startApi({ store })
  return { api, path, key: api.key }
}

/** Another database of the service, in which the same key is good. */
async function makeDatabase(pet: string, key: string): Promise<string> {
  const path = join(temporaryFolder(), 'petstore.db')
  const store: Store = openFileStore(path)
  await store.pets.create({ name: pet, categoryId: 1n, status: 'available' })
  await store.apiKeys.register(apiKeyRecord(key, 'test'))
  await store.close()
  return path
}

async function makeBackupOf(path: string): Promise<string> {
  const backup = join(temporaryFolder(), 'backup.db')
  await backUpDatabase(path, backup)
  return backup
}

/** A copy that is whole, whatever is in the log. */
function snapshot(path: string): string {
  const copy = join(temporaryFolder(), 'copy.db')
  open(path).exec(`VACUUM INTO '${copy}'`)
  return copy
}

function create({ rest }: TestApi, name: string) {
  return rest.post('/v1/pets', { ...rex, name })
}

async function names({ rest }: TestApi): Promise<{ status: number; names: string[] }> {
  const { status, body } = await rest.get('/v1/pets?limit=100')
  return { status, names: Array.isArray(body) ? body.map(({ name }) => name) : [] }
}

async function expectUnavailable(answer: ReturnType<TestApi['rest']['get']>): Promise<void> {
  expect(await answer).toMatchObject({ status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '1' } })
}

async function time(task: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await task()
  return performance.now() - start
}

function stored(path: string): unknown[] {
  return open(path).prepare('SELECT name FROM pets ORDER BY id').pluck().all()
}

/** What a start finds after SIGKILL: nothing that only a process still has open. */
function storedAfterKill(path: string): unknown[] {
  const copy = join(temporaryFolder(), 'petstore.db')
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copy + suffix)
  return stored(copy)
}

/** Eight clients that create pets one after the other. */
function startLoad(api: TestApi) {
  const acknowledged: string[] = []
  const withoutRetryAfter: unknown[] = []
  let isStopped = false
  async function run(client: number): Promise<void> {
    for (let i = 0; !isStopped; i++) {
      const name = `${client}-${i}`
      const { status, headers, body } = await create(api, name)
      if (status === 201) acknowledged.push(name)
      else if (status !== 503 || headers['retry-after'] === undefined) withoutRetryAfter.push({ status, body })
    }
  }
  const clients = Promise.all(Array.from({ length: 8 }, (_, client) => run(client)))
  const stop = async () => {
    isStopped = true
    await clients
  }
  onTestFinished(stop)
  return {
    acknowledged,
    withoutRetryAfter,
    stop,
    /** Waits until so many more are acknowledged. */
    reach: (count: number) => {
      const goal = acknowledged.length + count
      return expect.poll(() => acknowledged.length, { timeout: 10_000 }).toBeGreaterThan(goal)
    },
  }
}

/** Moves the log into the database, as another process may at any time. */
function checkpoint(path: string): void {
  const other = connect(path, { busyTimeout: 0 })
  other.pragma('wal_checkpoint(TRUNCATE)')
  other.close()
}

function open(path: string): Database.Database {
  const database = connect(path, { busyTimeout: 0 })
  onTestFinished(() => void database.close())
  return database
}
