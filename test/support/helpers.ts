import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
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
import { isOnPostgres, testDatabase } from './database.ts'
import { type AtEnd, temporaryFolder } from './temporary.ts'
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
  consoleFolder,
}: StartOptions = {}): Promise<TestApi> {
  const log: string[] = []
  const own = store ? { store, key: await createKey(store, keyName) } : await openKeyedStore(atEnd)
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
  return { app, ...own, rest: restClient(transportTo(app, atEnd), own.key), rpc, log }
}

const keyed = { key: mintApiKey(), bytes: undefined as Buffer | undefined, usedAt: 0 }

/** A store with a key that was just used, so that a test which only reads writes nothing. */
async function openKeyedStore(atEnd: AtEnd): Promise<{ store: Store; key: string }> {
  if (!isOnPostgres) return openKeyedFile(atEnd)
  const store = await (await testDatabase(atEnd)).open()
  const { id } = await store.apiKeys.create(apiKeyRecord(keyed.key, 'test'))
  await store.apiKeys.touch(id, new Date())
  return { store, key: keyed.key }
}

/** Made once in a while and copied, since a writer thread would take longer. */
function openKeyedFile(atEnd: AtEnd): { store: Store; key: string } {
  const path = join(temporaryFolder(atEnd), 'petstore.db')
  if (keyed.bytes && Date.now() - keyed.usedAt < 10_000) {
    writeFileSync(path, keyed.bytes)
  } else {
    keyed.usedAt = Date.now()
    keyed.bytes = makeKeyedDatabase(path, keyed.key)
  }
  return { store: openFileStore(path, atEnd), key: keyed.key }
}

function makeKeyedDatabase(path: string, key: string): Buffer {
  prepareDatabase(path)
  const connection = connect(path, { busyTimeout: 0 })
  const writes = prepareWrites(connection)
  const { id } = writes.createApiKey(apiKeyRecord(key, 'test'))
  writes.touchApiKey(id, new Date())
  connection.close()
  return readFileSync(path)
}

interface StartOptions {
  config?: Partial<AppOptions['config']>
  atEnd?: AtEnd
  store?: Store
  /** Of the key that is made in this store. */
  keyName?: string
  consoleFolder?: string
}

/** One service for a group of tests that leave no trace in it. Called where the group is described. */
export function shareTestApi(options: StartOptions = {}): () => TestApi {
  const cleanings: Parameters<AtEnd>[0][] = []
  let api: TestApi | undefined
  beforeAll(async () => {
    api = await startTestApi({ ...options, atEnd: (clean) => cleanings.push(clean) })
  })
  afterAll(async () => {
    for (const clean of cleanings.toReversed()) await clean()
  })
  return () => {
    if (!api) throw new Error('The shared service is there only while tests run.')
    return api
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
