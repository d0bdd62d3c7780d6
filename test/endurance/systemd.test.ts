import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listBackups } from '../../engine/store/sqlite/backup/inventory.ts'
import { openDatabase } from '../../engine/test/support/database.ts'
import { freePort } from '../../engine/test/support/free-port.ts'
import { canFreeze, mountFreezableDisk } from '../../engine/test/support/frozen-disk.ts'
import { report } from '../../engine/test/support/long-form.ts'
import { query } from '../../engine/test/support/postgres/databases.ts'
import { type PostgresServer, startPostgres } from '../../engine/test/support/postgres/server.ts'
import { share } from '../../engine/test/support/share.ts'
import { codeBlocksOf, document, read } from '../support/documents.ts'
import { createInTwoParts, mintApiKey, startLoad } from '../support/petstore.ts'
import { canRunSystemd, startSystemd } from '../support/systemd.ts'

const key = mintApiKey()
/** Seconds. */
const watchdogTime = 6
/** The first one is on SQLite. The other one is on PostgreSQL after `configureOnPostgres`. */
const bothUnits = ['petstore', 'petstore@2']
/** Of an upgrade with petstore@. */
const upgrade =
  codeBlocksOf(document('docs/guides/upgrades.md'), 'sh').find(({ code }) => code.includes('petstore@'))?.code ?? ''

describe.runIf(canRunSystemd())('systemd', () => {
  const systemd = share(startSystemd)
  let url: string

  /** Writes the configuration, and an override of the unit, and stops everything at the end of the test. */
  async function configure(variables = '', override = ''): Promise<void> {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    writeFileSync(join(systemd().etc, 'petstore.env'), `PORT=${port}\nPETSTORE_API_KEY=${key}\n${variables}`)
    const folder = join(systemd().etc, 'systemd/system/petstore.service.d')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'override.conf'), `[Service]\n${override}`)
    await systemctl('daemon-reload')
    onTestFinished(async () => {
      await systemd().run('systemctl', 'stop', 'petstore', 'petstore@*')
      await systemd().run('systemctl', 'reset-failed')
      rmSync(folder, { recursive: true })
      rmSync(systemd().state, { recursive: true, force: true })
      await systemd().run('ln', '-sfn', 'petstore-2.0.0', '/opt/petstore')
    })
  }

  async function systemctl(command: string, ...units: string[]): Promise<void> {
    const { code } = await systemd().run('systemctl', command, ...units)
    if (code === 0) return
    const journals = await Promise.all(units.map((unit) => systemd().journal(unit)))
    throw new Error(`systemctl ${command} ${units.join(' ')} failed. ${journals.flat().join('\n')}`)
  }

  /** Mounts a file system in the place of the folder of the service, as only systemd and its units see it. */
  async function mountState(...options: string[]): Promise<void> {
    await systemd().run('mkdir', '-p', '/var/lib/petstore')
    const { stderr } = await systemd().run('mount', ...options, '/var/lib/petstore')
    expect(stderr).toBe('')
    onTestFinished(async () => {
      await systemd().run('systemctl', 'stop', 'petstore')
      await systemd().run('umount', '--lazy', '/var/lib/petstore')
    })
  }

  /** Writes the configuration of petstore@2, on a PostgreSQL and a port of its own. */
  async function configureOnPostgres(override: string): Promise<{ server: PostgresServer; url: string }> {
    const [server, port] = [await startPostgres(), await freePort()]
    onTestFinished(() => server.stop())
    writeFileSync(join(systemd().etc, 'postgres.env'), `PORT=${port}\nDATABASE_URL=${server.url}\n`)
    const file = join(systemd().etc, 'systemd/system/petstore@2.service.d/override.conf')
    mkdirSync(dirname(file))
    writeFileSync(file, `[Service]\nEnvironmentFile=/etc/postgres.env\n${override}`)
    await systemctl('daemon-reload')
    onTestFinished(async () => {
      rmSync(dirname(file), { recursive: true })
    })
    return { server, url: `http://127.0.0.1:${port}` }
  }

  const processIds = () => Promise.all(bothUnits.map((unit) => systemd().show(unit, 'MainPID')))

  const statusOf = async (path: string, of = url) =>
    (await fetch(of + path, { headers: { authorization: `Bearer ${key}` } })).status

  test('systemctl start returns when the service is ready, and the unit stops while the service drains', async () => {
    await configure()
    await systemctl('start', 'petstore')
    expect(await statusOf('/readyz')).toBe(200)
    expect(await systemd().show('petstore', 'ActiveState')).toBe('active')
    // The service drains until this request is complete.
    const create = createInTwoParts(url, key, new Agent(), 'Rex')
    await create.begun
    await systemd().run('kill', await systemd().show('petstore', 'MainPID'))
    await expect.poll(() => systemd().show('petstore', 'ActiveState')).toBe('deactivating')
    create.finish()
    expect(await create.response).toMatchObject({ status: 201 })
    await expect.poll(() => systemd().show('petstore', 'ActiveState')).toBe('inactive')
    expect(await systemd().show('petstore', 'Result')).toBe('success')
  })

  test('systemctl start waits while the disk is full, and the service reads meanwhile', async () => {
    await configure()
    await mountState('-t', 'tmpfs', '-o', 'size=8m', 'none')
    await systemctl('start', 'petstore')
    await systemctl('stop', 'petstore')
    // Leaves room for the index of the write-ahead log, which every start makes, and for less than one write.
    const fill = 'cd /var/lib/petstore; cat /dev/zero > filling; truncate --size=-36K filling'
    await systemd().run('sh', '-c', fill)
    const started = systemctl('start', 'petstore')
    await expect.poll(() => statusOf('/v1/pets').catch(() => 0)).toBe(200)
    await wait(3_000)
    expect([await statusOf('/readyz'), await systemd().show('petstore', 'ActiveState')]).toEqual([503, 'activating'])
    await systemd().run('rm', '/var/lib/petstore/filling')
    await started
    expect(await statusOf('/readyz')).toBe(200)
  })

  test('systemctl start fails for a wrong configuration, and the journal has the reason as an error', async () => {
    await configure('RATE_LIMIT=often\n', 'Restart=no')
    expect((await systemd().run('systemctl', 'start', 'petstore')).code).not.toBe(0)
    await expect
      .poll(() => systemd().journal('petstore', '--priority=err'))
      .toContainEqual(expect.stringContaining('RATE_LIMIT: expected a rate'))
  })

  test('commands that are run as the guide shows have the environment of the service, and its password is not in ps', async () => {
    const definition = /^run\(\) \{\n.*?^\}\n/ms.exec(read('docs/guides/deployment.md'))?.[0]
    await configure('PGPASSWORD=secret\n')
    await systemctl('start', 'petstore')
    // The pipes of systemd-run need D-Bus, which does not run here.
    const start = definition?.replace('--quiet --pipe --wait ', '')
    const run = (command: string) => systemd().run('sh', '-c', `${start}run ${command}`)
    expect(await run('/opt/petstore/node_modules/.bin/petstore keys create shop')).toMatchObject({ code: 0 })
    const keys = openDatabase(join(systemd().state, 'petstore.db')).prepare('SELECT name FROM api_keys').pluck()
    await expect.poll(() => keys.all()).toContain('shop')
    const shown = '(id --user --name; printenv PGPASSWORD; ps -e -o args; echo end) > /var/lib/petstore/shown'
    await run(`sh -c "${shown}"`)
    const output = () => readFileSync(join(systemd().state, 'shown'), 'utf8')
    await expect.poll(output).toMatch(/^petstore\nsecret\n.*\nend\n$/s)
    expect(output().match(/secret/g)).toHaveLength(1)
  })

  test('systemctl reload is refused', async () => {
    await configure()
    await systemctl('start', 'petstore')
    const { code, stderr } = await systemd().run('systemctl', 'reload', 'petstore')
    expect(code).not.toBe(0)
    expect(stderr).toContain('Job type reload is not applicable')
    expect(await systemd().show('petstore', 'ActiveState')).toBe('active')
  })

  test('the watchdog leaves services alone that are not ready, and the journal has JSON lines with priorities', async () => {
    await configure('', `WatchdogSec=${watchdogTime}`)
    const postgres = await configureOnPostgres(`WatchdogSec=${watchdogTime}`)
    await systemctl('start', ...bothUnits)
    const started = await processIds()
    const database = openDatabase(join(systemd().state, 'petstore.db'))
    database.exec('ALTER TABLE idempotency_keys RENAME TO hidden')
    await postgres.server.stop()
    for (const each of [url, postgres.url]) await expect.poll(() => statusOf('/readyz', each)).toBe(503)
    await wait(1_500 * watchdogTime)
    database.exec('ALTER TABLE hidden RENAME TO idempotency_keys')
    await expect.poll(() => statusOf('/readyz')).toBe(200)
    expect(await processIds()).toEqual(started)

    const levelsOf = async (...options: string[]) => {
      const lines = await systemd().journal('petstore', `_PID=${started[0]}`, ...options)
      return new Set(lines.map((line) => JSON.parse(line).level))
    }
    await expect.poll(() => levelsOf('--priority=err')).toEqual(new Set(['error']))
    await expect.poll(() => levelsOf('--priority=warning..warning')).toEqual(new Set(['warn']))
    await expect.poll(() => levelsOf('--priority=info..info')).toEqual(new Set(['info']))
  })

  test('the watchdog restarts processes that are stopped by SIGSTOP', async () => {
    await configure('', `WatchdogSec=${watchdogTime}`)
    const postgres = await configureOnPostgres(`WatchdogSec=${watchdogTime}`)
    await systemctl('start', ...bothUnits)
    const stoppedAt = performance.now()
    await systemd().run('kill', '-STOP', ...(await processIds()))
    for (const unit of bothUnits) {
      await expect.poll(() => systemd().show(unit, 'NRestarts')).toBe('1')
      await expect.poll(() => systemd().show(unit, 'ActiveState')).toBe('active')
    }
    report('Restart by the watchdog', { seconds: (performance.now() - stoppedAt) / 1_000, watchdogTime })
    for (const each of [url, postgres.url]) expect(await statusOf('/readyz', each)).toBe(200)
  })

  test.runIf(canFreeze())('the watchdog leaves a service alone whose disk is frozen', async () => {
    const disk = mountFreezableDisk(onTestFinished)
    await configure('', `WatchdogSec=${watchdogTime}`)
    await mountState(`${disk.folder}/../image`)
    await systemctl('start', 'petstore')
    const processId = await systemd().show('petstore', 'MainPID')
    await wait(1_500)
    disk.freeze()
    try {
      // The writer counts as hanging after ten seconds.
      await wait(10_000 + 1_500 * watchdogTime)
      expect(await statusOf('/v1/pets')).toBe(200)
    } finally {
      disk.thaw()
    }
    await expect.poll(() => statusOf('/readyz')).toBe(200)
    expect(await systemd().show('petstore', 'MainPID')).toBe(processId)
  })

  test.for(['SQLite', 'PostgreSQL'])(
    'of at least 20,000 requests none fails during two upgrades with petstore@ on %s, of which one migrates',
    async (kind) => {
      const server = kind === 'PostgreSQL' ? await startPostgres() : undefined
      onTestFinished(() => server?.stop())
      // The template overrides the first two.
      await configure(`ADMIN_PORT=9464\nREUSE_PORT=false\n${server ? `DATABASE_URL=${server.url}\n` : ''}`)
      await systemctl('start', 'petstore@1')
      if (server) await systemctl('start', 'petstore@2')
      // The drain closes the connection of a caller that a busy machine does not run for half a second.
      setPriority(-15)
      onTestFinished(() => setPriority(0))
      const load = startLoad(url, key, { keepAlive: () => true })
      for (const [index, release] of ['petstore-2.0.1', 'petstore-next'].entries()) {
        await load.reach((index + 1) * 6_700)
        const { code, stderr } = await systemd().run(
          'sh',
          '-c',
          upgrade.replace('/opt/petstore-2.0.0', `/opt/${release}`),
        )
        expect([code, stderr]).toEqual([0, ''])
        for (const unit of ['petstore@2', 'petstore@1'])
          expect(readFileSync(`/proc/${systemd().hostProcess(unit)}/cmdline`, 'utf8')).toContain(`/opt/${release}/`)
        if (!server) await systemctl('stop', 'petstore@2')
      }
      await load.reach(20_100)
      await load.stop()
      expect([load.failures, load.resets]).toEqual([[], 0])
      const rows = server
        ? await query(server.url, 'SELECT * FROM pets')
        : openDatabase(join(systemd().state, 'petstore.db'))
            .prepare<[], Record<string, unknown>>('SELECT * FROM pets')
            .all()
      expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(load.acknowledged))
      expect(rows[0]).toHaveProperty('note')
      report(`Upgrades with petstore@ on ${kind}`, { requests: load.requests, failed: load.failures.length })
    },
  )

  test('the timer makes scheduled backups, deletes those older than two weeks, and copies them as the guide shows', async () => {
    await configure()
    await systemctl('start', 'petstore', 'petstore-backup.timer')
    expect(await systemd().show('petstore-backup.timer', 'NextElapseUSecRealtime')).toMatch(/\d{4}-\d\d-\d\d/)
    const database = join(systemd().state, 'petstore.db')
    await systemd().run('env', `DATABASE_URL=file:${database}`, '/opt/petstore/node_modules/.bin/petstore', 'backup')
    const [manual] = await listBackups(database)
    await systemctl('start', 'petstore-backup')
    const [scheduled, ...others] = await listBackups(database)
    expect([scheduled?.isScheduled, others]).toEqual([true, [manual]])
    const [{ code: copying = '' } = {}] = codeBlocksOf(document('docs/guides/backups.md'), 'ini')
    const dropIn = join(systemd().etc, 'systemd/system/petstore-backup.service.d')
    mkdirSync(dropIn)
    writeFileSync(join(dropIn, 'copy.conf'), copying.replace(/rclone copy backups .*/, 'cp --recursive backups vault'))
    await systemctl('daemon-reload')
    const folder = join(systemd().state, 'backups')
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), 0, 0)
    await systemctl('start', 'petstore-backup')
    const [latest, ...kept] = await listBackups(database)
    expect([latest?.isScheduled, kept]).toEqual([true, [manual]])
    expect(latest).not.toEqual(scheduled)
    // Each has its checksum.
    expect(readdirSync(folder)).toHaveLength(4)
    expect(readdirSync(join(systemd().state, 'vault'))).toEqual(readdirSync(folder))
  })
})
