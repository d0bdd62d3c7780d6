import { setTimeout as wait } from 'node:timers/promises'
import type { AnyRouter } from '@trpc/server'
import type { FastifyInstance, FastifyListenOptions } from 'fastify'
import { describeLocation, openStore, type WithApiKeys } from '#store'
import { apiKeyFormat, rejectionOf } from '../auth/api-key.ts'
import { closeAfter } from '../closing.ts'
import { type Config, environment, originOf } from '../config.ts'
import { OperatorError } from '../operator/operator-error.ts'
import { proceduresOf } from '../procedures/procedures.ts'
import type { Product } from '../product.ts'
import { makeDependencies, type Service } from '../service.ts'
import { type Audit, auditTo, describeKey } from '../telemetry/audit.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { unblock } from '../telemetry/log-output.ts'
import { createMetrics, type Metrics } from '../telemetry/metrics.ts'
import type { Tracing } from '../telemetry/tracing.ts'
import { type Address, addressesOf, findListenProblems, listenProblem } from './addresses.ts'
import { announce } from './announce.ts'
import { scheduleBackups } from './backup-schedule.ts'
import { notifySystemd } from './systemd.ts'

/** Milliseconds. */
const drainTime = 500
const repeatedSignalTime = 200
/** Milliseconds after which a stop is late, and waits only for writes. */
const lateTime = 2_000
/** Longest time between the signal to stop and the end of the process. */
export const maxStopTime = 10_000

/**
 * Serves until a signal to stop, or until the files of the database are damaged, then completes the requests in progress and
 * resolves. A second signal, or a stop that takes too long, ends the process at once, unless it saves what only it has of the
 * database. Acknowledged writes are on disk in any case.
 */
export async function serve(config: Config, service: Service<WithApiKeys>): Promise<void> {
  // Checked first, because a start that fails must not leave a file or a key.
  const problems = await findListenProblems(config)
  if (problems.length > 0) throw new OperatorError(problems.join('\n'))
  const { made, onClose, close } = await makeDependencies(service, config.productSettings)
  await closeAfter(close, () => serveWith(made, config, service, onClose))
}

async function serveWith(
  dependencies: unknown,
  config: Config,
  service: Service<WithApiKeys>,
  onClose: (close: () => unknown) => void,
): Promise<void> {
  const { product } = service
  const telemetry = await startTelemetry(product, config)
  const { log, audit, metrics } = telemetry
  const systemd = notifySystemd(environment)
  const { store, damaged, force } = await open(config, service, telemetry, systemd.extendStop)
  let admin: FastifyInstance | undefined
  // The first to register is the last to close, so that probes see how the service stops.
  onClose(async () => {
    admin?.server.closeAllConnections()
    await admin?.close()
  })
  onClose(() => store.close())
  // Imported here, so that it loads while the writer thread starts.
  const { createAdminApp, createApp, listeningOn } = await import('../app.ts')
  const app = await createApp({ service, dependencies, config, store, ...telemetry })
  onClose(() => app.close())
  if (config.apiKey !== undefined) await registerKey(product, store, config.apiKey, telemetry)
  const stopped = stopSignal(log, force)
  // Before listening: if the database cannot be read, the start fails.
  const hasKey = config.apiKey !== undefined || (await store.apiKeys.list()).length > 0
  const [address, adminAddress] = addressesOf(config)
  await listen(app, address, (url) => `listening at ${url} (${product.command} ${product.version})`)
  if (adminAddress) {
    admin = createAdminApp(app, { service, config, log, metrics })
    await listen(admin, adminAddress, (url) => `metrics and health at ${url}`)
  }
  const firstKey = hasKey ? undefined : await mintFirstKey(product, store, audit)
  const asBanner = process.stdout.isTTY && config.logFormat !== 'json'
  const url = config.publicUrl ?? originOf(listeningOn(app))
  const { hasConsole } = app
  const path = listPathOf(service.router)
  announce({ ...product, url, path, database: config.database, firstKey, hasConsole }, log, { asBanner })
  const stopBackups = startBackups(config, log, metrics)
  // Logs why, if the service is not ready.
  void app.checkReadiness().catch(() => {})
  void systemd.reportReady(app.checkReadiness)
  const signal = await Promise.race([stopped, damaged])
  log.info({ signal }, 'stopping')
  systemd.reportStopping()
  limitStop(app, admin, force)
  // Health checks still get responses meanwhile. Otherwise a supervisor would kill the process.
  await store.saved()
  // Connections are still accepted, until a load balancer has noticed or a successor on the same port receives them.
  app.isDraining = true
  const isFromPerson = signal === 'SIGINT' || signal === 'SIGQUIT'
  await Promise.all([stopBackups(), wait(isFromPerson ? 0 : drainTime)])
}

type Telemetry = Awaited<ReturnType<typeof startTelemetry>>

async function startTelemetry(product: Product, config: Config) {
  const warnOfDropped = (lines: number) =>
    log.warn(`${lines} lines of the output were dropped, because it was not read or its disk was full.`)
  const outputs = [process.stdout, process.stderr].map((stream) => unblock(stream, warnOfDropped))
  const log = createLog(config, process.stdout)
  const metrics = createMetrics(product)
  metrics.addProcess(outputs)
  return { log, audit: auditTo(log), metrics, tracing: await startTracing(product, config, log) }
}

/**
 * Opens the database. `damaged` resolves when its files are damaged, once what can be saved is. `force` ends the process at
 * once, but does nothing while a rescue saves what only the process has.
 */
async function open(config: Config, service: Service<WithApiKeys>, telemetry: Telemetry, extendStop: () => void) {
  const { database, databaseConnections: maxConnections, historyDays } = config
  const { log, audit, metrics } = telemetry
  const { promise: damaged, resolve } = Promise.withResolvers<undefined>()
  let isSaving = false
  function force(reason: string): void {
    if (isSaving) return
    log.error({ reason }, 'stopped by force')
    log.flush()
    // Any other exit waits for the threads, which may wait for a disk that does not respond.
    process.kill(process.pid, 'SIGKILL')
  }
  const store = await openStore(service.store, database, {
    maxConnections,
    historyDays,
    onWarning: (message) => log.warn(message),
    onRescue() {
      isSaving = true
      extendStop()
    },
    onDamage(message) {
      isSaving = false
      log.error(message)
      process.exitCode = 1
      resolve(undefined)
    },
    onMigrate: (migrations) => audit('database.migrate', describeLocation(database), { migrations }),
    observer: metrics.store.observer,
  })
  return { store, damaged, force }
}

/** The path of the first list of the REST API, for a person who tries it. */
function listPathOf(router: AnyRouter): string {
  const operations = proceduresOf(router).flatMap(({ meta: { openapi } }) => openapi ?? [])
  return operations.find(({ method, path }) => method === 'GET' && !path.includes('{'))?.path ?? ''
}

/** PostgreSQL has its own backup tools. */
function startBackups({ database, ...config }: Config, log: Log, metrics: Metrics): () => Promise<void> {
  if (database.kind !== 'sqlite') return async () => {}
  metrics.store.expectBackups(config.backupEvery)
  // The program that serves has the same resources.
  const program = String(process.argv[1])
  const { backupAttempted: onAttempt } = metrics.store
  return scheduleBackups({ ...config, program, databasePath: database.path, onAttempt }, log)
}

/**
 * A supervisor sends SIGTERM, a terminal that is closed SIGHUP, and a person SIGINT or SIGQUIT. A second signal ends the
 * process, unless it arrives right after the first: a terminal sends Ctrl-C to npm and to the service, and npm forwards it.
 */
function stopSignal(log: Log, force: (reason: string) => void): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  let first: number | undefined
  const receive = (signal: NodeJS.Signals) => {
    if (first !== undefined && performance.now() - first > repeatedSignalTime) force(signal)
    first ??= performance.now()
    resolve(signal)
  }
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const) process.on(signal, receive)
  // By default, the first one opens Node's debugger, and the second one ends the process. Programs send them to rotate logs.
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
    process.on(signal, () => log.warn(`${signal} was ignored. Send SIGTERM to stop the service.`))
  }
  return promise
}

/** Closes the connections without a write when the stop is late, all others shortly before the limit, then ends the process. */
function limitStop(app: FastifyInstance, admin: FastifyInstance | undefined, force: (reason: string) => void): void {
  // The client of a write waits to learn whether it is stored.
  setTimeout(() => app.connections.close(({ writes }) => writes === 0), lateTime).unref()
  setTimeout(() => [app, admin].forEach((each) => void each?.server.closeAllConnections()), maxStopTime - 1_000).unref()
  // Repeated, because `force` does nothing during a rescue.
  setInterval(() => force('timeout'), maxStopTime).unref()
}

async function listen(app: FastifyInstance, address: Address, describe: (url: string) => string): Promise<void> {
  try {
    const { host, port, reusePort } = address
    // Fastify passes `reusePort` to Node, but its type lacks it.
    const options: FastifyListenOptions & { reusePort: boolean } = { host, port, reusePort }
    await app.listen({ ...options, listenTextResolver: describe })
  } catch (error) {
    throw new OperatorError(listenProblem(error, address))
  }
}

/** Registers the API key of the configuration. A known key is not changed, even if it is revoked. */
async function registerKey({ keyPrefix }: Product, { apiKeys }: WithApiKeys, key: string, { audit, log }: Telemetry) {
  const { apiKeyRecord, startOf } = apiKeyFormat(keyPrefix)
  const record = apiKeyRecord(key, `environment (${startOf(key)})`)
  const isNew = await apiKeys.register(record)
  const stored = await apiKeys.find(record.hash)
  const rejection = stored && rejectionOf(stored, Date.now())
  const reason = stored ? rejection && `it is ${rejection}` : `another key has its name, ${record.name}`
  if (reason) log.warn(`The API key of the configuration is refused: ${reason}. Configure another one.`)
  if (isNew) audit('key.register', describeKey({ name: 'environment', start: record.start }))
}

async function mintFirstKey({ keyPrefix }: Product, { apiKeys }: WithApiKeys, audit: Audit) {
  const { key, record } = apiKeyFormat(keyPrefix).mintApiKey('first')
  if (!(await apiKeys.createFirst(record))) return undefined
  audit('key.create', describeKey(record))
  return key
}

/** Without an SDK of OpenTelemetry, which registers under this symbol, its API is not loaded: it has 100 modules. */
async function startTracing(product: Product, { database }: Config, log: Log): Promise<Tracing | undefined> {
  if (!Reflect.has(globalThis, Symbol.for('opentelemetry.js.api.1'))) return undefined
  const { registeredTracer, tracingWith } = await import('../telemetry/tracing.ts')
  const tracer = registeredTracer(product, (message) => log.warn(message))
  return tracer && tracingWith(tracer, database.kind, product.command)
}
