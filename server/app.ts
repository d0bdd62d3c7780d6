import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import type { Logger } from 'pino'
import type { Store } from '../db/store.ts'
import { readIdempotencyKey } from './api/idempotency-key.ts'
import { appRouter } from './api/router.ts'
import { bearerCheck, checkedApiKey } from './auth/bearer.ts'
import { withRateLimit } from './auth/rate-limit.ts'
import type { Config } from './config.ts'
import type { CreateContext } from './http/adapter-options.ts'
import { makeDrainable } from './http/drain.ts'
import { sendError } from './http/error-responses.ts'
import { health } from './http/health.ts'
import { limits } from './http/limits.ts'
import { shedLoad } from './http/load-shedding.ts'
import { requestCheck } from './http/request-checks.ts'
import { requestIdOf } from './http/request-id.ts'
import { addCors, corsFor, securityHeaders } from './http/response-headers.ts'
import { ignoreBodies, refuseUnknownPaths, routeAllMethods } from './http/routing.ts'
import { createHttpServer } from './http/server.ts'
import { webConsole } from './http/static-files.ts'
import { logRequest } from './log.ts'
import { restAdapter } from './rest/adapter.ts'
import { createDocument, serversOf } from './rest/document.ts'
import { reference } from './rest/reference.ts'
import { rpcAdapter } from './rpc/adapter.ts'

export interface AppOptions {
  config: Pick<Config, 'corsOrigins' | 'trustProxy' | 'publicUrl' | 'stagingUrl' | 'rateLimit'>
  store: Store
  log: Logger
  /** Folder of the built web console. By default there is no console. */
  consoleFolder?: string | undefined
}

/** Creates the service without listening: REST at `/v1`, RPC at `/trpc`, the web console at `/`, the API reference at `/docs/`. */
export async function createApp({ config, store, log, consoleFolder }: AppOptions): Promise<FastifyInstance> {
  // With pino's type, every Fastify type in the project would need it as a parameter.
  const loggerInstance: FastifyBaseLogger = log
  const headers = securityHeaders(config.publicUrl)
  const applyCors = corsFor(config.corsOrigins, headers)
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    serverFactory: (listener) => createHttpServer(listener, log, headers),
    // createHttpServer responds to these errors.
    clientErrorHandler: () => {},
    // Called instead of the hooks for a URL that cannot be decoded.
    frameworkErrors(error, request, reply) {
      reply.headers({ ...headers, 'x-request-id': request.id })
      if (!applyCors(request, reply)) sendError(error, request, reply)
      logRequest(request, reply)
    },
    routerOptions: { maxParamLength: limits.url },
    bodyLimit: limits.body,
    trustProxy: config.trustProxy,
    return503OnClosing: false,
  })

  app.decorateRequest('apiKey', null)
  app.decorateRequest('rejection', undefined)
  app.decorateRequest('rejectedKeyStart', undefined)
  makeDrainable(app)
  if (config.corsOrigins.length > 0) addCors(app, applyCors)
  app.addHook('onRequest', requestCheck(headers))
  if (log.isLevelEnabled('info')) {
    app.addHook('onResponse', (request, reply, done) => {
      logRequest(request, reply)
      done()
    })
  }
  app.setErrorHandler(sendError)
  refuseUnknownPaths(app)
  ignoreBodies(app)
  routeAllMethods(app)

  const createContext: CreateContext = (request, reply) => ({
    store,
    apiKey: checkedApiKey(request),
    idempotencyKey: readIdempotencyKey(request),
    announceReplay: () => void reply.header('idempotency-replayed', 'true'),
  })
  const checkKey = bearerCheck(store)
  app.register(async (adapters) => {
    shedLoad(adapters)
    adapters.addHook('onRequest', config.rateLimit ? withRateLimit(config.rateLimit, checkKey) : checkKey)
    adapters.register(restAdapter, { prefix: '/v1', router: appRouter, store, createContext })
    adapters.register(rpcAdapter, { prefix: '/trpc', router: appRouter, store, createContext })
  })
  app.register(webConsole, { folder: consoleFolder })
  app.register(health, { store })
  const servers = () => serversOf(config, app.server.listening ? app.listeningOrigin : 'http://127.0.0.1:3000')
  app.register(reference, { document: () => createDocument(appRouter, servers()), servers })
  return app
}
