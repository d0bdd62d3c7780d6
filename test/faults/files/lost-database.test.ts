import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { backUpDatabase } from '../../../db/sqlite/backup/backup.ts'
import { mintApiKey } from '../../../server/auth/api-key.ts'
import { type DatabasePaths, databasePaths, linkTo } from '../../support/database-paths.ts'
import {
  checkpoint,
  createPet,
  databaseFiles,
  expectRecovery,
  expectUnavailable,
  listNames,
  makeOtherDatabase,
  openConnection,
  snapshot,
  startLoad,
  startOnFile,
  storedAfterKill,
  storedNames,
  testedSpellings,
} from '../../support/file-faults.ts'
import { isLongForm } from '../../support/long-form.ts'
import { createFirstKey, startServer } from '../../support/process.ts'
import { onSqlite } from '../../support/resources.ts'
import { change } from '../../support/sample-database.ts'
import { temporaryFolder } from '../../support/temporary.ts'

describe.for(testedSpellings)('the database file, opened through %s, is', ([, spell]) => {
  const start = () => startOnFile(databasePaths(spell))

  test('deleted: writes fail, reads continue, and both work again with a new file at the path', async () => {
    const { api, path } = await start()
    expect((await createPet(api, 'kept')).status).toBe(201)
    const backup = snapshot(path)
    for (const suffix of databaseFiles) rmSync(path + suffix)

    await expectUnavailable(createPet(api, 'lost'))
    await expectUnavailable(createPet(api, 'lost'))
    expect((await listNames(api)).status).toBe(200)

    copyFileSync(backup, path)
    expect((await createPet(api, 'after')).status).toBe(201)
    await expect.poll(async () => (await listNames(api)).names).toEqual(['kept', 'after'])
    expect(storedNames(path)).toEqual(['kept', 'after'])
  })

  test('replaced: the service opens the new file', async () => {
    const { api, path, key } = await start()
    await createPet(api, 'old')
    const other = makeOtherDatabase('new', key)
    for (const suffix of databaseFiles) rmSync(path + suffix)
    renameSync(other, path)

    await expectUnavailable(createPet(api, 'lost'))
    expect((await createPet(api, 'after')).status).toBe(201)
    await expect.poll(async () => (await listNames(api)).names).toEqual(['new', 'after'])
    expect(storedNames(path)).toEqual(['new', 'after'])
  })

  test('replaced while the log of the old database is still there: the log is not replayed into the new file', async () => {
    const { api, path, key } = await start()
    for (let i = 0; i < 50; i++) await createPet(api, `old ${i}`)
    const other = makeOtherDatabase('new', key)
    const before = readFileSync(other)
    renameSync(other, path)

    for (let i = 0; i < 3; i++) await expectUnavailable(createPet(api, 'lost'))
    // Longer than the interval of the reader's own check.
    await wait(1_200)
    expect(readFileSync(path).equals(before)).toBe(true)
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix)
    expect((await createPet(api, 'after')).status).toBe(201)
    expect(storedNames(path)).toEqual(['new', 'after'])
  })

  test('replaced by the database of another program: the service does not write to it', async () => {
    const { api, path } = await start()
    await createPet(api, 'old')
    for (const suffix of databaseFiles) rmSync(path + suffix)
    const foreign = new Database(path)
    foreign.exec('CREATE TABLE pets (id INTEGER PRIMARY KEY, name, category_id, status)')
    foreign.close()
    for (let i = 0; i < 3; i++) await expectUnavailable(createPet(api, 'lost'))
    expect(storedNames(path)).toEqual([])
  })

  // Only Linux lists the open files of a process.
  const openFiles = '/proc/self/fd'
  if (existsSync(openFiles)) {
    test('replaced by a damaged one: failed attempts to open it leave no file open', async () => {
      const { api, path } = await start()
      await createPet(api, 'old')
      const bytes = readFileSync(snapshot(path))
      for (const suffix of databaseFiles) rmSync(path + suffix)
      writeFileSync(path, bytes.fill(0xff, 100, 200))
      await expectUnavailable(createPet(api, 'lost'))
      const before = readdirSync(openFiles).length
      for (let i = 0; i < 20; i++) expect((await createPet(api, 'lost')).status).toBe(503)
      expect(readdirSync(openFiles).length).toBeLessThan(before + 10)
    })
  }

  test.for([
    ['another database', async (_path: string, key: string) => makeOtherDatabase('new', key)],
    ['a backup of it', async (path: string) => makeBackupOf(path)],
  ] as const)('overwritten with %s: requests get 503 instead of 401, and readiness fails', async ([, make]) => {
    const { api, path, key } = await start()
    for (let i = 0; i < 5; i++) await createPet(api, 'old')
    const other = await make(path, key)
    change(other, 'DELETE FROM api_keys')
    checkpoint(path)
    copyFileSync(other, path)
    for (let i = 0; i < 20; i++) expect([200, 503]).toContain((await listNames(api)).status)
    await expect.poll(async () => (await listNames(api)).status).toBe(503)
    const responses = [await api.rest.get('/readyz'), await createPet(api, 'lost'), await api.rest.get('/v1/pets/1')]
    for (const response of responses) {
      expect(response).toMatchObject({
        status: 503,
        body: { code: 'unavailable', message: expect.stringContaining('until an operator has repaired it') },
      })
      expect(response.headers).not.toHaveProperty('retry-after')
    }
    expect(api.log.join('\n')).toContain('Another program wrote over the database file')
  })

  test('in a folder that is moved away: requests may be retried, and succeed when the folder is back', async () => {
    const { api, path } = await start()
    const folder = dirname(path)
    await createPet(api, 'before')
    renameSync(folder, `${folder}.away`)
    for (let i = 0; i < 3; i++) await expectUnavailable(createPet(api, 'lost'))
    await expectUnavailable(api.rest.get('/readyz'))
    renameSync(`${folder}.away`, folder)
    expect((await createPet(api, 'after')).status).toBe(201)
    expect(storedAfterKill(path)).toEqual(['before', 'after'])
  })

  test('in a folder that cannot be read: requests may be retried, and succeed when it can be read', async () => {
    const { api, path } = await start()
    const folder = dirname(path)
    await createPet(api, 'before')
    renameSync(folder, `${folder}.away`)
    // A file mode does not stop a privileged user. A link to itself does.
    symlinkSync(folder, folder)
    for (let i = 0; i < 3; i++) await expectUnavailable(createPet(api, 'lost'))
    rmSync(folder)
    renameSync(`${folder}.away`, folder)
    expect((await createPet(api, 'after')).status).toBe(201)
  })
})

test('the service logs a warning when another program writes over the database, without any request', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'data/petstore.db')
  mkdirSync(join(folder, 'data'))
  renameSync(makeOtherDatabase('old', mintApiKey()), path)
  const server = await startServer({ folder })
  copyFileSync(makeOtherDatabase('new', mintApiKey()), path)
  const warning = /"level":"warn",.*Another program wrote over the database file.*petstore restore/g
  await expect.poll(() => server.stdout.match(warning)).toHaveLength(1)
})

test.for([
  ['another database', async (_path: string, key: string) => makeOtherDatabase('new', key)],
  ['a backup of it', async (path: string) => makeBackupOf(path)],
  ['an earlier copy of it', async (path: string) => copyOf(path)],
  ['a copy that SQLite made', async (path: string) => snapshot(path)],
] as const)(
  'no create is acknowledged that is sent after %s was copied over the database under load',
  async ([, make]) => {
    for (let round = 0; round < (isLongForm ? 10 : 2); round++) {
      const folder = temporaryFolder()
      const key = await createFirstKey(folder)
      const path = join(folder, 'data/petstore.db')
      const server = await startServer({ folder })
      const load = startLoad(server.url, key)
      await load.create(10)
      checkpoint(path)
      const other = await make(path, key)
      await load.keepCreating(300)
      // Load balancers ask for readiness all the time. Each check writes the header to the log, and so does a checkpoint to the database.
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
      checkpoint(path)
      // The service compares the header of the last checkpoint with the next one that it finds.
      await load.reach(20 + round * 40, 10_000)
      copyFileSync(other, path)
      const sentBefore = load.sent
      await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(503)
      await load.reach(100, 500)
      await load.end()
      expect(load.acknowledged.filter((pet) => load.numberOf(pet) >= sentBefore)).toEqual([])
      expect(server.stdout).toMatch(/"level":"warn",.*Another program wrote over the database file/)
      server.child.kill('SIGKILL')
    }
  },
)

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
] as const)('no acknowledged pet is lost when the database is %s while the service runs', async ([, move]) => {
  const paths = databasePaths(linkTo)
  const { api } = await startOnFile(paths)
  await createPet(api, 'before')
  const path = move(paths)
  await expectRecovery(api, 'after')
  await expect.poll(async () => (await listNames(api)).names).toContain('after')
  expect(storedAfterKill(path)).toEqual(expect.arrayContaining(['before', 'after']))
  expect((await api.rest.get('/readyz')).status).toBe(200)
})

test('the service opens the other database when a link is changed to lead to it', async () => {
  const { path, given } = databasePaths(linkTo)
  const { api, key } = await startOnFile({ path, given })
  await createPet(api, 'old')
  const other = makeOtherDatabase('new', key)
  rmSync(given)
  symlinkSync(other, given)
  await expectUnavailable(createPet(api, 'lost'))
  expect((await createPet(api, 'after')).status).toBe(201)
  await expect.poll(async () => (await listNames(api)).names).toEqual(['new', 'after'])
  expect([storedNames(path), storedNames(other)]).toEqual([['old'], ['new', 'after']])
})

function copyOf(path: string): string {
  const copy = join(temporaryFolder(), 'copy.db')
  copyFileSync(path, copy)
  return copy
}

async function makeBackupOf(path: string): Promise<string> {
  const backup = join(temporaryFolder(), 'backup.db')
  await backUpDatabase(path, onSqlite.migrations, backup)
  return backup
}

test.for([
  ['its folder', (path: string) => rmSync(dirname(path), { recursive: true })],
  [
    'all of its files, which had a fault,',
    (path: string) => {
      const other = openConnection(path)
      other.unsafeMode(true)
      other.exec('CREATE INDEX lost ON pets (name); PRAGMA writable_schema = ON')
      other.exec("DELETE FROM sqlite_schema WHERE name = 'lost'")
      for (const suffix of databaseFiles) rmSync(path + suffix)
    },
  ],
] as const)('a database is saved when %s is deleted', async ([, remove]) => {
  const folder = temporaryFolder()
  const key = await createFirstKey(folder)
  const path = join(folder, 'data/petstore.db')
  const server = await startServer({ folder })
  const load = startLoad(server.url, key)
  await load.create(10)
  await load.end()
  remove(path)
  const rescued = () => readdirSync(dirname(path)).filter((name) => name.includes('.rescued-'))
  await expect.poll(() => (existsSync(dirname(path)) ? rescued() : [])).toHaveLength(1)
  expect(storedNames(join(dirname(path), rescued()[0] ?? ''))).toHaveLength(10)
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  expect(rescued()).toHaveLength(1)
})

test('a database that was moved away is not called replaced', async () => {
  const folder = temporaryFolder()
  await createFirstKey(folder)
  const path = join(folder, 'data/petstore.db')
  const server = await startServer({ folder })
  renameSync(path, `${path}.away`)
  await expect.poll(() => server.stdout).toContain('Put it back, or restore it.')
  renameSync(`${path}.away`, path)
  await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
  expect(server.stdout).not.toContain('The database was replaced')
})
