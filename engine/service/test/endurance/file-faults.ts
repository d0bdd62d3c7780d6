import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { expect, onTestFinished } from 'vitest'
import { connect } from '../../../store/sqlite/file/connection.ts'
import {
  apiKeyRecord,
  openSqlite,
  prepareSqlite,
  prepareWrites,
  startTestApi,
  type TestApi,
} from '../../../test/notes/fixtures.ts'
import { type DatabasePaths, databasePaths } from '../../../test/support/database-paths.ts'
import { connectRestClient, type RestClient } from '../../../test/support/rest-client.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

/** Tests that damage the files of a running service, or the disk under them. */

export const databaseFiles = ['', '-wal', '-shm']

/** The service on a file, the path of the file, its warnings, and the sentence with which it ends after damage. */
export async function startOnFile({ path, given }: DatabasePaths = databasePaths((path) => path)) {
  const { promise: damage, resolve: onDamage } = Promise.withResolvers<string>()
  const warnings: string[] = []
  const onWarning = (message: string) => void warnings.push(message)
  const store = openSqlite({ path: given, busyTimeout: 250, onWarning, onDamage })
  onTestFinished(() => store.close())
  const api = await startTestApi({ store })
  return { api, path, key: api.key, damage, warnings }
}

/** Creates another database of the service with one note, in which the same key is valid. */
export function makeOtherDatabase(note: string, key: string): string {
  const path = join(temporaryFolder(), 'notes.db')
  prepareSqlite(path)
  const connection = connect(path, { busyTimeout: 0 })
  const writes = prepareWrites(connection)
  writes.get('notes.create')?.(note, 1n, 'open', null, null)
  const { name, start, hash, createdAt } = apiKeyRecord(key, 'test')
  writes.get('apiKeys.create')?.(name, start, hash, createdAt, null, null, null, 'write')
  connection.close()
  return path
}

export function createNote({ rest }: Pick<TestApi, 'rest'>, body: string) {
  return rest.post('/v1/notes', { body, priority: 7 })
}

export async function listBodies({ rest }: TestApi): Promise<{ status: number; bodies: string[] }> {
  const { status, body } = await rest.get('/v1/notes?limit=100')
  return { status, bodies: Array.isArray(body) ? body.map((note) => note.body) : [] }
}

/** Expects a 503 with `Retry-After`. */
export async function expectUnavailable(response: ReturnType<TestApi['rest']['get']>): Promise<void> {
  expect(await response).toMatchObject({ status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '1' } })
}

/** Expects that neither reads, creates nor the readiness check succeed any more. */
export async function expectStopped(api: TestApi): Promise<void> {
  await expectUnavailable(createNote(api, 'late'))
  await expectUnavailable(api.rest.get('/v1/notes'))
  await expectUnavailable(api.rest.get('/v1/notes/1'))
  await expectUnavailable(api.rest.get('/readyz'))
}

/** The copies that services have saved of this database. */
export function rescuedCopies(path: string): string[] {
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.rescued-`))
  return names.map((name) => join(dirname(path), name))
}

export function storedBodies(path: string): unknown[] {
  return openConnection(path).prepare('SELECT body FROM notes ORDER BY id').pluck().all()
}

export function expectIntact(path: string): void {
  expect(openConnection(path).pragma('integrity_check', { simple: true })).toBe('ok')
}

/** Moves the log into the database, as another process may at any time. */
export function checkpoint(path: string): void {
  const connection = connect(path, { busyTimeout: 0 })
  connection.pragma('wal_checkpoint(TRUNCATE)')
  connection.close()
}

export function openConnection(path: string): Database.Database {
  const connection = connect(path, { busyTimeout: 0 })
  onTestFinished(() => void connection.close())
  return connection
}

/** Four clients that create notes through the API of a running service and note which ones are acknowledged. */
export function startLoad(url: string, key: string) {
  const clients = Array.from({ length: 4 }, () => connectRestClient(url, key))
  const load = { acknowledged: [] as string[], sent: 0, create, keepCreating, end }
  let isEnding = false
  let running: Promise<unknown> | undefined

  async function createOne(client: RestClient | undefined): Promise<void> {
    const body = `note ${load.sent++}`
    const response = await client?.post('/v1/notes', { body, priority: 7 }).catch(() => undefined)
    if (response?.status === 201) load.acknowledged.push(body)
    else await wait(10)
  }
  /** Bodies end with the number of notes that were sent before. */
  async function create(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await createOne(clients[0])
  }
  /** Creates notes until the end. Resolves when this many more are acknowledged, or none is for a while. */
  async function keepCreating(count: number): Promise<void> {
    const goal = load.acknowledged.length + count
    running = Promise.all(
      clients.map(async (client) => {
        while (!isEnding) await createOne(client)
      }),
    )
    for (let turn = 0; load.acknowledged.length < goal && turn < 1_000; turn++) await wait(10)
  }
  async function end(): Promise<void> {
    isEnding = true
    await running
  }
  onTestFinished(end)
  return load
}
