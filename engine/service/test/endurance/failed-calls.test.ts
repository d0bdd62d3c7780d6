import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  addingRows,
  commandLine,
  createFirstKey,
  makeDatabase,
  rowsIn,
  startServer,
} from '../../../test/notes/fixtures.ts'
import { logLinesIn, notesIn } from '../../../test/support/log-lines.ts'
import { runCommand } from '../../../test/support/process.ts'
import { connectRestClient } from '../../../test/support/rest-client.ts'
import { change } from '../../../test/support/sample-database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { attachStrace, canTrace, failingCalls, strace } from '../../../test/support/traced.ts'

/** What clients and the operator see if system calls on the files of the database fail. */
interface Expected {
  /** The statuses of reads, of creates, and of the readiness check. A 503 of these always has `Retry-After`. */
  reads: number[]
  creates: number[]
  ready: number[]
  /** The reason in the log, if any request fails. */
  logged?: string
  /** The reason why a start, a migration and a backup fail. */
  start: string
  migration: string
  backup: string | undefined
}

const unreadable = 'the disk cannot read it; check the disk'
const checkDisk = 'disk I/O error; check the disk, its quota, and the permissions of the file and its folder'
const noDescriptor = 'no file descriptor is left; raise the limit (ulimit -n, or LimitNOFILE of systemd)'
/** Neither requests nor the readiness check open, extend or map a file. */
const unaffected = { reads: [200], creates: [201], ready: [200] }
const noWrites = { reads: [200], creates: [503], ready: [503] }

const faults: [calls: string, error: string, expected: Expected][] = [
  [
    'pread64',
    'EIO',
    {
      ...{ reads: [503], creates: [503], ready: [503], logged: unreadable },
      ...{ start: unreadable, migration: unreadable, backup: unreadable },
    },
  ],
  [
    'pread64',
    'EIO:when=20+20',
    {
      ...{ reads: [200], creates: [201, 503], ready: [200, 503], logged: unreadable },
      ...{ start: unreadable, migration: unreadable, backup: unreadable },
    },
  ],
  ['openat', 'EMFILE', { ...unaffected, start: noDescriptor, migration: noDescriptor, backup: noDescriptor }],
  ['pwrite64', 'EIO', { ...noWrites, logged: `${checkDisk} (SQLITE_IOERR_WRITE)`, ...startsWith(checkDisk) }],
  [
    'pwrite64',
    'ENOSPC',
    { ...noWrites, logged: 'the disk is full; free some space (SQLITE_FULL)', ...startsWith(checkDisk) },
  ],
  [
    'fsync,fdatasync',
    'EIO',
    // A start and a backup of a database that is up to date write nothing into it.
    {
      ...{ ...noWrites, logged: `${checkDisk} (SQLITE_IOERR_FSYNC)` },
      ...{ start: '', migration: checkDisk, backup: undefined },
    },
  ],
  ['ftruncate', 'EIO', { ...unaffected, ...startsWith(checkDisk) }],
  ['mmap', 'ENOMEM', { ...unaffected, ...startsWith(checkDisk) }],
]

function startsWith(reason: string) {
  return { start: reason, migration: reason, backup: reason }
}

// Only strace can make system calls fail.
if (canTrace()) {
  describe.for(faults)('while %s fails with %s', ([calls, error, expected]) => {
    test('requests and the log say what happened, and requests succeed afterwards', async () => {
      const { folder, path, key } = await makeFolder()
      const server = await startServer({ folder })
      const client = connectRestClient(server.url, key)
      let acknowledged = 0
      const create = async () => {
        const response = await client.post('/v1/notes', { body: 'Ann', priority: 1 })
        if (response.status === 201) acknowledged++
        return response
      }
      expect((await create()).status).toBe(201)
      const detach = await attachStrace(server.child.pid, failingCalls(path, calls, error))
      server.stdout = ''
      const outcomes = { reads: new Set<number>(), creates: new Set<number>(), ready: new Set<number>() }
      const record = async (kind: keyof typeof outcomes, request: ReturnType<typeof create>) => {
        const { status, headers, body } = await request
        outcomes[kind].add(status)
        if (status === 503) expect([headers['retry-after'], body]).toMatchObject(['1', { code: 'unavailable' }])
      }
      // Few of these pages are in a cache.
      for (let id = 1; id < 20_000; id += 250) await record('reads', client.get(`/v1/notes/${id}`))
      for (let i = 0; i < 20; i++) await record('creates', create())
      // The start has checked the store, and /readyz does so at most once a second.
      await wait(1_000)
      await record('ready', client.get('/readyz'))
      for (const [kind, statuses] of Object.entries(outcomes)) {
        expect(expected[kind as keyof typeof outcomes], kind).toEqual(expect.arrayContaining([...statuses]))
      }
      const faults = logLinesIn(server.stdout).filter(({ level }) => level === 'error')
      // SQLite has one code for a page that the disk cannot read and for a corrupt one.
      const reason = `(it is corrupt, or )?${RegExp.escape(expected.logged ?? '-')}`
      for (const { msg } of faults) expect(msg).toMatch(RegExp(`The database cannot be used: ${reason}`))
      if (!outcomes.creates.has(201)) expect(faults).not.toEqual([])
      await detach()
      await expect.poll(async () => (await create()).status).toBe(201)
      await expect.poll(async () => (await client.get('/readyz')).status).toBe(200)
      expect(rowsIn(path)).toHaveLength(20_000 + acknowledged)
    })

    test('a start, a migration and a backup say what happened', async () => {
      const { folder, path } = await makeFolder()
      const older = join(temporaryFolder(), 'notes.db')
      change(
        makeDatabase(older, 0),
        "DROP TABLE notes; DROP TABLE books; DELETE FROM migrations WHERE name = '0001_notes'",
      )
      const run = (database: string, ...words: string[]) => {
        const env = { DATABASE_URL: `file:${database}` }
        const command = [...strace(...failingCalls(database, calls, error)), ...commandLine, ...words]
        return runCommand(command, { folder, env })
      }
      const refusal = (database: string, reason: string) =>
        expect.stringMatching(
          RegExp(`^The database ${database} cannot be used: ${RegExp.escape(reason)}[^;\\n]*\\.\n$`),
        )
      const migration = run(older, 'db', 'migrate')
      const backup = run(path, 'backup', join(folder, 'copy.db'))
      expect([await migration.ended, notesIn(migration.stderr)]).toEqual([1, refusal(older, expected.migration)])
      expect([await backup.ended, notesIn(backup.stderr)]).toEqual(
        expected.backup === undefined ? [0, ''] : [1, refusal(path, expected.backup)],
      )
      if (expected.start === '') return
      const start = run(path)
      expect([await start.ended, start.stderr]).toEqual([1, refusal(path, expected.start)])
    })
  })
}

/** A database of 20,000 notes with an API key. */
async function makeFolder(): Promise<{ folder: string; path: string; key: string }> {
  const folder = temporaryFolder()
  const path = join(folder, 'data/notes.db')
  const key = await createFirstKey(folder)
  change(path, addingRows(20_000, 'note'))
  return { folder, path, key }
}
