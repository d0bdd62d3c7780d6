import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addingRows, createFirstKey, startLoad, startServer } from '../../../../test/notes/fixtures.ts'
import { report } from '../../../../test/support/long-form.ts'
import { runCommand } from '../../../../test/support/process.ts'
import { change } from '../../../../test/support/sample-database.ts'
import { temporaryFolder } from '../../../../test/support/temporary.ts'
import { expectIntact, storedBodies } from '../file-faults.ts'

/** What people do with the file of a running service, in one session of `sqlite3` each. */
const operations: [name: string, script: string][] = [
  ['read the rows', 'SELECT count(*), max(length(body)) FROM notes;'],
  ['dump the database', '.output dump.sql\n.dump'],
  ['delete 45,000 of 150,000 rows, then VACUUM', 'DELETE FROM notes WHERE id <= 45000; VACUUM;'],
  [
    'auto_vacuum = FULL with VACUUM, then delete rows',
    'PRAGMA auto_vacuum = FULL; VACUUM; DELETE FROM notes WHERE id <= 60000;',
  ],
  [
    'incremental_vacuum',
    'PRAGMA auto_vacuum = INCREMENTAL; DELETE FROM notes WHERE id <= 70000; PRAGMA incremental_vacuum;',
  ],
  ['REINDEX', 'REINDEX;'],
  ...['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE'].map((mode): [string, string] => [
    `wal_checkpoint(${mode})`,
    `PRAGMA wal_checkpoint(${mode});`,
  ]),
  ['.backup', '.backup backup.db'],
  ['VACUUM INTO', "VACUUM INTO 'vacuumed.db';"],
  [
    'edit a row as DB Browser does, and keep the savepoint open',
    "SAVEPOINT RESTOREPOINT; UPDATE notes SET body = 'by hand' WHERE id = 90000;\n.shell sleep 1\nRELEASE RESTOREPOINT;",
  ],
  ['keep a read transaction open', 'BEGIN; SELECT count(*) FROM notes;\n.shell sleep 3\nCOMMIT;'],
  ['keep a write transaction open, and undo it', 'BEGIN IMMEDIATE; DELETE FROM notes;\n.shell sleep 1\nROLLBACK;'],
  ['optimize and ANALYZE', 'PRAGMA optimize; ANALYZE;'],
  ['integrity_check', 'PRAGMA integrity_check;'],
  ['change the user version', 'PRAGMA user_version = 7;'],
]

test('no operation of sqlite3 on the file makes a request of readers and writers fail', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'data/notes.db')
  const key = await createFirstKey(folder)
  change(path, addingRows(150_000, 'note'))
  const server = await startServer({ folder })
  const load = startLoad(server.url, key, { count: 4, keepAlive: () => true })
  for (const [operation, script] of operations) {
    const begin = performance.now()
    writeFileSync(join(folder, 'script'), script)
    const shell = runCommand(['sh', '-c', 'exec sqlite3 -bail -cmd ".timeout 20000" "$0" <script', path], { folder })
    expect([await shell.ended, shell.stderr], operation).toEqual([0, ''])
    report('sqlite3', { operation, milliseconds: Math.round(performance.now() - begin), requests: load.requests })
    await load.reach(load.requests + 20)
    expect(load.failures, operation).toEqual([])
  }
  await load.stop()
  expect(server.child.exitCode).toBeNull()
  const stored = new Set(storedBodies(path))
  expect(load.acknowledged.filter((name) => !stored.has(name))).toEqual([])
  expectIntact(path)
}, 300_000)
