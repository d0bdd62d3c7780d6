import { readFileSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, onTestFinished } from 'vitest'
import { createPetstoreClient, type PetstoreClient } from '../../client/index.ts'
import { connect } from '../../db/sqlite/connection.ts'
import { prepareDatabase } from '../../db/sqlite/prepare.ts'
import { openSqliteStore } from '../../db/sqlite/store.ts'
import { prepareWrites } from '../../db/sqlite/writer-thread.ts'
import type { Store } from '../../db/store.ts'
import { parseJson } from '../../server/api/int64.ts'
import { type AppOptions, createApp } from '../../server/app.ts'
import { apiKeyRecord, mintApiKey } from '../../server/auth/api-key.ts'
import { createKey } from '../../server/ops/keys.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import type { AtEnd } from './temporary.ts'
import { type Send, transportTo } from './transport.ts'

/** A store in a database of the test's own. */
export async function openTestStore(): Promise<Store> {
  return (await testDatabase()).open()
}

/** A store in this SQLite file. */
export function openFileStore(path: string, atEnd: AtEnd = onTestFinished): Store {
  const store = openSqliteStore({ path, busyTimeout: 250 })
  atEnd(() => store.close())
  return store
}

/** Opens a file as a person with `sqlite3` would. */
export function openDatabase(path = ':memory:'): Database.Database {
  const database = new Database(path)
  onTestFinished(() => void database.close())
  return database
}

/** Adds pets named `pet 1`, `pet 2` and so on, in the order of their ids. */
export async function addPets(store: Store, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `pet ${index + 1}`)
  await Promise.all(names.map((name) => store.pets.create({ name, categoryId: 1n, status: 'available' })))
}

export interface TestApi {
  app: FastifyInstance
  store: Store
  rest: RestClient
  rpc: PetstoreClient
  key: string
  /** Every line logged so far. */
  log: string[]
}

/** The whole service over a database of its own, without a socket. */
export async function startTestApi({
  config = {},
  atEnd = onTestFinished,
  store,
  keyName = 'test',
  key,
  consoleFolder,
}: StartOptions = {}): Promise<TestApi> {
  const log: string[] = []
  const own = store ? { store, key: key ?? (await createKey(store, keyName)) } : await openKeyedDatabase(atEnd)
  const app = await createApp({
    config: {
      corsOrigins: [],
      trustProxy: [],
      publicUrl: undefined,
      stagingUrl: undefined,
      rateLimit: undefined,
      ...config,
    },
    store: own.store,
    consoleFolder,
    log: pino({ level: 'info' }, { write: (line: string) => void log.push(line) }),
  })
  atEnd(() => app.close())
  const rpc = createPetstoreClient({ url: 'http://petstore.test', apiKey: own.key, fetch: fetchFrom(app) })
  return { app, store: own.store, key: own.key, rest: restClient(transportTo(app, atEnd), own.key), rpc, log }
}

/** A key that is valid in every database of {@link openKeyedDatabase}. */
const sharedKey = mintApiKey()
/** An SQLite file with this key. Copying it is faster than starting a writer thread. */
const keyedFile = { bytes: undefined as Buffer | undefined, usedAt: 0 }

/** Opens a database with a key that was just used. Requests that only read therefore do not start the writer thread. */
async function openKeyedDatabase(atEnd: AtEnd): Promise<{ database: TestDatabase; store: Store; key: string }> {
  const database = await testDatabase(atEnd)
  if (database.location.kind === 'sqlite') {
    writeKeyedFile(database.location.path)
    return { database, store: await database.open(), key: sharedKey }
  }
  const store = await database.open()
  const { id } = await store.apiKeys.create(apiKeyRecord(sharedKey, 'test'))
  await store.apiKeys.touch(id, new Date())
  return { database, store, key: sharedKey }
}

function writeKeyedFile(path: string): void {
  if (keyedFile.bytes && Date.now() - keyedFile.usedAt < 10_000) {
    writeFileSync(path, keyedFile.bytes)
    return
  }
  prepareDatabase(path)
  const connection = connect(path, { busyTimeout: 0 })
  const writes = prepareWrites(connection)
  const { id } = writes.createApiKey(apiKeyRecord(sharedKey, 'test'))
  writes.touchApiKey(id, new Date())
  connection.close()
  keyedFile.usedAt = Date.now()
  keyedFile.bytes = readFileSync(path)
}

interface StartOptions {
  config?: Partial<AppOptions['config']>
  atEnd?: AtEnd
  store?: Store
  /** The name of the key that is created in this store. */
  keyName?: string
  /** A key that this store already has. Without it, one is created. */
  key?: string
  consoleFolder?: string
}

/** Shares one service among the tests of a group. They must not depend on an empty database. Called in `describe`. */
export function shareTestApi(options: StartOptions = {}): () => TestApi {
  return share((atEnd) => startTestApi({ ...options, atEnd }))
}

/**
 * Shares one service among the tests of a group. After each test, its pets and keys are deleted, and ids start at 1 again.
 * This takes a few milliseconds. A service of its own would start a writer thread, which takes 150 ms of CPU time.
 */
export function shareEmptiedTestApi(options: StartOptions = {}): () => TestApi {
  const shared = share(async (atEnd) => {
    const { database, store, key } = await openKeyedDatabase(atEnd)
    return { database, api: await startTestApi({ ...options, store, key, atEnd }) }
  })
  afterEach(() => shared().database.empty("name <> 'test'"))
  return () => shared().api
}

/** Shares one store among the tests of a group. After each test, everything in it is deleted. */
export function shareEmptiedStore(): () => Store {
  const shared = share(async (atEnd) => {
    const database = await testDatabase(atEnd)
    return { database, store: await database.open() }
  })
  afterEach(() => shared().database.empty())
  return () => shared().store
}

function share<T>(start: (atEnd: AtEnd) => Promise<T>): () => T {
  const cleanings: Parameters<AtEnd>[0][] = []
  let shared: { value: T } | undefined
  beforeAll(async () => {
    shared = { value: await start((clean) => cleanings.push(clean)) }
  })
  afterAll(async () => {
    for (const clean of cleanings.toReversed()) await clean()
  })
  return () => {
    if (!shared) throw new Error('What the tests share exists only while they run.')
    return shared.value
  }
}

export interface RestAnswer {
  status: number
  headers: Record<string, string>
  /** The body as it was sent, and parsed without losing a digit. */
  text: string
  body: unknown
}

export interface RestClient {
  get(url: string, headers?: Record<string, string>): Promise<RestAnswer>
  /** A string is sent as it is, anything else as JSON. */
  post(url: string, body: unknown, headers?: Record<string, string>): Promise<RestAnswer>
  send(options: InjectOptions): Promise<RestAnswer>
}

/** Sends with the key unless `authorization` is given. */
function restClient(transport: Send, key: string): RestClient {
  async function send({ headers, ...options }: InjectOptions): Promise<RestAnswer> {
    const answer = await transport({ ...options, headers: { authorization: `Bearer ${key}`, ...headers } })
    const isJson = String(answer.headers['content-type']).startsWith('application/json') && answer.payload !== ''
    return {
      status: answer.statusCode,
      headers: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)])),
      text: answer.payload,
      body: isJson ? parseJson(answer.payload) : undefined,
    }
  }

  return {
    send,
    get: (url, headers = {}) => send({ method: 'GET', url, headers }),
    post: (url, body, headers = {}) =>
      send({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', ...headers },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}

/** A `fetch` that reaches the app without a socket. */
export function fetchFrom(app: FastifyInstance): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const answer = await app.inject({
      method: request.method as 'GET',
      url: pathname + search,
      headers: Object.fromEntries(request.headers),
      payload: Buffer.from(await request.arrayBuffer()),
    })
    return new Response(new Uint8Array(answer.rawPayload), {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string>,
    })
  }
}
