import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import {
  backUp,
  makeDatabase,
  openFileStore,
  restore,
  rowsIn,
  runToEnd,
  startLoad,
  startServer,
  startTestApi,
  startWithKey,
  textsIn,
} from '../../../test/notes/fixtures.ts'
import { readMetric } from '../../../test/support/metrics.ts'
import { stopService, waitForOutput } from '../../../test/support/process.ts'
import { change } from '../../../test/support/sample-database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { expectIntact } from './file-faults.ts'

const large = makeDatabase(join(temporaryFolder(afterAll), 'large.db'), 150_000)

test('a backup made under eight writers and restored elsewhere holds every note that was acknowledged before', async () => {
  const folder = temporaryFolder()
  const original = makeDatabase(join(folder, 'data/notes.db'), 2_000)
  change(original, 'DELETE FROM notes WHERE id % 100 = 0')
  const { server, key } = await startWithKey({}, folder)
  const load = startLoad(server.url, key, { count: 8 })
  await expect.poll(() => load.acknowledged.length).toBeGreaterThan(100)
  const before = [...load.acknowledged]
  const run = await runToEnd({ folder, arguments: ['backup'] })
  await load.stop()
  expect(load.acknowledged.length).toBeGreaterThan(before.length)

  const elsewhere = temporaryFolder()
  await restore(elsewhere, run.stdout.trimEnd())
  const restored = rowsIn(join(elsewhere, 'data/notes.db'))
  const lastId = restored.at(-1)?.id ?? 0
  expect(new Set(before).difference(new Set(restored.map(({ body }) => body)))).toEqual(new Set())
  expect(restored).toEqual(rowsIn(original).filter(({ id }) => id <= lastId))

  const { rest } = await startTestApi({ store: openFileStore(join(elsewhere, 'data/notes.db')), key })
  expect(await rest.post('/v1/notes', { body: 'Ann', priority: 1 })).toMatchObject({ status: 201 })
  expect(rowsIn(join(elsewhere, 'data/notes.db')).at(-1)?.id).toBeGreaterThan(lastId)
  expectIntact(join(elsewhere, 'data/notes.db'))
})

test('a backup holds what a killed service had only in its log', async () => {
  const { server, folder, rest } = await startWithKey()
  await rest.post('/v1/notes', { body: 'Ann', priority: 1 })
  server.child.kill('SIGKILL')
  await server.ended
  expect(textsIn(await backUp(folder))).toEqual(['Ann'])
})

test('a backup of a large database does not delay readers', async () => {
  const { server, rest } = await startWithKey({ BACKUP_EVERY: '1s' }, copyLarge())
  const durations = () =>
    [...server.stdout.matchAll(/"database\.backup".*"milliseconds":(\d+),"msg":"audit"/g)].map(([, time]) =>
      Number(time),
    )
  const shares: number[] = []
  for (let backups = 1; backups <= 3; backups++) {
    const times: number[] = []
    while (durations().length < backups) {
      const begin = performance.now()
      expect((await rest.get('/v1/notes')).status).toBe(200)
      times.push(performance.now() - begin)
    }
    expect(times.length).toBeGreaterThan(5)
    shares.push(Math.max(...times) / Number(durations()[backups - 1]))
  }
  // The check of the copy alone takes more than half of the time. Each backup would delay a read, and a busy machine delays some.
  expect(Math.min(...shares)).toBeLessThan(1 / 2)
})

test('a shutdown cancels a scheduled backup and leaves nothing of it', async () => {
  const folder = copyLarge()
  const backups = join(folder, 'data/backups')
  const server = await startServer({ folder, env: { BACKUP_EVERY: '1h' } })
  while (!existsSync(backups) || readdirSync(backups).length === 0) await wait(1)
  await stopService(server)
  expect(server.stderr).toBe('')
  expect(server.stdout).not.toContain('backup')
  expect(readdirSync(backups)).toEqual([])
})

test('scheduled backups that fail are counted', async () => {
  const folder = temporaryFolder()
  makeDatabase(join(folder, 'data/notes.db'), 1)
  writeFileSync(join(folder, 'data/backups'), 'in the way')
  const server = await startServer({ folder, env: { BACKUP_EVERY: '1h', ADMIN_PORT: '0' } })
  const admin = await waitForOutput(server, /metrics and health at (http:[^"\s]+)/)
  const failures = async () =>
    readMetric(await (await fetch(`${admin}/metrics`)).text(), 'notes_backup_failed_attempts')
  await expect.poll(failures).toBe(1)
})

function copyLarge(): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data'))
  copyFileSync(large, join(folder, 'data/notes.db'))
  return folder
}
