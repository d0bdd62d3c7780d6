import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../engine/test/support/free-port.ts'
import { query } from '../../../engine/test/support/postgres/databases.ts'
import { startPostgres } from '../../../engine/test/support/postgres/server.ts'
import { type Server, waitForOutput } from '../../../engine/test/support/process.ts'
import { connectRestClient } from '../../../engine/test/support/rest-client.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { codeBlocksOf, document } from '../../support/documents.ts'
import { bannerKey, startServer } from '../../support/petstore.ts'
import { copyFiles, pathOfPgCtl } from '../../support/postgres/replication.ts'

const run = promisify(execFile)
const guide = document('docs/guides/postgresql.md')

test('the guide recovers the moment before a mistake from a base backup and the archived log', async () => {
  const vault = openFolder(temporaryFolder())
  for (const name of ['wal', 'base', 'recovered']) openFolder(join(vault, name))
  const primary = await startPostgres(archiveSettings(vault))
  onTestFinished(() => primary.stop())
  const first = await startServer({ env: { DATABASE_URL: primary.url } })
  const key = await waitForOutput(first, bannerKey)
  await create(first, key, ['before the base backup'])
  const owner = await copyFiles(primary.url, join(vault, 'base/2026-11-21'))
  await create(first, key, ['after the base backup', 'last'])
  const moment = await readValue(primary.url, 'SELECT clock_timestamp()::text')
  await query(primary.url, 'DELETE FROM pets')
  await create(first, key, ['after the mistake'])
  await archiveLog(primary.url)
  first.child.kill('SIGKILL')
  await primary.crash()

  const url = await recover(vault, moment, owner)
  const second = await startServer({ env: { DATABASE_URL: url } })
  const rest = connectRestClient(second.url, key)
  expect((await rest.get('/v1/pets')).body).toMatchObject(
    ['before the base backup', 'after the base backup', 'last'].map((name, index) => ({ id: index + 1, name })),
  )
  expect(await rest.post('/v1/pets', { name: 'new', categoryId: 1 })).toMatchObject({ status: 201 })
})

function archiveSettings(vault: string): Record<string, string> {
  const [block] = codeBlocksOf(guide, 'ini')
  const lines = [...String(block?.code).matchAll(/^(\w+) = '?(.*?)'?$/gm)]
  expect(lines.map(([, name]) => name)).toContain('archive_command')
  return Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value.replaceAll('/mnt', vault)]))
}

async function create(server: Server, key: string, names: string[]): Promise<void> {
  const rest = connectRestClient(server.url, key)
  for (const name of names) expect(await rest.post('/v1/pets', { name, categoryId: 1 })).toMatchObject({ status: 201 })
}

/** Resolves when everything so far is archived. */
async function archiveLog(url: string): Promise<void> {
  const file = await readValue(url, 'SELECT pg_walfile_name(pg_switch_wal())')
  const archived = () => readValue(url, "SELECT coalesce(last_archived_wal, '') FROM pg_stat_archiver")
  await expect.poll(async () => (await archived()) >= file).toBe(true)
}

/** The only value of the result, as text. */
async function readValue(url: string, sql: string): Promise<string> {
  const [row = {}] = await query(url, sql)
  return String(Object.values(row)[0])
}

/** Runs the commands of the guide. Returns the URL of the new server. */
async function recover(vault: string, moment: string, owner: { uid: number; gid: number }): Promise<string> {
  const port = await freePort()
  const pgCtl = await pathOfPgCtl()
  const data = join(vault, 'recovered/data')
  const block = codeBlocksOf(guide, 'sh').find(({ code }) => code.includes('recovery_target_time'))
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`
  const script = String(block?.code)
    .replaceAll('/mnt', vault)
    .replaceAll('/var/lib/postgresql/recovered', data)
    .replace('2026-11-21 14:29:59+00', moment)
    .replace('pg_ctl start', `'${pgCtl}' start -w -o "${options}" -l '${data}.log'`)
  expect(script).toContain(moment)
  onTestFinished(async () => void (await run(pgCtl, ['stop', '-m', 'immediate', '-D', data], owner)))
  await run('sh', ['-ec', script], owner).catch((error) => {
    throw new Error(readFileSync(`${data}.log`, 'utf8'), { cause: error })
  })
  const url = `postgres://tester:tester@127.0.0.1:${port}/postgres`
  await expect.poll(() => readValue(url, 'SELECT pg_is_in_recovery()')).toBe('false')
  return url
}

/** A folder that the user of the server may enter and write to. */
function openFolder(path: string): string {
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o777)
  return path
}
