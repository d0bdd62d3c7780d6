import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Finding } from '../../server/ops/doctor/finding.ts'
import { openDatabase } from '../support/database.ts'
import { canFreeze, mountFreezableDisk } from '../support/frozen-disk.ts'
import { bannerKey, petstore, runCommand, runPetstore, startServer, waitForOutput } from '../support/process.ts'
import { makeDatabase } from '../support/sample-database.ts'
import { temporaryFolder } from '../support/temporary.ts'

test('the doctor reports the write lock of another process, and what the running service says of it', async () => {
  const folder = temporaryFolder()
  const url = await startReady(folder)
  const other = openDatabase(join(folder, 'data/petstore.db'))
  other.exec('BEGIN IMMEDIATE')
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503)
  const bad = await examine(folder, url)
  expect(bad).toEqual([
    { check: 'writable', status: 'failure', message: expect.stringContaining('another process holds its lock; stop') },
    {
      check: 'service',
      status: 'failure',
      message: expect.stringMatching(
        /^The service is not ready: http:\S+\/readyz responds 503 and says: [A-Z].*\. See its log for the cause\.$/,
      ),
    },
  ])
})

// Needs the rights to mount and freeze a file system.
if (canFreeze()) {
  test('the doctor reports a frozen disk in time, and leaves no file', async () => {
    const disk = mountFreezableDisk(onTestFinished)
    const url = await startReady(disk.folder)
    disk.freeze()
    try {
      const bad = await examine(disk.folder, url)
      expect(bad.map(({ check }) => check)).toEqual(['writable', 'service'])
      expect(bad[0]?.message).toMatch(/ did not complete a write within 10 s, .*\(fsfreeze --unfreeze\)/)
    } finally {
      disk.thaw()
    }
    await expect
      .poll(() => readdirSync(join(disk.folder, 'data')).filter((name) => name.endsWith('.partial')))
      .toEqual([])
  })
}

// Only root may run a command as another user.
if (
  spawnSync('setpriv', ['--reuid=65534', '--clear-groups', process.execPath, petstore[1] ?? '', '--version']).status ===
  0
) {
  test('the doctor says in sentences what another user may not read', async () => {
    const folder = temporaryFolder()
    makeDatabase(join(folder, 'data/petstore.db'), 3)
    chmodSync(folder, 0o755)
    const words = ['setpriv', '--reuid=65534', '--clear-groups', ...petstore, 'doctor', '--json']
    const run = runCommand(words, { folder, env: { PORT: '0', BACKUP_EVERY: '1h' } })
    expect([await run.ended, run.stderr]).toEqual([1, ''])
    const bad = badIn(run.stdout)
    expect(bad.map(({ check }) => check)).toContain('database')
    for (const { message } of bad) {
      expect(message).not.toMatch(/\bE[A-Z]{4,}\b/)
      expect(message).toMatch(/^[A-Z/].*\.$/)
    }
  })
}

/** Starts the service, and waits until it has written its first key. */
async function startReady(folder: string): Promise<string> {
  const server = await startServer({ folder })
  await waitForOutput(server, bannerKey)
  return server.url
}

async function examine(folder: string, url: string): Promise<Finding[]> {
  const run = runPetstore({ folder, env: { PORT: new URL(url).port }, arguments: ['doctor', '--json'] })
  expect([await run.ended, run.stderr]).toEqual([1, ''])
  return badIn(run.stdout)
}

function badIn(output: string): Finding[] {
  const findings: Finding[] = JSON.parse(output)
  return findings.filter(({ status }) => status !== 'ok')
}
