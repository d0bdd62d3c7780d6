import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { StoreUnavailable } from '../../../store/collection/errors.ts'
import { connect } from '../../../store/sqlite/file/connection.ts'
import { openSqlite } from '../../../test/notes/database.ts'
import { startTestApi } from '../../../test/notes/fixtures.ts'
import { logLinesIn } from '../../../test/support/log-lines.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

const noKey = { authorization: '' }
const outdated = 'A newer release has migrated the database, and this instance of the service is outdated.'

describe('/livez', () => {
  test('responds 200 without an API key', async () => {
    const { rest, log } = await startTestApi()
    const response = await rest.get('/livez', noKey)
    expect(response).toMatchObject({ status: 200, text: '{"status":"ok"}', headers: { 'cache-control': 'no-store' } })
    expect(log).toEqual([])
  })

  test('responds at once while the store is locked', async () => {
    const { rest, path } = await startOnFile({ busyTimeout: 60_000 })
    const release = lock(path)
    let hasWaited = false
    const ready = rest.get('/readyz', noKey).finally(() => (hasWaited = true))
    const responses = await Promise.all(Array.from({ length: 20 }, () => rest.get('/livez', noKey)))
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(hasWaited).toBe(false)
    release()
    expect((await ready).status).toBe(200)
  })
})

describe('/readyz', () => {
  test('responds 200 without an API key while the store works', async () => {
    const { rest } = await startTestApi()
    expect(await rest.get('/readyz', noKey)).toMatchObject({ status: 200, text: '{"status":"ready"}' })
  })

  test('writes to the database at most once a second', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { rest, path } = await startOnFile()
    const watcher = open(path)
    const changes = () => watcher.pragma('data_version', { simple: true }) as number
    const before = changes()
    await Promise.all(Array.from({ length: 20 }, () => rest.get('/readyz', noKey)))
    const after = changes()
    expect(after).toBeGreaterThan(before)
    vi.advanceTimersByTime(999)
    await rest.get('/readyz', noKey)
    expect(changes()).toBe(after)
    vi.advanceTimersByTime(1)
    await rest.get('/readyz', noKey)
    expect(changes()).toBeGreaterThan(after)
  })

  test('responds 503 while the database cannot be written, and 200 afterwards', async () => {
    const { rest, path } = await startOnFile()
    const release = lock(path)
    const response = await rest.get('/readyz', noKey)
    expect(response).toMatchObject({ status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '1' } })
    release()
    await expect.poll(async () => (await rest.get('/readyz', noKey)).status).toBe(200)
  })

  test('logs one line for each reason for which readiness is lost, and one when it is regained', async () => {
    const { app, rest, store, log } = await startTestApi()
    const { check } = store
    const reason = 'The database cannot be used: the disk is full; free some space (SQLITE_FULL).'
    store.check = () => Promise.reject(new StoreUnavailable(reason))
    for (let i = 0; i < 3; i++) expect((await rest.get('/readyz', noKey)).status).toBe(503)
    await expect(app.checkReadiness()).rejects.toThrow()
    const changes = () => logLinesIn(log.join('')).map(({ level, msg }) => [level, msg])
    const lost = ['error', `The service is not ready. ${reason}`]
    expect(changes()).toEqual([lost])
    await wait(2_500)
    expect(changes()).toEqual([lost])
    const second = 'The database cannot be used: the disk cannot write it (SQLITE_IOERR).'
    for (const each of [second, reason, second]) {
      store.check = () => Promise.reject(new StoreUnavailable(each))
      await wait(1_100)
      await rest.get('/readyz', noKey)
    }
    const also = ['error', `The service is not ready. ${second}`]
    expect(changes()).toEqual([lost, also])
    store.check = check
    await wait(1_100)
    const regained = ['warn', expect.stringMatching(/^The service is ready again, after [\d.]+ s\.$/)]
    expect((await rest.get('/readyz', noKey)).status).toBe(200)
    expect(changes()).toEqual([lost, also, regained])
  })

  test('responds 503 within a second if the store does not respond', async () => {
    const { rest, store } = await startTestApi({ readinessTimeLimit: 900 })
    store.check = () => new Promise(() => {})
    const start = performance.now()
    expect(await rest.get('/readyz', noKey)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(performance.now() - start).toBeLessThan(20_000)
  })

  test('responds 503 while the service drains, which is no error', async () => {
    const { app, rest, log } = await startTestApi()
    app.isDraining = true
    expect(await rest.get('/readyz', noKey)).toMatchObject({
      status: 503,
      body: { code: 'unavailable', message: 'The service is stopping.' },
      headers: { 'retry-after': '1', connection: 'close' },
    })
    expect(log).toEqual([])
    expect((await rest.get('/livez', noKey)).status).toBe(200)
  })

  test('responds 503 if another release has migrated the database', async () => {
    const { rest, path } = await startOnFile()
    open(path).exec("INSERT INTO migrations VALUES ('9999_future', 'x', 'now')")
    const response = await rest.get('/readyz', noKey)
    expect(response).toMatchObject({ status: 503, body: { code: 'unavailable', message: outdated } })
    expect(response.headers).not.toHaveProperty('retry-after')
  })

  test('responds the same if a create violates a constraint of the other release, and the create may be retried', async () => {
    const { rest, path } = await startOnFile()
    const other = open(path)
    other.exec("INSERT INTO migrations VALUES ('9999_future', 'x', 'now')")
    other.exec('CREATE TABLE fresh AS SELECT * FROM notes')
    other.exec(
      'DROP TABLE notes; CREATE TABLE notes (id INTEGER PRIMARY KEY, body, priority, state, due_at, book_id, owner TEXT NOT NULL)',
    )
    for (const headers of [{}, { 'idempotency-key': 'a' }]) {
      const response = await rest.post('/v1/notes', { body: 'Ann', priority: 1 }, headers)
      expect(response).toMatchObject({ status: 503, body: { message: outdated }, headers: { 'retry-after': '1' } })
    }
  })
})

async function startOnFile({ busyTimeout = 250 } = {}) {
  const path = join(temporaryFolder(), 'notes.db')
  const store = openSqlite({ path, busyTimeout })
  onTestFinished(() => store.close())
  const { rest } = await startTestApi({ store })
  return { rest, path }
}

function lock(path: string): () => void {
  const other = connect(path, { busyTimeout: 0 })
  onTestFinished(() => void other.close())
  other.exec('BEGIN IMMEDIATE')
  return () => void other.exec('ROLLBACK')
}

function open(path: string): Database.Database {
  const database = new Database(path)
  onTestFinished(() => void database.close())
  return database
}
