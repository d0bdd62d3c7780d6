import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../engine/test/support/free-port.ts'
import { report } from '../../../engine/test/support/long-form.ts'
import { emptyDatabase, endSessions, query } from '../../../engine/test/support/postgres/databases.ts'
import { runCommand, type Server, waitForOutput, whenListening } from '../../../engine/test/support/process.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { alerts, hasPrometheus } from '../../support/monitoring.ts'
import { commandLine, mintApiKey } from '../../support/petstore.ts'
import { highPriority, scale, startPrometheus } from '../../support/prometheus.ts'

/**
 * The alert rules in a real Prometheus that scrapes real services. Each duration in the rules is a fifteenth.
 * test/endurance/alerts.test.ts tests the true durations, with made-up series.
 */

const key = mintApiKey()
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const rex = { name: 'Rex', categoryId: 7 }

/** Seconds that a busy machine may add to the time that the guide states. */
const slack = 240
/** Until these rules are true, once their cause has begun. BACKUP_EVERY is 20 s. */
const trueAfter: Record<string, number> = { PetstoreWritesRefused: 600 / scale, PetstoreBackupOld: 3 * 20 }

if (hasPrometheus) {
  test('each alert fires in its time and resolves within a minute of the recovery', { timeout: 900_000 }, async () => {
    const prometheus = await startPrometheus()
    type Recover = () => unknown

    /** Provokes alerts, waits until they fire, recovers, and waits until they are resolved. */
    async function check(names: string[], target: string | undefined, provoke: () => Promise<Recover>) {
      const begin = performance.now()
      const seconds = (since: number) => (performance.now() - since) / 1_000
      const figures: Record<string, number[]> = {}
      const recover = await provoke()
      await eachWithin(names, begin, true, (name) => (minutesOf(name) + 1) * (60 / scale) + (trueAfter[name] ?? 0))
      const recovered = performance.now()
      await recover()
      // PetstoreRestarts resolves when the process has run for ten minutes.
      await eachWithin(names, recovered, false, (name) => (name === 'PetstoreRestarts' ? 11 : 1) * (60 / scale))
      seen.push(...names)
      report('Seconds until the alert fired, and until it was resolved', figures)

      async function eachWithin(names: string[], since: number, fires: boolean, limit: (name: string) => number) {
        await Promise.all(
          names.map(async (name) => {
            while ((await prometheus.isFiring(name, target)) !== fires) {
              if (seconds(since) > limit(name) + slack)
                throw new Error(`${name} is ${fires ? 'not firing' : 'not resolved'} after ${seconds(since)} s.`)
              await wait(250)
            }
            figures[name] = [...(figures[name] ?? []), Math.round(seconds(since))]
          }),
        )
      }
    }

    const seen: string[] = []
    const start = (options: StartOptions = {}) => startService(prometheus.addTarget, options)
    await check(['PetstoreMissing'], undefined, async () => () => start())

    const results = await Promise.allSettled([
      stoppedProcess(),
      restartedProcess(),
      brokenSchema(),
      lockedFile(),
      readerAndBackups(),
      busyProcess(),
      output(),
      descriptors(),
      slowPostgres(),
      poolAndConnections(),
    ])
    expect(results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))).toEqual([])
    // These need a disk of their own, and two days.
    const untested = ['PetstoreDiskFilling', 'PetstoreBackupMissing']
    const expected = alerts.map(({ alert }) => alert).filter((alert) => !untested.includes(alert))
    expect(seen.toSorted()).toEqual(expected.toSorted())

    async function stoppedProcess() {
      const { server, target } = await start()
      await check(['PetstoreDown'], target, async () => {
        server.child.kill('SIGSTOP')
        return () => server.child.kill('SIGCONT')
      })
    }

    async function restartedProcess() {
      const { server, target, restart } = await start()
      await check(['PetstoreRestarts'], target, async () => {
        let latest = server
        for (let restarts = 0; restarts < 4; restarts++) {
          // The metric has whole seconds.
          await wait(1_000)
          latest.child.kill('SIGKILL')
          await latest.ended
          latest = await restart()
          const changes = `changes(process_start_time_seconds{instance="${target}"}[10m])`
          await expect.poll(() => prometheus.value(changes)).toBe(restarts + 1)
        }
        return () => {}
      })
    }

    async function brokenSchema() {
      const { target, execute } = await start()
      await check(['PetstoreNotReady', 'PetstoreErrors', 'PetstoreWritesFail'], target, async () => {
        execute('ALTER TABLE pets RENAME TO gone')
        return () => execute('ALTER TABLE gone RENAME TO pets')
      })
    }

    async function lockedFile() {
      const { target, open } = await start()
      await check(['PetstoreWritesRefused'], target, async () => {
        const other = open()
        other.exec('BEGIN IMMEDIATE')
        return () => other.exec('ROLLBACK')
      })
    }

    async function readerAndBackups() {
      const { server, target, open, folder } = await start({ env: { BACKUP_EVERY: '20s', BACKUP_KEEP: '1' } })
      await waitForOutput(server, /("database.backup")/)
      const backups = join(folder, 'data/backups')
      await Promise.all([
        check(['PetstoreBackupOld', 'PetstoreBackupFailing'], target, async () => {
          while (!statSync(backups, { throwIfNoEntry: false })?.isFile()) {
            rmSync(backups, { recursive: true, force: true })
            try {
              writeFileSync(backups, '', { flag: 'wx' })
            } catch {
              // A backup has created the folder again.
            }
          }
          return () => {
            rmSync(backups)
            mkdirSync(backups)
          }
        }),
        check(['PetstoreWriteAheadLogLarge'], target, async () => {
          const [reader, writer] = [open(), open()]
          const path = join(folder, 'data/petstore.db-wal')
          writer.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
            INSERT INTO pets (name, category_id, status) SELECT printf('%0200d', i), 1, 'sold' FROM n`)
          reader.exec('BEGIN; SELECT count(*) FROM pets')
          while (statSync(path).size < 300 * 2 ** 20) writer.exec('UPDATE pets SET category_id = category_id + 1')
          return () => reader.exec('ROLLBACK')
        }),
      ])
    }

    async function busyProcess() {
      const { server, target } = await start({ preload: 'full-heap-on-signal.mjs' })
      await Promise.all([
        check(['PetstoreOverloaded'], target, async () => {
          server.child.kill('SIGUSR2')
          return () => server.child.kill('SIGUSR2')
        }),
        check(['PetstoreEventLoopSlow'], target, async () =>
          repeat(async () => {
            server.child.kill('SIGSTOP')
            await wait(350)
            server.child.kill('SIGCONT')
          }, 350),
        ),
      ])
    }

    async function output() {
      const { server, target } = await start()
      const guess = () => fetch(`${server.url}/v1/pets`, { headers: { authorization: `Bearer ${mintApiKey()}` } })
      await Promise.all([
        check(['PetstoreKeysRejected'], target, async () => repeat(guess, 50)),
        check(['PetstoreOutputDropped'], target, async () => {
          server.child.stdout?.pause()
          const flood = Array.from({ length: 8 }, () => repeat(() => fetch(`${server.url}/v1/pets`), 5))
          return async () => {
            await Promise.all(flood.map((end) => end()))
            server.child.stdout?.resume()
          }
        }),
      ])
    }

    async function descriptors() {
      const { server, target } = await start({ descriptors: 256 })
      const { hostname, port } = new URL(server.url)
      await check(['PetstoreFileDescriptorsLow'], target, async () => {
        let sockets: Socket[] = []
        const open = () =>
          connect(Number(port), hostname)
            .on('error', () => {})
            .resume()
        const end = repeat(async () => {
          // The service closes connections that send nothing.
          sockets = sockets.filter((socket) => !socket.destroyed)
          sockets.push(...Array.from({ length: 100 - sockets.length }, open))
          for (const socket of sockets) socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
        }, 2_000)
        return async () => {
          await end()
          for (const socket of sockets) socket.destroy()
        }
      })
    }

    async function slowPostgres() {
      const url = await emptyDatabase()
      const { server, target } = await start({ env: { DATABASE_URL: url } })
      await query(
        url,
        `CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.8); RETURN NEW; END';
        CREATE TRIGGER slow BEFORE INSERT ON pets FOR EACH ROW WHEN (NEW.name = 'slow') EXECUTE FUNCTION sleep()`,
      )
      const post = (path: string, body: unknown) =>
        fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }).then((each) =>
          each.text(),
        )
      const create = { json: { name: 'Rex', categoryId: '7' }, meta: { values: { categoryId: ['bigint'] } } }
      const batch = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [index, create]))
      const path = `/trpc/${Array.from({ length: 20 }, () => 'pets.create').join(',')}?batch=1`
      await check(['PetstoreSlow', 'PetstoreCommitsSlow', 'PetstoreWriteQueueLong'], target, async () => {
        const slow = repeat(() => post('/v1/pets', { name: 'slow', categoryId: 7 }), 0)
        const flood = Array.from({ length: 80 }, () => repeat(() => post(path, batch), 0))
        return () => Promise.all([slow, ...flood].map((end) => end()))
      })
    }

    async function poolAndConnections() {
      const url = await emptyDatabase()
      const { server, target } = await start({ env: { DATABASE_URL: url, DATABASE_CONNECTIONS: '1' } })
      await check(['PetstorePoolExhausted'], target, async () => {
        const lock = 'BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(1.5); COMMIT'
        const ends = [
          repeat(() => query(url, lock), 0),
          // These reads share no statement and no response.
          ...Array.from({ length: 20 }, (_, id) =>
            repeat(() => fetch(`${server.url}/trpc/pets.counts?id=${id}`, { headers }).then((each) => each.text()), 0),
          ),
        ]
        return () => Promise.all(ends.map((end) => end()))
      })
      await check(['PetstoreConnectionErrors'], target, async () => repeat(() => endSessions(url), 300))
    }
  })
}

interface StartOptions {
  env?: Record<string, string>
  preload?: string
  descriptors?: number
}

/** Starts a service that is scraped, and creates pets in it until the end of the test. */
async function startService(
  addTarget: (target: string) => Promise<void>,
  { env = {}, preload, descriptors }: StartOptions,
) {
  const folder = temporaryFolder()
  const target = `127.0.0.1:${await freePort()}`
  const port = String(await freePort())
  const [node = '', program = ''] = commandLine
  const preloads = preload ? [`--import=${join(import.meta.dirname, '../../support', preload)}`] : []
  const command = [node, ...preloads, program]
  const limited = descriptors ? ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh', ...command] : command
  const variables = {
    PORT: port,
    ADMIN_PORT: target.split(':')[1] ?? '',
    PETSTORE_API_KEY: key,
    DATABASE_URL: 'file:data/petstore.db',
    ...env,
  }
  const restart = (): Promise<Server> =>
    whenListening(runCommand([...highPriority, ...limited], { folder, env: variables }))
  const server = await restart()
  await addTarget(target)
  const create = { method: 'POST', headers, body: JSON.stringify(rex) }
  const end = repeat(
    () => fetch(`${server.url}/v1/pets`, { ...create, signal: AbortSignal.timeout(2_000) }).then((each) => each.text()),
    200,
  )
  onTestFinished(() => end())
  const open = () => {
    const database = new Database(join(folder, 'data/petstore.db'), { timeout: 10_000 })
    onTestFinished(() => void database.close())
    return database
  }
  return { server, target, folder, restart, open, execute: (sql: string) => open().exec(sql).close() }
}

/** Does the work again and again, also after an error, until the returned function is called. */
function repeat(work: () => Promise<unknown>, pause = 200): () => Promise<void> {
  let isRunning = true
  async function run(): Promise<void> {
    while (isRunning) {
      await work().catch(() => {})
      await wait(pause)
    }
  }
  const ended = run()
  return () => {
    isRunning = false
    return ended
  }
}

/** The time that the condition of a rule must last. */
function minutesOf(name: string): number {
  return Number.parseInt(alerts.find(({ alert }) => alert === name)?.for ?? '0', 10)
}
