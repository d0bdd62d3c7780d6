import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../../engine/store/sqlite/file/connection.ts'
import { openFile } from '../../engine/store/sqlite/file/open-file.ts'
import { createWriter, maxCommitTime } from '../../engine/store/sqlite/writer/writer.ts'
import { openDatabase } from '../../engine/test/support/database.ts'
import { runCommand, waitForOutput } from '../../engine/test/support/process.ts'
import { connectRestClient } from '../../engine/test/support/rest-client.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { attachStrace, canTrace } from '../../engine/test/support/traced.ts'
import { onSqlite, openFileStore, prepareSqlite, startTraced } from '../support/petstore.ts'

const rex = { name: 'Rex', categoryId: 7n, status: 'available' } as const

// Only strace shows whether SQLite follows its settings.
if (canTrace()) {
  describe('in the system calls', () => {
    test('an fsync ends between a create and its response', async () => {
      const { server, key, stop } = await startTraced(() => ['-e', 'trace=fsync,fdatasync,read,write,writev'])
      const { post } = connectRestClient(server.url, key)
      for (let i = 0; i < 21; i++) expect((await post('/v1/pets', { ...rex, categoryId: 7 })).status).toBe(201)
      // Without the first request, which also stores the use of the key with its own fsync.
      expect(acknowledgementsIn(linesOf(await stop())).slice(1)).toEqual(Array(20).fill('after an fsync'))
    })

    test('creates that arrive while the disk is busy share an fsync', async () => {
      const slowDisk = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_exit=200000']
      const { server, key, stop } = await startTraced(() => slowDisk)
      const callers = Array.from({ length: 64 }, () => connectRestClient(server.url, key))
      const responses = await Promise.all(callers.map(({ post }) => post('/v1/pets', { ...rex, categoryId: 7 })))
      expect(responses.map(({ status }) => status)).toEqual(Array(64).fill(201))
      const syncs = linesOf(await stop()).filter((line) => line.includes('sync('))
      expect(syncs.length).toBeGreaterThan(0)
      expect(syncs.length).toBeLessThan(32)
    })

    test('a create fails at once while the writer thread cannot be started, and the next create succeeds', async () => {
      const path = join(temporaryFolder(), 'petstore.db')
      const root = join(import.meta.dirname, '../..')
      // Not the service, whose first check of its readiness has started the thread.
      const script = `
        import { definition } from '${root}/db/store.ts'
        import { openStore } from '${root}/engine/store/open.ts'
        const store = await openStore(definition, { kind: 'sqlite', path: '${path}' }, { busyTimeout: 250 })
        const pet = { name: 'Rex', categoryId: 7n, status: 'sold' }
        const create = () => store.pets.create(pet).then(() => console.log('stored'), ({ name }) => console.log(name))
        process.on('SIGUSR2', create)
        setInterval(() => {}, 1_000)
        console.log('open')`
      const run = runCommand([process.execPath, '--input-type=module', '--eval', script])
      await waitForOutput(run, /(open)/)
      const noThreads = ['-e', 'trace=clone,clone3', '-e', 'inject=clone,clone3:error=EAGAIN']
      const detach = await attachStrace(run.child.pid, noThreads)
      const start = performance.now()
      run.child.kill('SIGUSR2')
      expect(await waitForOutput(run, /open\n(\w+)/)).toBe('StoreUnavailable')
      expect(performance.now() - start).toBeLessThan(9_000)
      await detach()
      run.child.kill('SIGUSR2')
      expect(await waitForOutput(run, /StoreUnavailable\n(\w+)/)).toBe('stored')
    })
  })
}

test('of the writes that are rejected because the disk hangs, only those of a transaction that has begun can be stored', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const path = join(temporaryFolder(), 'petstore.db')
  const writer = startWriter(path, 60_000)
  const other = connect(path, { busyTimeout: 0 })
  const create = (name: string) => writer.mutate('pets.create', [name, 1n, 'sold'])
  await create('before')
  other.exec('BEGIN IMMEDIATE')
  const begun = create('begun')
  // Nothing shows that the thread waits for the lock.
  await wait(2_000)
  const waiting = create('waiting')
  vi.advanceTimersByTime(maxCommitTime)
  await expect(begun).rejects.toThrow('The disk does not respond. Check it')
  await expect(waiting).rejects.toThrow('The disk does not respond. Check it')
  await expect(create('refused')).rejects.toThrow('The disk does not respond. Check it')
  other.exec('ROLLBACK')
  for (let isStored = false; !isStored; await wait(10)) isStored = await create('after').then(Boolean, () => false)
  expect(namesIn(other)).toEqual(['before', 'begun', 'after'])
  await writer.close()
  other.close()
})

test('the time that the writer thread takes to start is not taken for a disk that hangs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const path = join(temporaryFolder(), 'petstore.db')
  const writer = startWriter(path)
  const created = writer.mutate('pets.create', [rex.name, rex.categoryId, rex.status])
  vi.advanceTimersByTime(2 * maxCommitTime)
  expect(await created).toMatchObject({ generated: { id: 1n } })
  await writer.close()
})

const block = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

test.each([
  ['and committed before', 20],
  ['after', 0],
])(
  'a create that was sent %s the event loop was blocked for longer than a commit may take succeeds',
  async (_, microtasks) => {
    const store = openFileStore(join(temporaryFolder(), 'petstore.db'))
    await store.pets.create(rex)
    // Timers run next.
    await nextTurn()
    const created = store.pets.create(rex)
    // A write is sent in a microtask.
    for (let task = 0; task < microtasks; task++) await undefined
    block(maxCommitTime + 500)
    expect(await created).toMatchObject({ id: 2n })
  },
)

test('with 10,000 waiting writes further ones are refused, and those that wait are stored', async () => {
  const path = join(temporaryFolder(), 'petstore.db')
  const store = openFileStore(path)
  const creates = Array.from({ length: 10_000 }, () => store.pets.create(rex))
  await expect(store.pets.create(rex)).rejects.toThrow('Too many writes wait for the database.')
  expect(await Promise.all(creates)).toHaveLength(10_000)
  expect(openDatabase(path).prepare('SELECT count(*) FROM pets').pluck().get()).toBe(10_000)
})

/** A writer of a new database, without a reader. */
function startWriter(path: string, busyTimeout = 0) {
  prepareSqlite(path)
  const file = openFile(path, { readonly: true })
  const writer = createWriter({ path, identities: file.identities, loaded: onSqlite, busyTimeout, onDamage: () => {} })
  onTestFinished(async () => {
    await writer.close()
    file.close()
  })
  return writer
}

function namesIn(connection: Database.Database): unknown[] {
  return connection.prepare('SELECT name FROM pets ORDER BY id').pluck().all()
}

function linesOf(trace: string): string[] {
  return readFileSync(trace, 'utf8').split('\n')
}

/** For each response to a create, whether an fsync began after its request and ended before it. */
function acknowledgementsIn(calls: string[]): string[] {
  const acknowledgements: string[] = []
  let [isSyncing, isSynced] = [false, false]
  for (const call of calls) {
    if (/read.*"POST \/v1\/pets/.test(call)) [isSyncing, isSynced] = [false, false]
    if (/sync\(.*unfinished/.test(call)) isSyncing = true
    if (/sync\(.*= 0$/.test(call) || (isSyncing && /sync resumed.*= 0$/.test(call))) isSynced = true
    if (call.includes('"HTTP/1.1 201')) acknowledgements.push(isSynced ? 'after an fsync' : 'too early')
  }
  return acknowledgements
}
