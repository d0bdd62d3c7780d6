import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { mintApiKey } from '../../server/auth/api-key.ts'
import { openDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { canFreeze, mountFreezableDisk } from '../support/frozen-disk.ts'
import { startLoad } from '../support/load-without-retries.ts'
import { report } from '../support/long-form.ts'
import { runCommand } from '../support/process.ts'
import { canRunSystemd, type Systemd, startSystemd } from '../support/systemd.ts'
import type { AtEnd } from '../support/temporary.ts'
import { canTrace } from '../support/traced.ts'

const key = mintApiKey()
/** Seconds. */
const watchdogTime = 6

describe.runIf(canRunSystemd())('systemd', () => {
  const cleanings: Parameters<AtEnd>[0][] = []
  let systemd: Systemd
  let url: string

  beforeAll(async () => {
    systemd = await startSystemd((clean) => cleanings.push(clean))
  })
  afterAll(async () => {
    for (const clean of cleanings.toReversed()) await clean()
  })

  /** Writes the configuration, and an override of the unit, and stops everything at the end of the test. */
  async function configure(variables = '', override = ''): Promise<void> {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    writeFileSync(join(systemd.etc, 'petstore.env'), `PORT=${port}\nPETSTORE_API_KEY=${key}\n${variables}`)
    const folder = join(systemd.etc, 'systemd/system/petstore.service.d')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'override.conf'), `[Service]\n${override}`)
    await systemctl('daemon-reload')
    onTestFinished(async () => {
      await systemd.run('systemctl', 'stop', 'petstore', 'petstore@*')
      await systemd.run('systemctl', 'reset-failed')
      rmSync(folder, { recursive: true })
    })
  }

  async function systemctl(...words: string[]): Promise<void> {
    const { code, stderr } = await systemd.run('systemctl', ...words)
    expect(code, stderr).toBe(0)
  }

  /** Mounts a file system in the place of the folder of the service, as only systemd and its units see it. */
  async function mountState(...options: string[]): Promise<void> {
    await systemd.run('mkdir', '-p', '/var/lib/petstore')
    const { stderr } = await systemd.run('mount', ...options, '/var/lib/petstore')
    expect(stderr).toBe('')
    onTestFinished(async () => {
      await systemd.run('systemctl', 'stop', 'petstore')
      await systemd.run('umount', '--lazy', '/var/lib/petstore')
    })
  }

  const statusOf = async (path: string) =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).status

  test('systemctl start returns when the service is ready, and the unit stops while the service drains', async () => {
    await configure()
    await systemctl('start', 'petstore')
    expect(await statusOf('/readyz')).toBe(200)
    expect(await systemd.show('petstore', 'ActiveState')).toBe('active')
    await systemd.run('kill', await systemd.show('petstore', 'MainPID'))
    await expect.poll(() => systemd.show('petstore', 'ActiveState'), { interval: 5 }).toBe('deactivating')
    await expect.poll(() => systemd.show('petstore', 'ActiveState')).toBe('inactive')
    expect(await systemd.show('petstore', 'Result')).toBe('success')
  })

  test('systemctl start waits while the disk is full, and the service reads meanwhile', async () => {
    await configure()
    await mountState('-t', 'tmpfs', '-o', 'size=8m', 'none')
    await systemctl('start', 'petstore')
    await systemctl('stop', 'petstore')
    // Leaves room for the index of the write-ahead log, which every start makes, and for less than one write.
    const fill = 'cd /var/lib/petstore; cat /dev/zero > filling; truncate --size=-36K filling'
    await systemd.run('sh', '-c', fill)
    const started = systemctl('start', 'petstore')
    await expect.poll(() => statusOf('/v1/pets').catch(() => 0)).toBe(200)
    await wait(3_000)
    expect([await statusOf('/readyz'), await systemd.show('petstore', 'ActiveState')]).toEqual([503, 'activating'])
    await systemd.run('rm', '/var/lib/petstore/filling')
    await started
    expect(await statusOf('/readyz')).toBe(200)
  })

  test('systemctl start fails for a wrong configuration, and the journal has the reason as an error', async () => {
    await configure('RATE_LIMIT=often\n', 'Restart=no')
    expect((await systemd.run('systemctl', 'start', 'petstore')).code).not.toBe(0)
    const errors = await systemd.journal('petstore', '--priority=err')
    expect(errors.slice(-2)[0]).toContain('RATE_LIMIT: expected a rate')
  })

  test('systemctl reload is refused', async () => {
    await configure()
    await systemctl('start', 'petstore')
    const { code, stderr } = await systemd.run('systemctl', 'reload', 'petstore')
    expect(code).not.toBe(0)
    expect(stderr).toContain('Job type reload is not applicable')
    expect(await systemd.show('petstore', 'ActiveState')).toBe('active')
  })

  test('the watchdog leaves a service alone that is not ready, and the journal has JSON lines with priorities', async () => {
    await configure('', `WatchdogSec=${watchdogTime}`)
    await systemctl('start', 'petstore')
    const processId = await systemd.show('petstore', 'MainPID')
    const database = openDatabase(join(systemd.state, 'petstore.db'))
    database.exec('ALTER TABLE idempotency_keys RENAME TO hidden')
    await expect.poll(() => statusOf('/readyz')).toBe(503)
    await wait(2_000 * watchdogTime)
    database.exec('ALTER TABLE hidden RENAME TO idempotency_keys')
    await expect.poll(() => statusOf('/readyz')).toBe(200)
    expect(await systemd.show('petstore', 'MainPID')).toBe(processId)

    const levelsOf = async (...options: string[]) => {
      const lines = await systemd.journal('petstore', `_PID=${processId}`, ...options)
      return new Set(lines.map((line) => JSON.parse(line).level))
    }
    expect(await levelsOf('--priority=err')).toEqual(new Set(['error']))
    expect(await levelsOf('--priority=warning..warning')).toEqual(new Set(['warn']))
    expect(await levelsOf('--priority=info..info')).toEqual(new Set(['info']))
  })

  test('the watchdog restarts a process that is stopped by SIGSTOP', async () => {
    await configure('', `WatchdogSec=${watchdogTime}`)
    await systemctl('start', 'petstore')
    const processId = await systemd.show('petstore', 'MainPID')
    await wait(1_500 * watchdogTime)
    expect(await systemd.show('petstore', 'MainPID')).toBe(processId)
    const stoppedAt = performance.now()
    await systemd.run('kill', '-STOP', processId)
    await expect.poll(() => systemd.show('petstore', 'NRestarts')).toBe('1')
    await expect.poll(() => systemd.show('petstore', 'ActiveState')).toBe('active')
    report('Restart by the watchdog', { seconds: (performance.now() - stoppedAt) / 1_000, watchdogTime })
    expect(await statusOf('/readyz')).toBe(200)
  })

  test.runIf(canTrace())(
    'the watchdog restarts a service whose writer does not respond, although the disk does',
    async () => {
      await configure('', `WatchdogSec=${watchdogTime}`)
      await systemctl('start', 'petstore')
      const [calls, processId] = ['fdatasync,fsync', String(systemd.hostProcess('petstore'))]
      const delay = ['-e', `trace=${calls}`, '-e', `inject=${calls}:delay_enter=300000000`]
      const strace = runCommand(['strace', '-f', '-o', '/dev/null', ...delay, '-p', processId])
      await expect.poll(() => systemd.show('petstore', 'Result')).toBe('watchdog')
      // A process that strace delays ends only without strace.
      strace.child.kill('SIGKILL')
      await expect.poll(() => systemd.show('petstore', 'NRestarts')).toBe('1')
      await expect.poll(() => statusOf('/readyz').catch(() => 0)).toBe(200)
    },
  )

  test.runIf(canFreeze())('the watchdog leaves a service alone whose disk is frozen', async () => {
    const disk = mountFreezableDisk(onTestFinished)
    await configure('', `WatchdogSec=${watchdogTime}`)
    await mountState(`${disk.folder}/../image`)
    await systemctl('start', 'petstore')
    const processId = await systemd.show('petstore', 'MainPID')
    await wait(1_500)
    disk.freeze()
    try {
      // The writer counts as hanging after ten seconds.
      await wait(10_000 + 2_000 * watchdogTime)
      expect(await statusOf('/v1/pets')).toBe(200)
    } finally {
      disk.thaw()
    }
    await expect.poll(() => statusOf('/readyz')).toBe(200)
    expect(await systemd.show('petstore', 'MainPID')).toBe(processId)
  })

  test('of at least 20,000 requests none fails during two upgrades with petstore@', async () => {
    await configure()
    await systemctl('start', 'petstore@1')
    const load = startLoad(url, key, { keepAlive: () => true })
    for (const [index, release] of ['petstore-next', 'petstore-1.1.0'].entries()) {
      await load.reach((index + 1) * 6_700)
      await systemd.run('ln', '-sfn', release, '/opt/petstore')
      for (const unit of ['petstore@2', 'petstore@1']) {
        await systemctl('restart', unit)
        expect(readFileSync(`/proc/${systemd.hostProcess(unit)}/cmdline`, 'utf8')).toContain(`/opt/${release}/`)
      }
      await systemctl('stop', 'petstore@2')
    }
    await load.reach(20_100)
    await load.stop()
    expect(load.failures).toEqual([])
    const stored = openDatabase(join(systemd.state, 'petstore.db')).prepare('SELECT name FROM pets').pluck().all()
    expect(new Set(stored)).toEqual(new Set(load.acknowledged))
    report('Upgrades with petstore@', { requests: load.requests, failed: load.failures.length })
  })

  test('the timer makes a backup, and deletes those that are older than two weeks', async () => {
    await configure()
    await systemctl('start', 'petstore', 'petstore-backup.timer')
    expect(await systemd.show('petstore-backup.timer', 'NextElapseUSecRealtime')).toMatch(/\d{4}-\d\d-\d\d/)
    await systemctl('start', 'petstore-backup')
    const folder = join(systemd.state, 'backups')
    const first = readdirSync(folder)
    expect(first).toHaveLength(2)
    for (const name of first) utimesSync(join(folder, name), 0, 0)
    await systemctl('start', 'petstore-backup')
    const second = readdirSync(folder)
    expect(second).toHaveLength(2)
    expect(second.filter((name) => first.includes(name))).toEqual([])
  })
})
