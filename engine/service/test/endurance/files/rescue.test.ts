import { existsSync, readdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { FilesLost } from '../../../../store/sqlite/rescue/rescue.ts'
import {
  addingRows,
  makeDatabase,
  prepareSqlite,
  runProgram,
  runToEnd,
  startOnSmallDisk,
  startServer,
} from '../../../../test/notes/fixtures.ts'
import { openFilesOf, waitForOutput } from '../../../../test/support/process.ts'
import { change } from '../../../../test/support/sample-database.ts'
import { canMount } from '../../../../test/support/small-disk.ts'
import { temporaryFolder } from '../../../../test/support/temporary.ts'
import { databaseFiles, rescuedCopies, storedBodies } from '../file-faults.ts'

/** What a running service, a start or a command does when its database is deleted, and what the next start does. */

const saved = /all that it had is saved in (\S+): restore/

/** Runs the service on a database of so many notes. */
async function start(notes: number) {
  const folder = temporaryFolder()
  const path = makeDatabase(join(folder, 'data/notes.db'), notes)
  const server = await startServer({ folder })
  return { folder, path, server }
}

function remove(path: string): void {
  for (const suffix of databaseFiles) rmSync(path + suffix, { force: true })
}

function partialFiles(path: string): string[] {
  return readdirSync(join(path, '..')).filter((name) => name.endsWith('.partial'))
}

describe.for([
  ['before the service has noticed it', []],
  ['while it copies', ['SIGTERM']],
  ['while it copies, twice', ['SIGTERM', 'SIGTERM']],
  ['while it copies', ['SIGHUP', 'SIGINT', 'SIGQUIT']],
] as const)('a signal %s', ([when, signals]) => {
  test(`(${signals.join()}) does not end the process before a deleted database is saved`, async () => {
    const { path, server } = await start(400_000)
    remove(path)
    if (when === 'before the service has noticed it') server.child.kill('SIGTERM')
    else {
      // A busy machine may see the copy only when it is complete.
      const copies = () => partialFiles(path).length + rescuedCopies(path).length
      await expect.poll(copies, { interval: 1 }).toBeGreaterThan(0)
    }
    for (const signal of signals) server.child.kill(signal)
    expect(await server.ended).toBe(1)
    expect(storedBodies(rescuedCopies(path)[0] ?? '')).toHaveLength(400_000)
    expect(saved.exec(server.stdout)?.[1]).toBe(rescuedCopies(path)[0])
    expect(partialFiles(path)).toEqual([])
  })
})

if (canMount()) {
  test('without room for the copy, the service stays, says what it needs, and saves the database when there is room', async () => {
    const { server, rest, folder, makeRoom, fillUp } = await startOnSmallDisk()
    fillUp(4)
    remove(join(folder, 'data/notes.db'))
    const needs = /The database cannot be saved in \S+ yet: it needs 0\.1 MB, and 0\.0 MB are free\./g
    await expect.poll(() => server.stdout).toMatch(needs)
    server.child.kill('SIGTERM')
    const status = async (path: string) => (await fetch(server.url + path)).status
    await expect.poll(() => status('/readyz')).toBe(503)
    expect([await status('/livez'), (await rest.post('/v1/notes', { body: 'late', priority: 1 })).status]).toEqual([
      200, 503,
    ])
    await wait(3_000)
    expect(server.stdout.match(needs)).toHaveLength(1)
    expect(server.child.exitCode).toBeNull()
    makeRoom()
    expect(await server.ended).toBe(1)
    expect(saved.exec(server.stdout)?.[1]).toMatch(/notes\.db\.rescued-/)
  })

  test('without room, the second signal ends the process once the copy has not grown for ten seconds', async () => {
    const { server, folder, fillUp } = await startOnSmallDisk()
    fillUp(4)
    remove(join(folder, 'data/notes.db'))
    await expect.poll(() => server.stdout).toContain('cannot be saved')
    server.child.kill('SIGTERM')
    await waitForOutput(server, /(SIGTERM|stopping)/)
    await wait(2_000)
    server.child.kill('SIGTERM')
    await wait(2_000)
    expect(server.child.signalCode).toBeNull()
    await wait(8_000)
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe('SIGKILL')
  })
}

// The descriptors of a process.
if (existsSync('/proc/self/fd')) {
  test('of a database that cannot be read completely, the rest is saved', async () => {
    const { path, server } = await start(100_000)
    const { size } = statSync(path)
    truncateSync(path, size - 4_096 * 100)
    remove(path)
    expect(await server.ended).toBe(1)
    const [copy = ''] = rescuedCopies(path)
    expect(server.stdout).toContain(`only a part of it could be read`)
    expect(server.stdout).toContain(`is saved in ${copy}: restore a backup, or read the rows with`)
    expect(statSync(copy).size).toBe(size - 4_096 * 100)
    expect(partialFiles(path)).toEqual([])
  })

  test('a database that is deleted while a start opens it is saved', async () => {
    const folder = temporaryFolder()
    const path = makeDatabase(join(folder, 'data/notes.db'), 1_000)
    const other = new Database(path)
    onTestFinished(() => void other.close())
    other.exec('BEGIN IMMEDIATE')
    const starting = runProgram({ folder })
    // Then it waits for the lock.
    await expect.poll(() => openFilesOf(starting.child.pid)).toContain(`${path}-wal`)
    remove(path)
    other.exec('COMMIT')
    expect([await starting.ended, starting.stdout]).toEqual([1, ''])
    expect(starting.stderr).toContain('it was deleted, moved or replaced while it was being opened; all that it had')
    const [copy = ''] = rescuedCopies(path)
    expect(storedBodies(copy)).toHaveLength(1_000)
    other.close()
    await runToEnd({ folder, arguments: ['restore', copy] })
  })
}

test('a database that is deleted while a start reads it is kept open, also if the read fails', () => {
  const path = makeDatabase(join(temporaryFolder(), 'notes.db'), 1_000)
  const { pragma } = Database.prototype
  const spy = vi.spyOn(Database.prototype, 'pragma').mockImplementation(function (this: Database.Database, ...words) {
    if (!words[0].startsWith('quick_check')) return pragma.apply(this, words)
    remove(path)
    throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_READ')
  })
  onTestFinished(() => spy.mockRestore())
  let error: unknown
  try {
    prepareSqlite(path)
  } catch (thrown) {
    error = thrown
  }
  if (!(error instanceof FilesLost)) throw new Error(`Expected that the files are lost, got: ${error}`)
  const { connection } = error.files
  onTestFinished(() => void connection.close())
  expect(connection.open).toBe(true)
})

test('a database that is deleted before a start has opened it is refused with the reason', () => {
  const path = makeDatabase(join(temporaryFolder(), 'notes.db'), 3)
  writeFileSync(`${path}.rescued-2026-11-26T101112.131Z`, '')
  // The warning about the copy comes right before the database is opened.
  const start = () => prepareSqlite(path, { onWarning: () => remove(path) })
  expect(start).toThrow('it was deleted, moved or replaced while it was being opened; restore a backup')
})

describe('beside rescued copies, a database that is', () => {
  const copies = ['2026-11-26T101112.131Z', '2026-11-27T101112.131Z'].map((time) => `notes.db.rescued-${time}`)

  test.for([
    ['missing', () => {}],
    ['empty', (path: string) => writeFileSync(path, '')],
  ] as const)('%s is not created again by any command', async ([, prepare]) => {
    const folder = temporaryFolder()
    const path = join(folder, 'data/notes.db')
    for (const [index, name] of copies.entries())
      change(makeDatabase(join(folder, 'data', name), 2 + index), 'PRAGMA journal_mode = DELETE')
    prepare(path)
    writeFileSync(join(folder, 'notes.csv'), 'body,priority\nOscar,1\n')
    const newest = join(path, '..', copies[1] ?? '')
    for (const words of [
      ['serve'],
      ['keys', 'create', 'shop'],
      ['db', 'migrate'],
      ['notes', 'import', 'notes.csv'],
      ['db', 'status'],
      ['db', 'copy', '--from', `file:${newest}`, '--to', `file:${path}`],
    ]) {
      const run = runProgram({ folder, arguments: words })
      expect([await run.ended, run.stdout], words.join(' ')).toEqual([66, ''])
      for (const name of copies) expect(run.stderr).toContain(name)
      expect(run.stderr).toContain(`restore the newest with "notes restore ${newest}", or, for a new store, move`)
    }
    const doctor = runProgram({ folder, arguments: ['doctor'] })
    expect(await doctor.ended).toBe(1)
    for (const name of copies) expect(doctor.stdout).toContain(name)
    expect(existsSync(path) && statSync(path).size > 0).toBe(false)

    await runToEnd({ folder, arguments: ['restore', newest] })
    const server = await startServer({ folder })
    for (const name of copies) expect(server.stdout).toContain(name)
    expect(storedBodies(path)).toHaveLength(3)
    const warned = await runToEnd({ folder, arguments: ['doctor'] })
    for (const name of copies) expect(warned.stdout).toMatch(new RegExp(`warning +rescued copies .*${name}`))
  })

  test('missing is created again when the copies are moved away', async () => {
    const folder = temporaryFolder()
    const path = makeDatabase(join(folder, 'data/notes.db'), 2)
    change(path, addingRows(1, 'more'))
    renameSync(path, join(path, '..', copies[0] ?? ''))
    remove(path)
    const run = runProgram({ folder })
    expect(await run.ended).toBe(66)
    renameSync(join(path, '..', copies[0] ?? ''), join(folder, 'copy.db'))
    await startServer({ folder })
    expect(storedBodies(path)).toEqual([])
  })
})
