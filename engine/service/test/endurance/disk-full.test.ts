import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  changedRows,
  commandLine,
  expectAsAcknowledged,
  mintApiKey,
  startChanges,
  startOnSmallDisk,
} from '../../../test/notes/fixtures.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { report } from '../../../test/support/long-form.ts'
import { runCommand, whenListening } from '../../../test/support/process.ts'
import { connectRestClient } from '../../../test/support/rest-client.ts'
import { canMount, inNamespace } from '../../../test/support/small-disk.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

// Needs a disk of its own.
if (canMount()) {
  test('when the disk fills up under load, exactly what was acknowledged is stored, and calls succeed again once there is room', async () => {
    const { server, key, rest, copyDatabase, makeRoom } = await startOnSmallDisk()
    const load = startChanges({
      writers: 16,
      hasKeys: false,
      padding: 200,
      connect: () => connectRestClient(server.url, key),
    })
    await expect.poll(() => load.statuses.get(503) ?? 0).toBeGreaterThan(100)
    expect((await rest.get('/v1/notes')).status).toBe(200)

    const before = load.calls
    makeRoom()
    await expect.poll(() => load.calls).toBeGreaterThan(before + 200)
    await load.stop()

    expect([...load.statuses.keys()].toSorted()).toEqual([200, 201, 503])
    expect(load.withoutRetryAfter).toBe(0)
    const database = openDatabase(copyDatabase())
    const figures = expectAsAcknowledged(load, database.prepare<[], object>(changedRows).all())
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(server.child.exitCode).toBeNull()
    report('Disk full', { ...figures, refused: load.statuses.get(503) })
  })

  test('a disk with less room than the log takes between two checkpoints stores every note', async () => {
    const { rest } = await startOnSmallDisk()
    const statuses = new Set<number>()
    // Each one adds about three pages to the log, and 2 MiB are free.
    for (let i = 0; i < 300; i++) statuses.add((await rest.post('/v1/notes', { body: `Ann ${i}`, priority: 1 })).status)
    expect([...statuses]).toEqual([201])
  })

  test('a service that was stopped while the disk was full starts again and reads, also if others have taken the room', async () => {
    const [folder, output, key] = [temporaryFolder(), join(temporaryFolder(), 'output'), mintApiKey()]
    const script = `
      mount -t tmpfs -o size=8m none ${folder}
      cd ${folder}
      fill() { dd if=/dev/zero of=$1 bs=4096 status=none 2>/dev/null || true; }
      "$@" >${output} 2>&1 &
      until grep -q listening ${output}; do sleep 0.1; done
      fill ballast
      kill $!
      wait $!
      fill more
      exec "$@"`
    const env = { NOTES_API_KEY: key }
    const { url } = await whenListening(runCommand(inNamespace(script, commandLine), { env }))
    const { get, post } = connectRestClient(url, key)
    expect((await get('/v1/notes')).status).toBe(200)
    // Some creates find room in the log that the first process has left.
    const create = async () => (await post('/v1/notes', { body: 'Ann', priority: 1 })).status
    await expect.poll(create, { interval: 0 }).toBe(503)
  })

  test('a file system that does not report its size is not taken for a full one', async () => {
    const folder = temporaryFolder()
    const script = `
      mount -t tmpfs -o size=0 none ${folder}
      cd ${folder}
      "$@" db migrate >&2
      ls data`
    const run = runCommand(inNamespace(script, commandLine))
    expect([await run.ended, run.stdout]).toEqual([0, 'notes.db\n'])
  })

  // SQLite cannot create the index of the log (-shm) then, and reports an I/O error.
  test.for([
    ['a database', 0],
    ['a database', 5],
    ['no database', 0],
    ['no database', 5],
  ] as const)('a start on a disk with %s and %s free blocks says that the disk is full', async ([content, blocks]) => {
    const folder = temporaryFolder()
    const script = `
      mount -t tmpfs -o size=8m none ${folder}
      cd ${folder}
      [ '${content}' = 'no database' ] || "$@" db migrate 2>/dev/null
      dd if=/dev/zero of=ballast bs=4096 status=none 2>/dev/null || truncate -s -$((4096 * ${blocks})) ballast
      exec "$@"`
    const run = runCommand(inNamespace(script, commandLine))
    expect([await run.ended, run.stderr]).toEqual([
      1,
      `The database ${folder}/data/notes.db cannot be used: the disk is full; free some space.\n`,
    ])
  })
}
