import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { definition } from '../../db/store.ts'
import { verify } from '../../engine/service/commands/backup.ts'
import { change, contentsOf } from '../../engine/test/support/sample-database.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { makeBackup, makeDatabase, onSqlite, runProgram, runToEnd } from '../support/petstore.ts'

const newest = onSqlite.migrations.at(-1)?.name
const older = '0002_deletable_pets'

test('backup verify shows what a backup contains, needs no database, and changes nothing', async () => {
  const { backup } = await makeBackup()
  chmodSync(backup, 0o400)
  const before = contentsOf(dirname(backup))
  const run = runProgram({ folder: temporaryFolder(), arguments: ['backup', 'verify', backup, '--json'] })
  expect([await run.ended, run.stderr]).toEqual([0, ''])
  expect(JSON.parse(run.stdout)).toMatchObject({
    location: backup,
    checksum: 'matches',
    schema: newest,
    pending: [],
    bytes: { database: statSync(backup).size },
    rows: { pets: 3, keys: 0 },
    newestIds: { pets: 3, keys: null },
  })
  const text = runProgram({ folder: temporaryFolder(), arguments: ['backup', 'verify', backup] })
  expect([await text.ended, text.stderr]).toEqual([0, ''])
  expect(text.stdout).toMatch(/^Database +\S+ \(SQLite\)\n.*\nPets +3 \(newest id 3\)\n.*\nChecksum +matches\n$/s)
  expect(contentsOf(dirname(backup))).toEqual(before)
})

test('the newest id has all its digits', async () => {
  const folder = temporaryFolder()
  const path = makeDatabase(join(folder, 'copy.db'), 3)
  change(path, "PRAGMA journal_mode = DELETE; INSERT INTO pets VALUES (9007199254740993, 'Rex', 7, 'sold')")
  const run = await runToEnd({ folder, arguments: ['backup', 'verify', 'copy.db', '--json'] })
  expect(run.stdout).toContain('"pets": 9007199254740993')
})

test('a backup without a checksum is verified with a note', async () => {
  const { folder, backup } = await makeBackup()
  rmSync(`${backup}.sha256`)
  const run = runProgram({ folder, arguments: ['backup', 'verify', backup] })
  expect([await run.ended, run.stderr]).toEqual([0, expect.stringMatching(/^There is no checksum .*\.sha256, so it/)])
  expect(run.stdout).toMatch(/\nChecksum +missing\n$/)
})

test('the backup of an older release is verified, and its pending migrations are shown', async () => {
  const names = onSqlite.migrations.map(({ name }) => name)
  const backup = join(temporaryFolder(), 'backup.db')
  copyFileSync(join(import.meta.dirname, `../fixtures/sqlite/${older}.db`), backup)
  change(backup, 'PRAGMA journal_mode = DELETE')
  const pending = names.slice(names.indexOf(older) + 1)
  expect(await verify(definition, backup)).toMatchObject({ pending, checksum: 'missing' })
})

test('verify refuses a backup without a table, which the service could not use', async () => {
  const file = makeDatabase(join(temporaryFolder(), 'copy.db'), 3)
  change(file, 'DROP TABLE idempotency_keys')
  await expect(verify(definition, file)).rejects.toThrow('restore a backup, or put the missing part back')
})

test.for([['backup', 'verify'], ['restore']])('%j refuses a missing backup, and creates nothing', async (words) => {
  const folder = temporaryFolder()
  const run = runProgram({ folder, arguments: [...words, 'nowhere.db'] })
  const message = `There is no backup ${join(folder, 'nowhere.db')}. Check the path.\n`
  expect([await run.ended, run.stderr, readdirSync(folder)]).toEqual([1, message, []])
})

test('a backup can be named verify', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data'))
  copyFileSync(makeDatabase(join(folder, 'sample.db'), 1), join(folder, 'data/petstore.db'))
  const run = runProgram({ folder, arguments: ['backup', './verify'] })
  expect([await run.ended, run.stdout]).toEqual([0, `${join(folder, 'verify')}\n`])
})
