import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance, FastifyListenOptions } from 'fastify'
import type { Logger } from 'pino'
import { openStore } from '../db/open.ts'
import { type Store, StoreUnavailable } from '../db/store.ts'
import { createApp } from './app.ts'
import { apiKeyRecord, mintApiKey, startOf } from './auth/api-key.ts'
import type { Config } from './config.ts'
import { drain } from './http/drain.ts'
import { createLog } from './log.ts'
import { announce } from './ops/announce.ts'
import { scheduleBackups } from './ops/backup-schedule.ts'
import { OperatorError } from './ops/operator-error.ts'
import manifest from './package.json' with { type: 'json' }

/** Milliseconds. */
const drainTime = 500
const repeatedSignalTime = 200
/** Longest time between the signal to stop and the end of the process. */
export const maxStopTime = 10_000
const registerInterval = 5_000

/**
 * Serves until SIGTERM or SIGINT, then completes the requests in progress and resolves. SIGTERM, from a supervisor, drains
 * first; SIGINT, from a person, does not. A second signal, or a stop that takes too long, ends the process at once.
 * Acknowledged writes are on disk in any case.
 */
export async function serve(config: Config): Promise<void> {
  // Checked first, because a start that fails must not leave a file or a key.
  if (!config.reusePort) await refuseTakenPort(config)
  const log = createLog(config.logLevel, process.stdout.isTTY)
  const store = await openStore(config.database, {
    busyTimeout: 200,
    maxConnections: config.databaseConnections,
    onWarning: (message) => log.warn(message),
  })
  try {
    const app = await createApp({ config, store, log, consoleFolder: join(import.meta.dirname, '../web/dist') })
    try {
      await run(app, store, config, log)
    } finally {
      await app.close()
    }
  } finally {
    await store.close()
  }
}

/** Listens, and resolves when the service has drained after a signal. */
async function run(app: FastifyInstance, store: Store, config: Config, log: Logger): Promise<void> {
  if (config.apiKey !== undefined) await registerKey(app, store, config.apiKey)
  const stopped = stopSignal(log)
  // Before listening: if the database cannot be read, the start fails.
  const hasKey = config.apiKey !== undefined || (await store.apiKeys.list()).length > 0
  await listen(app, config)
  const firstKey = hasKey ? undefined : await mintFirstKey(store)
  announce({ origin: app.listeningOrigin, database: config.database, firstKey }, log)
  const stopBackups = startBackups(config, log)
  const signal = await stopped
  log.info({ signal }, 'stopping')
  limitStop(app, log)
  await Promise.all([stopBackups(), drain(app, signal === 'SIGTERM' ? drainTime : 0)])
}

/** PostgreSQL has its own backup tools. */
function startBackups({ database, ...config }: Config, log: Logger): () => Promise<void> {
  return database.kind === 'sqlite' ? scheduleBackups({ ...config, databasePath: database.path }, log) : async () => {}
}

/**
 * Resolves with the first signal to stop. A second signal ends the process, unless it arrives right after the first: a
 * terminal sends Ctrl-C to npm and to the service, and npm forwards it.
 */
function stopSignal(log: Logger): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  let first: number | undefined
  const receive = (signal: NodeJS.Signals) => {
    if (first !== undefined && performance.now() - first > repeatedSignalTime) force(log, signal)
    first ??= performance.now()
    resolve(signal)
  }
  process.on('SIGTERM', receive).on('SIGINT', receive)
  return promise
}

/** Closes the connections that remain shortly before the limit, and ends the process at the limit. */
function limitStop({ server }: FastifyInstance, log: Logger): void {
  setTimeout(() => server.closeAllConnections(), maxStopTime - 1_000).unref()
  setTimeout(() => force(log, 'timeout'), maxStopTime).unref()
}

/** Uses SIGKILL, because any other exit waits for the threads, which may wait for a disk that does not respond. */
function force(log: Logger, reason: string): void {
  log.error({ reason }, 'stopped by force')
  process.kill(process.pid, 'SIGKILL')
}

async function listen(app: FastifyInstance, { host, port, reusePort }: Config): Promise<void> {
  try {
    // Fastify passes `reusePort` to Node, but its type lacks it.
    const options: FastifyListenOptions & { reusePort: boolean } = { host, port, reusePort }
    const listenTextResolver = (address: string) => `listening at ${address} (petstore ${manifest.version})`
    await app.listen({ ...options, listenTextResolver })
  } catch (error) {
    throw new OperatorError(listenProblem(error, host, port))
  }
}

async function refuseTakenPort({ host, port }: Config): Promise<void> {
  const probe = createServer()
  try {
    probe.listen({ host, port })
    await once(probe, 'listening')
  } catch (error) {
    throw new OperatorError(listenProblem(error, host, port))
  }
  probe.close()
  await once(probe, 'close')
}

function listenProblem(error: unknown, host: string, port: number): string {
  const code = error instanceof Error && 'syscall' in error && 'code' in error ? error.code : undefined
  switch (code) {
    case undefined:
      throw error
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken by another program: stop it, or set PORT to another one.`
    case 'EACCES':
      return `Port ${port} needs privileges that this user does not have: set PORT to 1024 or more.`
    case 'ENOTSUP':
      return 'This system does not let programs share a port: unset REUSE_PORT.'
    default:
      return `The service cannot listen on the address ${host}:${port} (${code}): set HOST to an address of this machine.`
  }
}

/**
 * Registers the API key of the configuration. A known key is not changed, even if it is revoked. While the store accepts no
 * writes, the service runs without the key and retries.
 */
async function registerKey(app: FastifyInstance, { apiKeys }: Store, key: string): Promise<void> {
  const record = apiKeyRecord(key, `environment (${startOf(key)})`)
  const register = async () => {
    if (!(await apiKeys.find(record.hash))) await apiKeys.register(record)
  }
  const warn = (err: Error) =>
    app.log.warn({ err }, `could not register the API key ${record.start}… of the environment; trying again`)
  try {
    await register()
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    warn(error)
    const retry = setInterval(() => register().then(() => clearInterval(retry), warn), registerInterval)
    app.addHook('onClose', async () => clearInterval(retry))
  }
}

/** Creates the first API key if the store has none. */
async function mintFirstKey({ apiKeys }: Store): Promise<string | undefined> {
  const key = mintApiKey()
  return (await apiKeys.createFirst(apiKeyRecord(key, 'first'))) ? key : undefined
}
