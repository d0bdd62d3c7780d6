import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { report } from '../../../engine/test/support/long-form.ts'
import { runCommand } from '../../../engine/test/support/process.ts'
import { connectRestClient } from '../../../engine/test/support/rest-client.ts'
import { change } from '../../../engine/test/support/sample-database.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { expectIntact, storedNames } from '../../support/file-faults.ts'
import { addingRows, createFirstKey, startServer } from '../../support/petstore.ts'

/** What people do with the file of a running service, in one session of `sqlite3` each. */
const operations: [name: string, script: string][] = [
  ['read the rows', 'SELECT count(*), max(length(name)) FROM pets;'],
  ['dump the database', '.output dump.sql\n.dump'],
  ['delete 45,000 of 150,000 rows, then VACUUM', 'DELETE FROM pets WHERE id <= 45000; VACUUM;'],
  [
    'auto_vacuum = FULL with VACUUM, then delete rows',
    'PRAGMA auto_vacuum = FULL; VACUUM; DELETE FROM pets WHERE id <= 60000;',
  ],
  [
    'incremental_vacuum',
    'PRAGMA auto_vacuum = INCREMENTAL; DELETE FROM pets WHERE id <= 70000; PRAGMA incremental_vacuum;',
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
    "SAVEPOINT RESTOREPOINT; UPDATE pets SET name = 'by hand' WHERE id = 90000;\n.shell sleep 1\nRELEASE RESTOREPOINT;",
  ],
  ['keep a read transaction open', 'BEGIN; SELECT count(*) FROM pets;\n.shell sleep 3\nCOMMIT;'],
  ['keep a write transaction open, and undo it', 'BEGIN IMMEDIATE; DELETE FROM pets;\n.shell sleep 1\nROLLBACK;'],
  ['optimize and ANALYZE', 'PRAGMA optimize; ANALYZE;'],
  ['integrity_check', 'PRAGMA integrity_check;'],
  ['change the user version', 'PRAGMA user_version = 7;'],
]

const readers = 2
const writers = 2

test('no operation of sqlite3 on the file makes a request of readers and writers fail', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'data/petstore.db')
  const key = await createFirstKey(folder)
  change(path, addingRows(150_000, 'pet'))
  const server = await startServer({ folder })
  const load = startLoad(server.url, key)
  const results: Record<string, unknown>[] = []
  for (const [operation, script] of operations) {
    const before = load.succeeded
    const begin = performance.now()
    writeFileSync(join(folder, 'script'), script)
    const shell = runCommand(['sh', '-c', 'exec sqlite3 -bail -cmd ".timeout 20000" "$0" <script', path], { folder })
    const exit = await shell.ended
    const milliseconds = Math.round(performance.now() - begin)
    await load.reach(20)
    results.push({
      ...{ operation, exit, said: shell.stderr, failed: load.failed.splice(0), milliseconds },
      ...{ succeeded: load.succeeded - before, longest: load.takeLongest() },
    })
  }
  await load.stop()
  for (const result of results) report('sqlite3', result)
  expect(results.filter(({ exit, failed }) => exit !== 0 || (failed as unknown[]).length > 0)).toEqual([])
  expect(server.child.exitCode).toBeNull()
  const stored = new Set(storedNames(path))
  expect(load.acknowledged.filter((name) => !stored.has(name))).toEqual([])
  expectIntact(path)
}, 300_000)

/** Callers that read and create pets until the end, without repeating a request that fails. */
function startLoad(url: string, key: string) {
  const load = { acknowledged: [] as string[], failed: [] as string[], succeeded: 0, takeLongest, reach, stop }
  let longest = 0
  let isStopping = false

  async function send(request: () => ReturnType<ReturnType<typeof connectRestClient>['get']>): Promise<boolean> {
    const begin = performance.now()
    const { status, text } = await request().catch((error: Error) => ({ status: 0, text: String(error) }))
    longest = Math.max(longest, Math.round(performance.now() - begin))
    if (status === 200 || status === 201) load.succeeded++
    else load.failed.push(`${status} ${text}`)
    await wait(5)
    return status === 201
  }
  async function write(writer: number): Promise<void> {
    const caller = connectRestClient(url, key)
    for (let i = 0; !isStopping; i++) {
      const name = `${writer}-${i}`
      if (await send(() => caller.post('/v1/pets', { name, categoryId: 1 }))) load.acknowledged.push(name)
    }
  }
  async function read(reader: number): Promise<void> {
    const caller = connectRestClient(url, key)
    for (let i = 0; !isStopping; i++) {
      await send(() => caller.get(`/v1/pets?limit=50&cursor=${(i * 997 + reader) % 150_000}`))
      // The operations do not delete these.
      await send(() => caller.get(`/v1/pets/${100_000 + ((i * 991) % 50_000)}`))
    }
  }
  const all = Promise.all([
    ...Array.from({ length: writers }, (_, index) => write(index)),
    ...Array.from({ length: readers }, (_, index) => read(index)),
  ])

  /** The longest time of a request since the last call, in milliseconds. */
  function takeLongest(): number {
    const taken = longest
    longest = 0
    return taken
  }
  /** Waits until this many more requests have ended. */
  async function reach(count: number): Promise<void> {
    const enough = load.succeeded + load.failed.length + count
    while (load.succeeded + load.failed.length < enough) await wait(5)
  }
  async function stop(): Promise<void> {
    isStopping = true
    await all
  }
  onTestFinished(stop)
  return load
}
