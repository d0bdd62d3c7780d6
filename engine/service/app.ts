import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import type { BaseStore, WithApiKeys } from '#store'
import { bearerCheck } from './auth/bearer.ts'
import { withRateLimit } from './auth/rate-limit.ts'
import { type Config, publicAddressOf } from './config.ts'
import { responseCache } from './http/cache/response-cache.ts'
import { Connections } from './http/connections.ts'
import { makeDrainable } from './http/drain.ts'
import { handleErrors } from './http/error-responses.ts'
import { type CheckReadiness, health, readinessCheck } from './http/health.ts'
import { limits } from './http/limits.ts'
import { type LoadMeter, processLoad, shedLoad } from './http/load-shedding.ts'
import { isProbe, labelsOf, requestIdsWithout, whenEnded } from './http/request.ts'
import { requestCheck } from './http/request-checks.ts'
import { addCors, corsOfUnreadable, securityHeaders } from './http/response-headers.ts'
import { ignoreBodies, type Page, refuseUnknownPaths, routeAllMethods } from './http/routing.ts'
import { createHttpServer } from './http/server.ts'
import { readConsolePage, readPage, webConsole } from './http/static-files.ts'
import { ownRoutes } from './own-routes.ts'
import { type CallOptions, decorateWithCalls } from './procedures/context.ts'
import { refuseSchemas } from './procedures/schemas.ts'
import { restAdapter } from './rest/adapter.ts'
import { reference, serversOf } from './rest/reference.ts'
import { rpcAdapter } from './rpc/adapter.ts'
import type { Service } from './service.ts'
import type { Log } from './telemetry/log.ts'
import { type Metrics, metricsRoute } from './telemetry/metrics.ts'
import type { Tracing } from './telemetry/tracing.ts'

/** What the service and the admin listener have in common. */
interface BaseOptions {
  service: Pick<Service<WithApiKeys>, 'product'>
  config: Pick<Config, 'corsOrigins' | 'trustProxy' | 'publicUrl' | 'stagingUrl' | 'rateLimit' | 'adminPort'>
  log: Log
  metrics: Metrics
}

export interface AppOptions extends BaseOptions {
  config: BaseOptions['config'] & Pick<Config, 'productSettings'>
  service: Pick<Service<WithApiKeys>, 'product' | 'router' | 'routes' | 'console'>
  /** What {@link makeDependencies} made. */
  dependencies?: unknown
  store: BaseStore & WithApiKeys
  tracing?: Tracing | undefined
  loadMeter?: LoadMeter
  /** Milliseconds for a check of the readiness. */
  readinessTimeLimit?: number
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The readiness check of the service, which the admin listener shares. */
    checkReadiness: CheckReadiness
    hasConsole: boolean
  }
}

/** Creates an application with the checks, errors, log and metrics of every request. */
function createBase(
  { service, config, log, metrics }: BaseOptions,
  connections: Connections,
  { tracing, page, keepAlive = true }: { tracing?: Tracing | undefined; page?: Page | undefined; keepAlive?: boolean },
) {
  // With pino's type, every Fastify type in the project would need it as a parameter.
  const loggerInstance: FastifyBaseLogger = log
  const headers = securityHeaders(config.publicUrl)
  const cors = corsOfUnreadable(config.corsOrigins)
  const requestIdOf = requestIdsWithout(service.product.keyPrefix)
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    serverFactory: (listener) =>
      createHttpServer(listener, { log, requestIdOf, headers, cors, connections, keepAlive }),
    // createHttpServer responds to these errors.
    clientErrorHandler: () => {},
    // Called instead of the hooks for a URL that the router cannot read. No route has the other one.
    frameworkErrors(_error, { raw }, reply) {
      app.routing(Object.assign(raw, { originalUrl: raw.url, url: '/ ' }), reply.raw)
    },
    routerOptions: { maxParamLength: limits.headers },
    bodyLimit: limits.body,
    // For an empty list, Fastify would compute the address of each client from no proxies.
    trustProxy: config.trustProxy.length > 0 ? config.trustProxy : false,
    return503OnClosing: false,
    // Fastify would load Ajv and its compiler of serializers, which take a tenth of the start and of which no route has use.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
  })

  tracing?.traceRequests(app)
  makeDrainable(app, connections)
  if (config.corsOrigins.length > 0) addCors(app, config.corsOrigins, headers)
  const check = requestCheck(headers)
  app.addHook('onRequest', (request, reply, done) => {
    const start = performance.now()
    metrics.requests.countStarted()
    // Fastify's hook onResponse is not called for a response that its client gave up.
    whenEnded(reply.raw, (isComplete) => {
      const result = { isComplete, milliseconds: performance.now() - start }
      const labels = labelsOf(request)
      if (!isProbe(labels) || request.rejection) log.request(request, reply, labels, result)
      metrics.requests.countEnded(request, reply, labels, result)
    })
    check(request, reply, done)
  })
  handleErrors(app)
  refuseUnknownPaths(app, page)
  ignoreBodies(app)
  routeAllMethods(app)
  return app
}

function refuseSchema(): never {
  throw new Error('A route has a schema of Fastify. Remove it, and read the body with readBody and a schema of Zod.')
}

/**
 * Creates the service without listening: REST at `/v1`, RPC at `/trpc`, the web console at `/`, the API reference at
 * `/docs/`, and `/metrics` unless the admin listener serves it.
 *
 * The hooks of a request run in this order, and the first one that responds ends it. Before the body is read: CORS, the
 * start of the log line and the metrics, the checks of the URL and the headers, the load and the turn of its group
 * (503), the API key and its rate limit (401, 429), in REST the access of the key (403), the path (404). Then the body,
 * the bytes of other unfinished responses (503), and the procedure, before which RPC checks the access of each call. So a
 * request that is refused costs little.
 */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { service, config, store, metrics, tracing, dependencies, loadMeter = processLoad } = options
  const { product, router, routes, console: folder } = service
  refuseSchemas(router)
  // The path of PUBLIC_URL without a slash at the end. Links have it; requests do not, because a proxy removes it.
  const basePath = config.publicUrl === undefined ? '' : new URL(config.publicUrl).pathname.replace(/\/$/, '')
  const page = readConsolePage(folder, basePath)
  const referencePage = readPage(folder, 'docs/index.html')
  const app = createBase(options, new Connections(), { tracing, page })
  metrics.store.watch(store)
  let address = publicAddressOf(config, undefined)
  app.addHook('onListen', async () => {
    address = publicAddressOf(config, listeningOn(app))
  })

  decorateWithCalls(app)
  const checkBearer = bearerCheck(app, store, product, metrics.cacheLookups.api_keys)
  const checkKey = config.rateLimit ? withRateLimit(app, config.rateLimit, checkBearer) : checkBearer
  const { productSettings: settings } = config
  const { version: release } = product
  const calls: CallOptions = { store, release, settings, dependencies, traceCalls: tracing?.traceCalls }
  app.register(async (adapters) => {
    shedLoad(adapters, loadMeter, store)
    adapters.addHook('onRequest', checkKey)
    const { rest_responses, rpc_responses } = metrics.cacheLookups
    const [restCache, rpcCache] = [responseCache(store, rest_responses), responseCache(store, rpc_responses)]
    const links = { basePath, address: () => address, hasReference: referencePage !== undefined }
    adapters.register(restAdapter, { prefix: '/v1', cache: restCache, router, calls, ...links })
    adapters.register(rpcAdapter, { prefix: '/trpc', cache: rpcCache, router, calls })
    if (routes) adapters.register(async (app) => ownRoutes(app, (app) => routes(app, store, settings, dependencies)))
  })
  app.register(webConsole, { folder, page, basePath })
  app.decorate('hasConsole', page !== undefined)
  app.decorate('checkReadiness', readinessCheck(app, store, options.readinessTimeLimit))
  app.register(health, { check: app.checkReadiness })
  if (config.adminPort === undefined) {
    // Without load shedding, because the metrics are needed most under overload.
    app.register(async (scope) => {
      scope.addHook('onRequest', checkKey)
      scope.register(metricsRoute, { metrics, check: app.checkReadiness })
    })
  }
  app.register(reference, { router, product, servers: () => serversOf(config, address), basePath, page: referencePage })
  return app
}

export function listeningOn(app: FastifyInstance): { host: string; port: number } {
  const listening = app.server.address()
  // A string is the path of a Unix socket.
  if (listening === null || typeof listening === 'string') throw new Error('The application does not listen yet.')
  return { host: listening.address, port: listening.port }
}

/** Creates the admin listener of a service: its health and metrics, without an API key. */
export function createAdminApp({ checkReadiness: check }: FastifyInstance, options: BaseOptions): FastifyInstance {
  // A few probes and scrapers. Others must not take the file descriptors of the service, or its time by pipelining. A
  // probe every few seconds can open a connection for each request, so it needs no keep-alive.
  const config = { ...options.config, corsOrigins: [] }
  const app = createBase({ ...options, config }, new Connections(64), { keepAlive: false })
  app.register(health, { check })
  app.register(metricsRoute, { metrics: options.metrics, check })
  return app
}
