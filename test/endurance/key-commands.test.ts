import { readdirSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { definition, type Store } from '../../db/store.ts'
import { openStore } from '../../engine/store/open.ts'
import { isOnPostgres } from '../../engine/test/support/database.ts'
import { auditLinesIn, notesIn } from '../../engine/test/support/log-lines.ts'
import { type Server, waitForOutput } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import {
  bannerKey,
  createKey,
  databaseNameOf,
  locationOf,
  mintApiKey,
  revokeKey,
  runProgram,
  runToEnd,
  startServer,
} from '../support/petstore.ts'

test('keys create, keys rotate and keys revoke act on the running service', async () => {
  const folder = temporaryFolder()
  const server = await startReady(folder)
  const first = await waitForOutput(server, bannerKey)
  const created = await printKey(folder, ['keys', 'create', 'shop'])
  expect(notesIn(created.stderr)).toBe('The key does not expire.\n')
  expect(auditLinesIn(created.stderr)).toEqual([audit('key.create', `shop (${created.key.slice(0, 10)}…)`)])
  expect(await statusOf(server.url, created.key)).toBe(200)

  const { key: second, stderr } = await printKey(folder, ['keys', 'rotate', 'first'])
  const [old, successor] = [first, second].map((key) => `first (${key.slice(0, 10)}…)`)
  expect(auditLinesIn(stderr)).toEqual([{ ...audit('key.rotate', successor), replaces: old }])
  expect([await statusOf(server.url, first), await statusOf(server.url, second)]).toEqual([401, 200])
  const revoke = await runToEnd({ folder, arguments: ['keys', 'revoke', 'first'] })
  expect(notesIn(revoke.stderr)).toBe(`Revoked first (${second.slice(0, 10)}…).\n`)
  expect(auditLinesIn(revoke.stderr)).toEqual([audit('key.revoke', successor)])
  const status = () => statusOf(server.url, second)
  // On PostgreSQL, an instance trusts a key that it has just read for at most a second.
  if (isOnPostgres) await expect.poll(status, { timeout: 10_000 }).toBe(401)
  else expect(await status()).toBe(401)
  const migrated = { ...audit('database.migrate', databaseNameOf(folder)), migrations: expect.any(Array) }
  expect(auditLinesIn(server.stdout)).toEqual([migrated, audit('key.create', old)])
})

test('keys list shows every key and no secret, and a name that does not exist is refused', async () => {
  const folder = temporaryFolder()
  await runToEnd({ folder, arguments: ['db', 'migrate'] })
  const { key, stderr } = await printKey(folder, ['keys', 'create', 'shop', '--expires', '90d'])
  expect(auditLinesIn(stderr).map(({ action }) => action)).toEqual(['key.create'])
  const [expiry] = notesIn(stderr).trimEnd().split('\n')
  const [, expiresAt = ''] = /^The key expires at (.+)\.$/.exec(expiry ?? '') ?? []
  expect((Date.parse(expiresAt) - Date.now()) / (24 * 3_600_000)).toBeCloseTo(90, 1)
  const commands = [['list'], ['list', '--json'], ['revoke', 'nobody'], ['rotate', 'nobody']]
  const [list, json, revoke, rotate] = commands.map((words) => runProgram({ folder, arguments: ['keys', ...words] }))
  expect(await list?.ended).toBe(0)
  expect(list?.stdout).toMatch(
    /^NAME +START +ACCESS +CREATED +EXPIRES +REVOKED +LAST USED\nshop +pet_\w{6}… +write +\S+ +\S+ +- +-\n$/,
  )
  expect(list?.stdout).not.toContain(key)
  expect(await json?.ended).toBe(0)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const times = { createdAt: time, expiresAt: time, revokedAt: null, lastUsedAt: null }
  expect(JSON.parse(String(json?.stdout))).toEqual([
    { name: 'shop', start: key.slice(0, 10), access: 'write', ...times },
  ])
  for (const run of [revoke, rotate]) {
    expect(await run?.ended).toBe(1)
    expect(auditLinesIn(run?.stderr ?? '')).toEqual([])
    expect(run?.stderr).toContain('No active API key is named "nobody"')
  }
})

test('PETSTORE_API_KEY is registered at the start instead of a first key, and stays revoked after a restart', async () => {
  const [folder, key] = [temporaryFolder(), mintApiKey()]
  const env = { PETSTORE_API_KEY: key }
  const first = await startReady(folder, env)
  expect(await statusOf(first.url, key)).toBe(200)
  // Unlike SIGTERM, SIGINT stops without draining.
  first.child.kill('SIGINT')
  expect([await first.ended, first.stderr]).toEqual([0, ''])
  if (!isOnPostgres) expect(readdirSync(join(folder, 'data'))).toEqual(['petstore.db'])
  expect(auditLinesIn(first.stdout).at(-1)).toEqual(audit('key.register', `environment (${key.slice(0, 10)}…)`))
  expect(first.stdout).not.toMatch(bannerKey)
  expect(first.stdout).not.toContain('firstApiKey')
  await changeKeys(folder, (store) => revokeKey(store, key))
  const second = await startReady(folder, env)
  expect(await statusOf(second.url, key)).toBe(401)
  expect(second.stdout).toContain('The API key of the configuration is refused: it is revoked. Configure another one.')
  expect(auditLinesIn(second.stdout)).toEqual([])
})

test('a start says that it refuses PETSTORE_API_KEY if another key has its name', async () => {
  const [folder, key] = [temporaryFolder(), mintApiKey()]
  const name = `environment (${key.slice(0, 10)})`
  await changeKeys(folder, (store) => createKey(store, name))
  const server = await startReady(folder, { PETSTORE_API_KEY: key })
  expect(await statusOf(server.url, key)).toBe(401)
  expect(server.stdout).toContain(`is refused: another key has its name, ${name}. Configure another one.`)
  expect(auditLinesIn(server.stdout)).toEqual([])
})

test('audit lines are written whatever LOG_LEVEL is, and name the user who ran sudo', async () => {
  const [folder, env] = [temporaryFolder(), { LOG_LEVEL: 'silent' }]
  const migrate = await runToEnd({ folder, env, arguments: ['db', 'migrate'] })
  expect(auditLinesIn(migrate.stderr).map(({ action }) => action)).toEqual(['database.migrate'])
  const create = await runToEnd({ folder, env: { ...env, SUDO_USER: 'alice' }, arguments: ['keys', 'create', 'shop'] })
  expect(auditLinesIn(create.stderr)).toMatchObject([{ action: 'key.create', user: 'alice' }])
})

/** On a busy machine, a service that has just started sheds requests. */
async function startReady(folder: string, env: Record<string, string> = {}): Promise<Server> {
  const server = await startServer({ folder, env })
  await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
  return server
}

/** A whole audit line. */
function audit(action: string, subject: string | undefined) {
  const common = { level: 'info', time: expect.stringMatching(/Z$/), pid: expect.any(Number), host: hostname() }
  return { ...common, msg: 'audit', action, subject, user: userInfo().username }
}

/** Changes the keys of a stopped service. */
async function changeKeys(folder: string, change: (store: Store) => Promise<unknown>): Promise<void> {
  const store = await openStore(definition, locationOf(folder), { busyTimeout: 250 })
  await change(store)
  await store.close()
}

/** Runs a command that prints only a key on standard output. */
async function printKey(folder: string, command: string[]): Promise<{ key: string; stderr: string }> {
  const run = await runToEnd({ folder, arguments: command })
  expect(run.stdout).toMatch(/^pet_[0-9A-Za-z]{38}\n$/)
  return { key: run.stdout.trim(), stderr: run.stderr }
}

async function statusOf(url: string, key: string): Promise<number> {
  return (await fetch(`${url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status
}
