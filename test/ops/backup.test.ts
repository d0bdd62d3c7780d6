import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bannerKey, petstore, runPetstore, type Server, startServer, waitForOutput } from '../support/process.ts'
import { backUp, change, makeDatabase, namesIn, petsIn, unfitFiles } from '../support/sample-database.ts'
import { temporaryFolder } from '../support/temporary.ts'

describe('a backup', () => {
  test('made under eight writers and restored elsewhere holds all that was acknowledged before, in order', async () => {
    const folder = temporaryFolder()
    const original = join(folder, 'data/petstore.db')
    makeDatabase(original, 20_000)
    change(original, 'DELETE FROM pets WHERE id % 100 = 0')
    const server = await startServer({ folder })
    const key = await waitForOutput(server, bannerKey)
    const acknowledged: string[] = []
    const writing = new AbortController()
    const writers = Array.from({ length: 8 }, (_, i) => createUntil(writing.signal, server, key, i, acknowledged))
    while (acknowledged.length < 200) await wait(5)
    const before = [...acknowledged]
    const backup = await backUp(folder)
    writing.abort()
    await Promise.all(writers)
    expect(acknowledged.length).toBeGreaterThan(before.length)

    const elsewhere = temporaryFolder()
    expect(await runPetstore({ folder: elsewhere, arguments: ['restore', backup] }).ended).toBe(0)
    const restored = petsIn(join(elsewhere, 'data/petstore.db'))
    const lastId = restored.at(-1)?.id ?? 0
    expect(new Set(before).difference(new Set(restored.map(({ name }) => name)))).toEqual(new Set())
    expect(restored).toEqual(petsIn(original).filter(({ id }) => id <= lastId))

    const second = await startServer({ folder: elsewhere })
    const pet = (await (await create(second, key, 'Rex')).json()) as { id: number }
    expect(pet.id).toBeGreaterThan(lastId)
    expect(integrityOf(join(elsewhere, 'data/petstore.db'))).toBe('ok')
  }, 60_000)

  test('holds what a killed service had only in its log', async () => {
    const folder = temporaryFolder()
    const server = await startServer({ folder })
    await create(server, await waitForOutput(server, bannerKey), 'Rex')
    server.child.kill('SIGKILL')
    await server.ended
    expect(namesIn(await backUp(folder))).toEqual(['Rex'])
  })

  test('remembers the ids of pets that are gone, and the rules of the tables', async () => {
    const folder = temporaryFolder()
    const original = makeDatabase(join(folder, 'data/petstore.db'), 10)
    change(original, 'DELETE FROM pets WHERE id > 5')
    const backup = await backUp(folder)
    expect(schemaOf(backup)).toEqual(schemaOf(original))
    change(backup, "INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 'sold')")
    expect(petsIn(backup).at(-1)).toMatchObject({ id: 11, name: 'Rex' })
  })

  test('is one file that nobody else can read, and its path is all that is printed', async () => {
    const folder = temporaryFolder()
    makeDatabase(join(folder, 'data/petstore.db'), 10)
    const run = runPetstore({ folder, arguments: ['backup'] })
    expect(await run.ended).toBe(0)
    expect(run.stderr).toBe('')
    const [name = ''] = readdirSync(join(folder, 'data/backups'))
    expect(name).toMatch(/^petstore\.db-\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z\.db$/)
    expect(run.stdout).toBe(`${join(folder, 'data/backups', name)}\n`)
    expect(statSync(run.stdout.trim()).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'data/backups')).mode & 0o777).toBe(0o700)
    expect(readdirSync(join(folder, 'data/backups'))).toEqual([name])
    expect(readdirSync(join(folder, 'data')).toSorted()).toEqual(['backups', 'petstore.db'])
  })

  test('goes where it is told', async () => {
    const folder = temporaryFolder()
    makeDatabase(join(folder, 'data/petstore.db'), 1)
    expect(await backUp(folder, 'copy.db')).toBe(join(folder, 'copy.db'))
    expect(namesIn(join(folder, 'copy.db'))).toEqual(['pet 1'])
    expect(existsSync(join(folder, 'data/backups'))).toBe(false)
  })

  test('of a large database does not keep readers waiting', async () => {
    const folder = temporaryFolder()
    makeDatabase(join(folder, 'data/petstore.db'), 200_000)
    const server = await startServer({ folder })
    const headers = { authorization: `Bearer ${await waitForOutput(server, bannerKey)}` }
    const run = runPetstore({ folder, arguments: ['backup'] })
    let isOver = false
    void run.ended.then(() => (isOver = true))
    const times: number[] = []
    while (!isOver) {
      const begin = performance.now()
      expect((await fetch(`${server.url}/v1/pets`, { headers })).status).toBe(200)
      times.push(performance.now() - begin)
    }
    expect(await run.ended).toBe(0)
    expect(times.length).toBeGreaterThan(20)
    expect(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]).toBeLessThan(250)
  })
})

test.for(['backup', 'restore'])('%s needs a name that is not empty', async (word) => {
  const run = runPetstore({ arguments: [word, ''] })
  expect(await run.ended).toBe(1)
  expect(run.stderr).toBe('The name of the backup is empty.\n')
})

describe('no backup is made', () => {
  test.for(unfitFiles)('of %s', async ([, make, message]) => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'data'))
    make(join(folder, 'data/petstore.db'))
    const before = contentOf(join(folder, 'data/petstore.db'))
    await expectRefusal(folder, [], `The database ${join(folder, 'data/petstore.db')} cannot be backed up: ${message}`)
    expect(readdirSync(join(folder, 'data/backups'))).toEqual([])
    expect(contentOf(join(folder, 'data/petstore.db'))).toEqual(before)
  })

  test('of no database, and none is made', async () => {
    const folder = temporaryFolder()
    await expectRefusal(folder, [], 'cannot be backed up: no such file')
    expect(readdirSync(folder)).toEqual([])
  })

  test.for([
    ['over another file', 'taken.db', 'it exists already; name another file'],
    ['over the database', 'data/petstore.db', 'it exists already; name another file'],
    ['in a folder that does not exist', 'nowhere/copy.db', 'its folder does not exist; make it first'],
    ['in a file', 'taken.db/copy.db', 'a part of its path is a file, not a folder; check the path'],
  ])('%s', async ([, destination, message]) => {
    const folder = temporaryFolder()
    makeDatabase(join(folder, 'data/petstore.db'), 1)
    writeFileSync(join(folder, 'taken.db'), 'precious')
    await expectRefusal(
      folder,
      [String(destination)],
      `The backup ${join(folder, String(destination))} cannot be made: ${message}`,
    )
    expect(readFileSync(join(folder, 'taken.db'), 'utf8')).toBe('precious')
    expect(namesIn(join(folder, 'data/petstore.db'))).toEqual(['pet 1'])
    expect(readdirSync(folder).toSorted()).toEqual(['data', 'taken.db'])
  })

  // A disk of its own can be had only where the kernel gives every user namespaces.
  const small = 'mount -t tmpfs -o size=256k none'
  if (spawnSync('unshare', ['-rm', 'sh', '-c', `${small} /mnt`]).status === 0) {
    test('on a full disk, and nothing is left there', () => {
      const folder = temporaryFolder()
      makeDatabase(join(folder, 'data/petstore.db'), 20_000)
      mkdirSync(join(folder, 'disk'))
      const script = `${small} disk && "$0" "$1" backup disk/copy.db; echo "$? $(ls -A disk)"`
      const run = spawnSync('unshare', ['-rm', 'sh', '-c', script, ...petstore], { cwd: folder })
      expect(run.stderr.toString()).toMatch(/^The backup \S+ cannot be made: the disk is full; free some space\.\n$/)
      expect(run.stdout.toString()).toBe('1 \n')
    })
  }
})

describe('a backup that is cut short', () => {
  test.for(['SIGINT', 'SIGTERM'] as const)('by %s leaves nothing', async (signal) => {
    const { folder, run } = await startSlowBackup()
    run.child.kill(signal)
    expect(await run.ended).toBe(signal)
    expect(readdirSync(join(folder, 'data/backups'))).toEqual([])
  })

  test('by SIGKILL leaves what the next one removes', async () => {
    const { folder, run } = await startSlowBackup()
    run.child.kill('SIGKILL')
    await run.ended
    expect(readdirSync(join(folder, 'data/backups'))).toContainEqual(expect.stringMatching(/\.partial$/))
    const backup = await backUp(folder)
    expect(readdirSync(join(folder, 'data/backups')).map((name) => join(folder, 'data/backups', name))).toEqual([
      backup,
    ])
  })

  test('is told from one that is under way', async () => {
    const { folder, run } = await startSlowBackup()
    // Names of their own: two backups of the same millisecond would have one.
    await Promise.all(['a', 'b'].map((name) => backUp(folder, join(folder, `data/backups/${name}.db`))))
    expect(await run.ended).toBe(0)
    expect(readdirSync(join(folder, 'data/backups')).filter((name) => name.endsWith('.db')).length).toBe(3)
  })
})

if (spawnSync('strace', ['-f', '-y', '-e', 'trace=fsync,?link,?linkat', 'true']).status === 0) {
  test('a backup is on disk before it has its name, and its name before the command ends', () => {
    const folder = temporaryFolder()
    makeDatabase(join(folder, 'data/petstore.db'), 10)
    const words = [
      '-f',
      '-y',
      '-qq',
      '-o',
      'trace',
      '-e',
      'trace=fsync,?link,?linkat',
      ...petstore,
      'backup',
      'copy.db',
    ]
    expect(spawnSync('strace', words, { cwd: folder }).status).toBe(0)
    const calls = readFileSync(join(folder, 'trace'), 'utf8').split('\n')
    const named = calls.findIndex((call) => /link(?:at)?\(.*copy\.db"/.test(call))
    expect(calls.slice(0, named).findLast((call) => call.includes('fsync('))).toMatch(/\.partial>/)
    expect(calls.slice(named).find((call) => call.includes('fsync('))).toContain(`<${folder}>`)
  })
}

if (spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0) {
  test('progress is shown on a terminal, and not in the output', () => {
    const folder = temporaryFolder()
    makeDatabase(join(folder, 'data/petstore.db'), 1_000)
    const command = `${petstore.map((word) => `'${word}'`).join(' ')} backup > printed`
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { cwd: folder, encoding: 'utf8' })
    expect(stdout).toMatch(/\rCopied [\d.]+ of [\d.]+ MiB \(\d+ %\)/)
    expect(stdout.endsWith('\r\x1b[K')).toBe(true)
    expect(readFileSync(join(folder, 'printed'), 'utf8')).toMatch(/^\/\S+\.db\n$/)
  })
}

/** Large enough for a signal to arrive before the end. Resolves once a part of the copy is written. */
async function startSlowBackup() {
  const folder = temporaryFolder()
  makeDatabase(join(folder, 'data/petstore.db'), 300_000)
  const run = runPetstore({ folder, arguments: ['backup'] })
  const backups = join(folder, 'data/backups')
  while (!existsSync(backups) || !readdirSync(backups).some((name) => sizeOf(join(backups, name)) > 0)) await wait(1)
  return { folder, run }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function contentOf(path: string): Buffer | string[] {
  return statSync(path).isFile() ? readFileSync(path) : readdirSync(path)
}

async function expectRefusal(folder: string, words: string[], message: string): Promise<void> {
  const run = runPetstore({ folder, arguments: ['backup', ...words] })
  expect(await run.ended).toBe(1)
  expect(run.stdout).toBe('')
  expect(run.stderr).toMatch(/^[^\n]+\.\n$/)
  expect(run.stderr).toContain(message)
}

async function create({ url }: Server, key: string, name: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(`${url}/v1/pets`, { method: 'POST', headers, body: JSON.stringify({ name, categoryId: 1 }) })
}

async function createUntil(end: AbortSignal, server: Server, key: string, writer: number, acknowledged: string[]) {
  for (let i = 0; !end.aborted; i++) {
    const name = `${writer}-${i}`
    if ((await create(server, key, name)).status === 201) acknowledged.push(name)
  }
}

function integrityOf(path: string): unknown {
  const database = new Database(path)
  onTestFinished(() => void database.close())
  return database.pragma('integrity_check', { simple: true })
}

function schemaOf(path: string): unknown[] {
  const database = new Database(path)
  onTestFinished(() => void database.close())
  return [
    database.pragma('application_id', { simple: true }),
    ...database.prepare('SELECT * FROM sqlite_sequence').all(),
    ...database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all(),
  ]
}
