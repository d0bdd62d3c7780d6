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

/** Milliseconds. */
const drainTime = 500
const echoTime = 200
const longestStop = 10_000
const registerInterval = 5_000

/**
 * Serves until SIGTERM or SIGINT, then ends what is under way and resolves. SIGTERM, which comes from a supervisor, drains
 * first; a person's Ctrl-C does not wait. A second signal, or too long a wait, ends the process at once: what was
 * acknowledged is on disk even so.
 */
export async function serve(config: Config): Promise<void> {
  // Before anything is written: a start that must fail leaves no file behind, and no key that nobody saw.
  if (!config.reusePort) await refuseTakenPort(config)
  const log = createLog(config.logLevel, process.stdout.isTTY)
  const store = await openStore(config.database, {
    busyTimeout: 200,
    onWarning: (message) => log.warn(message),
  })
  const app = await createApp({ config, store, log, consoleFolder: join(import.meta.dirname, '../web/dist') })
  try {
    if (config.apiKey !== undefined) await registerKey(app, store, config.apiKey)
    const stopped = stopSignal(log)
    // Looked up before listening, so that a database that is away later does not end the process.
    const hasKey = config.apiKey !== undefined || (await store.apiKeys.list()).length > 0
    await listen(app, config)
    const firstKey = hasKey ? undefined : await mintFirstKey(store)
    announce({ origin: app.listeningOrigin, database: config.database, firstKey }, log)
    const stopBackups = startBackups(config, log)
    const signal = await stopped
    log.info({ signal }, 'stopping')
    limitStop(app, log)
    await Promise.all([stopBackups(), drain(app, signal === 'SIGTERM' ? drainTime : 0)])
  } finally {
    await app.close()
    await store.close()
  }
}

/** PostgreSQL has tools of its own for backups. */
function startBackups({ database, ...config }: Config, log: Logger): () => Promise<void> {
  return database.kind === 'sqlite' ? scheduleBackups({ ...config, databasePath: database.path }, log) : async () => {}
}

/**
 * Resolves with the first signal to stop; a second one ends the process. What comes right after the first is the same
 * once more: a terminal signals both npm and the service, and npm passes it on.
 */
function stopSignal(log: Logger): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  let first: number | undefined
  const receive = (signal: NodeJS.Signals) => {
    if (first !== undefined && performance.now() - first > echoTime) force(log, signal)
    first ??= performance.now()
    resolve(signal)
  }
  process.on('SIGTERM', receive).on('SIGINT', receive)
  return promise
}

/** Callers that would hold up the stop are cut off in the end, and if that does not help either, nothing is waited for. */
function limitStop({ server }: FastifyInstance, log: Logger): void {
  setTimeout(() => server.closeAllConnections(), longestStop - 1_000).unref()
  setTimeout(() => force(log, 'time'), longestStop).unref()
}

/** By SIGKILL, since any other exit waits for the threads, and these for a disk that may hang. */
function force(log: Logger, reason: string): void {
  log.error({ reason }, 'stopped by force')
  process.kill(process.pid, 'SIGKILL')
}

async function listen(app: FastifyInstance, { host, port, reusePort }: Config): Promise<void> {
  try {
    // Fastify hands on options of Node's that its type does not know.
    const options: FastifyListenOptions & { reusePort: boolean } = { host, port, reusePort }
    await app.listen({ ...options, listenTextResolver: (address) => `listening at ${address}` })
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
      return `The address ${host}:${port} cannot be listened on (${code}): set HOST to an address of this machine.`
  }
}

/**
 * Registers the key that the operator chose. A known one stays as it is, revoked or not, and needs no write. While the
 * store takes no writes, the service starts without the key and keeps trying.
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

/** A store without any key gets its first one, which is returned. */
async function mintFirstKey({ apiKeys }: Store): Promise<string | undefined> {
  const key = mintApiKey()
  return (await apiKeys.createFirst(apiKeyRecord(key, 'first'))) ? key : undefined
}
