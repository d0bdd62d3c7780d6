import { readFileSync, writeFileSync } from 'node:fs'
import type { TRPCClient } from '@trpc/client'
import type { AnyRouter } from '@trpc/server'
import type { FastifyInstance } from 'fastify'
import { afterEach, onTestFinished } from 'vitest'
import { createClient } from '../../client/index.ts'
import { type AppOptions, createApp } from '../../service/app.ts'
import type { LoadMeter } from '../../service/http/load-shedding.ts'
import { makeDependencies, type Service } from '../../service/service.ts'
import { logTo } from '../../service/telemetry/log.ts'
import { createMetrics, type Metrics } from '../../service/telemetry/metrics.ts'
import type { Tracing } from '../../service/telemetry/tracing.ts'
import type { BaseStore } from '../../store/collection/base-store.ts'
import type { WithApiKeys } from '../../store/keys.ts'
import { connect } from '../../store/sqlite/file/connection.ts'
import { databaseFixtures, type TestDatabase } from './database.ts'
import { type ProductFixtures, productFixtures } from './product.ts'
import { createRestClient, type RestClient } from './rest-client.ts'
import { share } from './share.ts'
import type { AtEnd } from './temporary.ts'
import type { Tested } from './tested.ts'
import { fetchFrom, transportTo } from './transport.ts'

export interface TestApi<Store = BaseStore & WithApiKeys, Client = unknown> {
  app: FastifyInstance
  store: Store
  rest: RestClient
  rpc: Client
  key: string
  /** Every line logged so far. */
  log: string[]
}

export interface StartOptions<Store = BaseStore & WithApiKeys> {
  config?: Partial<AppOptions['config']>
  /** What the settings of the product read. */
  settings?: Record<string, string>
  atEnd?: AtEnd
  store?: Store
  /** The router, by default that of the service. */
  router?: AnyRouter
  /** Further routes, by default those of the service. */
  routes?: Service<Store & WithApiKeys>['routes']
  /** The name of the key that is created in this store. */
  keyName?: string
  /** A key that this store already has. Without it, one is created. */
  key?: string
  /** The folder, or what makes it for this service. */
  consoleFolder?: string | ((atEnd: AtEnd) => string)
  /** Give its observer to the store. */
  metrics?: Metrics
  tracing?: Tracing
  loadMeter?: LoadMeter
  /** Milliseconds. By default enough for a busy machine. */
  readinessTimeLimit?: number
}

/** Starts a service on a new database, without a socket, until the test ends. Its ids start at 1. */
export async function startTestService<Stores extends WithApiKeys, Router extends AnyRouter>(
  service: Service<Stores> & { router: Router },
  options: StartOptions<BaseStore & Stores> = {},
): Promise<TestApi<BaseStore & Stores, TRPCClient<Router>>> {
  const product = productFixtures(service.product)
  const tested = { service, createClient: createClient<Router> }
  return apiFixtures(tested, product, await databaseFixtures(service.store, 'drop')).startTestApi(options)
}

/** On a busy machine, a request of a test may wait for its turn. */
const idle: LoadMeter = { now: () => 0, heap: () => 0 }

/** Starts the service of a product in the process of the test. */
export function apiFixtures<Stores extends WithApiKeys, Client>(
  { service, createClient }: Pick<Tested<Stores, Client>, 'service' | 'createClient'>,
  { product, apiKeyRecord, mintApiKey, createKey }: ProductFixtures,
  { testDatabase, prepareSqlite }: Awaited<ReturnType<typeof databaseFixtures<Stores>>>,
) {
  type Store = BaseStore & Stores
  type Api = TestApi<Store, Client>

  /** Starts the whole service on a new database, without a socket. */
  async function startTestApi({
    config = {},
    settings = {},
    atEnd = onTestFinished,
    store,
    router = service.router,
    routes = service.routes,
    keyName = 'test',
    key,
    consoleFolder,
    metrics = createMetrics(product),
    tracing,
    loadMeter = idle,
    readinessTimeLimit = 60_000,
  }: StartOptions<Store> = {}): Promise<Api> {
    const log: string[] = []
    const own = store ? { store, key: key ?? (await createKey(store, keyName)) } : await openKeyedDatabase(atEnd)
    const console = typeof consoleFolder === 'function' ? consoleFolder(atEnd) : consoleFolder
    const productSettings = service.settings?.parse(settings) ?? {}
    const dependencies = await makeDependencies(service, productSettings)
    atEnd(dependencies.close)
    const app = await createApp({
      dependencies: dependencies.made,
      service: { ...service, product, router, console, ...(routes && { routes }) },
      config: {
        corsOrigins: [],
        trustProxy: [],
        publicUrl: undefined,
        stagingUrl: undefined,
        rateLimit: undefined,
        adminPort: undefined,
        productSettings,
        ...config,
      },
      store: own.store,
      metrics,
      tracing,
      loadMeter,
      readinessTimeLimit,
      log: logTo({ write: (line) => void log.push(line) }, 'info'),
    })
    atEnd(() => app.close())
    const rpc = createClient({ url: 'http://service.test', apiKey: own.key, fetch: fetchFrom(app) })
    return { app, store: own.store, key: own.key, rest: createRestClient(transportTo(app, atEnd), own.key), rpc, log }
  }

  /** A key that is valid in every database of {@link openKeyedDatabase}. */
  const sharedKey = mintApiKey()
  /** An SQLite file with this key. Copying it is faster than starting a writer thread. */
  const keyedFile = { bytes: undefined as Buffer | undefined, usedAt: 0 }

  /** Opens a database with a key that was just used, so requests that only read do not start the writer thread. */
  async function openKeyedDatabase(
    atEnd: AtEnd,
  ): Promise<{ database: TestDatabase<Store>; store: Store; key: string }> {
    const database = await testDatabase(atEnd)
    if (database.location.kind === 'sqlite') {
      writeKeyedFile(database.location.path)
      return { database, store: await database.open(), key: sharedKey }
    }
    const store = await database.open()
    await store.apiKeys.touch(await store.apiKeys.create(apiKeyRecord(sharedKey, 'test')), new Date())
    return { database, store, key: sharedKey }
  }

  function writeKeyedFile(path: string): void {
    if (keyedFile.bytes && Date.now() - keyedFile.usedAt < 10_000) {
      writeFileSync(path, keyedFile.bytes)
      return
    }
    prepareSqlite(path)
    const connection = connect(path, { busyTimeout: 0 })
    const { name, start, hash, createdAt } = apiKeyRecord(sharedKey, 'test')
    connection
      .prepare('INSERT INTO api_keys (name, start, hash, created_at, last_used_at) VALUES (?, ?, ?, ?, ?)')
      .run(name, start, hash, createdAt.toISOString(), createdAt.toISOString())
    connection.close()
    keyedFile.usedAt = Date.now()
    keyedFile.bytes = readFileSync(path)
  }

  return {
    startTestApi,
    /** Shares one service among the tests of a group. They must not depend on an empty database. Call it in `describe`. */
    shareTestApi: (options: StartOptions<Store> = {}): (() => Api) =>
      share((atEnd) => startTestApi({ ...options, atEnd })),
    /**
     * Shares one service among the tests of a group. After each test, its rows and keys are deleted, and ids start at 1
     * again. This takes a few milliseconds. A new service would start a writer thread, which takes 150 ms of CPU time.
     */
    shareEmptiedTestApi(options: StartOptions<Store> = {}): () => Api {
      const shared = share(async (atEnd) => {
        const { database, store, key } = await openKeyedDatabase(atEnd)
        return { database, api: await startTestApi({ ...options, store, key, atEnd }) }
      })
      afterEach(() => shared().database.empty("name <> 'test'"))
      return () => shared().api
    },
  }
}
