import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { newBackupPath, stampOf, timeInName } from '../../server/ops/backup-name.ts'
import { deleteOldBackups } from '../../server/ops/backup-schedule.ts'
import { type Server, startServer, waitForOutput } from '../support/process.ts'
import { backUp, makeDatabase, namesIn } from '../support/sample-database.ts'
import { temporaryFolder } from '../support/temporary.ts'

test('the service backs itself up, keeps the newest and deletes no file of anyone else', async () => {
  const { folder, backups } = makeService()
  const others = [
    'petstore.db-notes.db',
    'petstore.db-2020-01-01T000000.000Z.db',
    'petstore-2020-01-01T000000.000Z.scheduled.db',
    'shop.db-2020-01-01T000000.000Z.scheduled.db',
  ]
  for (const name of others) writeFileSync(join(backups, name), 'precious')
  const old = 'petstore.db-2020-01-01T000000.000Z.scheduled.db'
  writeFileSync(join(backups, old), '')
  const byHand = await backUp(folder)
  const server = await startServer({ folder, env: { BACKUP_EVERY: '1s', BACKUP_KEEP: '2' } })
  const made = await backupsLogged(server, 4)
  await stop(server)
  const left = readdirSync(backups).map((name) => join(backups, name))
  expect(left).toEqual(expect.arrayContaining([byHand, ...others.map((name) => join(backups, name))]))
  const scheduled = left.filter((path) => /^petstore\.db-.*\.scheduled\.db$/.test(basename(path)))
  expect(scheduled).not.toContain(join(backups, old))
  expect(scheduled.length).toBe(2)
  expect(scheduled).not.toContain(made[0]?.path)
  expect(namesIn(scheduled[0] ?? '')).toEqual(['pet 1', 'pet 2', 'pet 3'])
}, 60_000)

test('backups named after the present are neither newest nor deleted, and the new backup stays', async () => {
  const { folder, backups } = makeService()
  const present = basename(newBackupPath(join(folder, 'data/petstore.db'), '.scheduled.db'))
  const future = ['2098', '2099'].map((year) => present.replace(/-20\d\d-/, `-${year}-`))
  for (const name of future) writeFileSync(join(backups, name), '')
  const server = await startServer({ folder, env: { BACKUP_EVERY: '1s', BACKUP_KEEP: '1' } })
  const made = await backupsLogged(server, 2)
  await stop(server)
  expect(readdirSync(backups)).toEqual(expect.arrayContaining(future))
  expect(readdirSync(backups).length).toBe(3)
  expect(namesIn(made.at(-1)?.path ?? '')).toEqual(['pet 1', 'pet 2', 'pet 3'])
})

test('the backup just made stays, even if the clock went forward while it was made', () => {
  const { folder, backups } = makeService()
  const stamps = ['2026-01-01', '2026-01-02', '2026-01-03'].map((day) => `${day}T000000.000Z`)
  const [made = '', older = '', newest = ''] = stamps.map((stamp) => join(backups, `petstore.db-${stamp}.scheduled.db`))
  for (const path of [made, older, newest]) writeFileSync(path, '')
  deleteOldBackups(join(folder, 'data/petstore.db'), { made, keep: 2 })
  expect(readdirSync(backups)).toEqual([basename(made), basename(newest)])
})

test('two databases whose names differ only in the extension keep their own backups', async () => {
  const { folder, backups } = makeService()
  makeDatabase(join(folder, 'data/petstore.sqlite'), 1, 'other')
  for (const name of ['petstore.db', 'petstore.sqlite']) {
    const env = { DATABASE_URL: `file:data/${name}`, BACKUP_EVERY: '1s', BACKUP_KEEP: '1' }
    const server = await startServer({ folder, env })
    await backupsLogged(server, 1)
    await stop(server)
  }
  const left = readdirSync(backups).toSorted()
  expect(left.map((name) => namesIn(join(backups, name))[0])).toEqual(['pet 1', 'other 1'])
})

test('a backup is logged with its path, its size and how long it took', async () => {
  const { folder, backups } = makeService()
  const server = await startServer({ folder, env: { BACKUP_EVERY: '1d' } })
  const [made] = await backupsLogged(server, 1)
  const [name = ''] = readdirSync(backups)
  expect(made).toMatchObject({
    level: 30,
    path: join(backups, name),
    bytes: statSync(join(backups, name)).size,
    milliseconds: expect.any(Number),
  })
})

test('a restart does not begin the interval anew', async () => {
  const { folder, backups } = makeService()
  const old = new Date(Date.now() - 3_600_000)
  writeFileSync(join(backups, `petstore.db-${stampOf(old)}.scheduled.db`), '')
  const early = await startServer({ folder, env: { BACKUP_EVERY: '9w' } })
  await wait(1_500)
  await stop(early)
  expect(readdirSync(backups).length).toBe(1)
  const due = await startServer({ folder, env: { BACKUP_EVERY: '1h' } })
  expect((await backupsLogged(due, 1)).length).toBe(1)
}, 60_000)

test('a backup that fails is logged as an error, and the service goes on', async () => {
  const folder = temporaryFolder()
  makeDatabase(join(folder, 'data/petstore.db'), 3)
  writeFileSync(join(folder, 'data/backups'), 'in the way')
  const server = await startServer({ folder, env: { BACKUP_EVERY: '1s' } })
  await waitForOutput(server, /("level":50[^\n]*"backup failed".*"backup failed")/s)
  expect((await fetch(`${server.url}/v1/pets`)).status).toBe(401)
  await stop(server)
})

test('a shutdown abandons the backup under way, and leaves nothing of it', async () => {
  const folder = temporaryFolder()
  makeDatabase(join(folder, 'data/petstore.db'), 300_000)
  const backups = join(folder, 'data/backups')
  const server = await startServer({ folder, env: { BACKUP_EVERY: '1h' } })
  while (!existsSync(backups) || !readdirSync(backups).some((name) => sizeOf(join(backups, name)) > 0)) await wait(1)
  await stop(server)
  expect(server.stdout).not.toContain('backup')
  expect(readdirSync(backups)).toEqual([])
})

test.for([
  'petstore.db-2026-11-21T043000.123Z.db',
  'petstore.db-2026-13-21T043000.123Z.scheduled.db',
  'petstore.db-.scheduled.db',
  'petstore-2026-11-21T043000.123Z.scheduled.db',
])('%s is no name of a scheduled backup', (name) => {
  expect(timeInName(name, '/data/petstore.db', '.scheduled.db')).toBeUndefined()
})

test('the time of a backup is in its name', () => {
  const before = Date.now()
  const path = newBackupPath('/data/petstore.db', '.scheduled.db')
  const time = timeInName(path.slice('/data/backups/'.length), '/data/petstore.db', '.scheduled.db') ?? 0
  expect(time).toBeGreaterThanOrEqual(before)
  expect(time).toBeLessThanOrEqual(Date.now())
})

function makeService() {
  const folder = temporaryFolder()
  makeDatabase(join(folder, 'data/petstore.db'), 3)
  const backups = join(folder, 'data/backups')
  mkdirSync(backups)
  return { folder, backups }
}

interface Logged {
  level: number
  path: string
}

async function backupsLogged(server: Server, count: number): Promise<Logged[]> {
  await waitForOutput(server, new RegExp(`(${'"backup made".*'.repeat(count)})`, 's'))
  const lines = server.stdout.split('\n').filter((line) => line.includes('"backup made"'))
  return lines.map((line) => JSON.parse(line) as Logged)
}

async function stop(server: Server): Promise<void> {
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  expect(server.stderr).toBe('')
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
