import { once } from 'node:events'
import { createServer } from 'node:net'
import { relative } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { openSqliteStore } from '../db/sqlite/store.ts'
import type { Store } from '../db/store.ts'
import { createApp } from './app.ts'
import { apiKeyRecord, mintApiKey, startOf } from './auth/api-key.ts'
import { scheduleBackups } from './backup-schedule.ts'
import type { Config } from './config.ts'
import { createLog } from './log.ts'
import { OperatorError } from './operator-error.ts'

/** Serves until SIGTERM or SIGINT, then ends what is under way and resolves. */
export async function serve(config: Config): Promise<void> {
  // Before anything is written: a start that must fail leaves no file behind, and no key that nobody saw.
  await refuseTakenPort(config)
  const log = createLog(config.logLevel, process.stdout.isTTY)
  const store = openSqliteStore({ path: config.databasePath, busyTimeout: 250 })
  const app = await createApp({ config, store, log })
  try {
    if (config.apiKey !== undefined) await registerKey(store, config.apiKey)
    const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
    await listen(app, config)
    const firstKey = await mintFirstKey(store)
    if (firstKey || process.stdout.isTTY)
      process.stdout.write(banner(app.listeningOrigin, config.databasePath, firstKey))
    const stopBackups = scheduleBackups(config, log)
    await stopped
    log.info('stopping')
    await stopBackups()
  } finally {
    await app.close()
    await store.close()
  }
}

async function listen(app: FastifyInstance, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port, listenTextResolver: (address) => `listening at ${address}` })
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
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is taken by another program: stop it, or set PORT to another one.`
  if (code === 'EACCES') return `Port ${port} needs privileges that this user does not have: set PORT to 1024 or more.`
  return `The address ${host}:${port} cannot be listened on (${code}): set HOST to an address of this machine.`
}

/** A key that the operator chose. One that is known already stays as it is, revoked or not. */
async function registerKey({ apiKeys }: Store, key: string): Promise<void> {
  await apiKeys.register(apiKeyRecord(key, `environment (${startOf(key)})`))
}

/** A store without any key gets its first one, which is returned. */
async function mintFirstKey({ apiKeys }: Store): Promise<string | undefined> {
  const key = mintApiKey()
  return (await apiKeys.createFirst(apiKeyRecord(key, 'first'))) ? key : undefined
}

function banner(origin: string, databasePath: string, firstKey: string | undefined): string {
  const file = relative('', databasePath)
  const intro = `
  Petstore is ready.

  REST       ${origin}/v1/pets
  Typed RPC  ${origin}/trpc
  Reference  ${origin}/docs/
  Database   ${file}
`
  const key = `
  Your API key, shown only this once: ${firstKey}

  curl -H 'Authorization: Bearer ${firstKey}' ${origin}/v1/pets
`
  return `${intro}${firstKey ? key : ''}\n`
}
