import { parseArgs } from 'node:util'
import type { LoadCase } from '../loads.ts'
import { Load, type Sample } from '../measure.ts'
import { circumstances, showProgress, table, writeSection } from '../report.ts'
import { type RunningServer, startOnDatabase } from '../servers.ts'
import { type LockUse, measureHold, watchLock } from './lock.ts'
import { type BenchPostgres, connect, startBenchPostgres } from './server.ts'

/**
 * Measures 1 to 8 instances of the service on one PostgreSQL, each with clients of its own, and the advisory lock that orders
 * ids. `--quick` is a short run that only prints the results.
 */

const { values: options } = parseArgs({
  options: { instances: { type: 'boolean' }, quick: { type: 'boolean', default: false } },
})
const pets = 10_000
const counts = [1, 2, 4, 8]
const connectionsEach = 32
const durations = options.quick ? { warmUp: 300, measured: 1_000 } : { warmUp: 4_000, measured: 10_000 }
const repetitions = options.quick ? 20 : 200
const loads = {
  create: { title: 'create', workload: 'create' },
  get: { title: 'get by id', workload: 'get' },
} as const satisfies Record<string, Pick<LoadCase, 'title' | 'workload'>>

/** Milliseconds that each commit takes longer. PostgreSQL waits before it writes to the disk, and holds the lock. */
const delays = [0, 5]

interface Row {
  title: string
  instances: number
  sample: Sample
  /** Of creates. */
  lock?: { use: LockUse; petsEach: number; hold: number }
}

const rows: Row[] = []
const postgres = await startBenchPostgres(pets)
const load = new Load()
try {
  for (const delay of delays) {
    for (const instances of counts) await measure(postgres, instances, delay)
  }
} finally {
  load.stop()
  await postgres.stop()
}
conclude()

async function measure({ url, key, ...postgres }: BenchPostgres, count: number, delay: number): Promise<void> {
  const database = await postgres.copyDatabase('bench', { isOwn: true })
  await delayCommits(url, delay)
  const instances: RunningServer[] = []
  const sum = (of: (server: RunningServer) => number) => instances.reduce((total, server) => total + of(server), 0)
  try {
    for (let i = 0; i < count; i++) instances.push(await startOnDatabase(database, 'petstore'))
    const targets = instances.map(({ port }) => ({ port, key, database, pets }))
    const metered = {
      cpuTime: () => sum((server) => server.cpuTime()),
      databaseCpuTime: postgres.cpuTime,
      residentMemory: () => sum((server) => server.residentMemory()),
    }
    for (const { title, workload } of Object.values(loads)) {
      if (delay > 0 && workload !== 'create') continue
      showProgress(`${count} × ${title}, commits + ${delay} ms`)
      const connections = connectionsEach * count
      await load.run({ workload, connections, targets, milliseconds: durations.warmUp })
      const stop = await watchLock(url, 'bench')
      const sample = await load.measure(metered, targets, { workload, connections }, { ...durations, warmUp: 1 })
      const use = await stop()
      const row: Row = { title: delay > 0 ? `${title}, commits + ${delay} ms` : title, instances: count, sample }
      if (workload === 'create') row.lock = await explain(database, use, sample)
      rows.push(row)
    }
  } finally {
    await Promise.all(instances.map((server) => server.stop()))
    await postgres.dropDatabase('bench')
  }
}

/** Measures the lock alone, with transactions of the mean size in the load. */
async function explain(database: string, use: LockUse, { rate }: Sample) {
  const petsEach = (rate * (durations.measured / 1_000)) / use.transactions
  return { use, petsEach, hold: await measureHold(database, Math.max(1, Math.round(petsEach)), repetitions) }
}

async function delayCommits(url: string, milliseconds: number): Promise<void> {
  const client = await connect(url)
  await client.query(`ALTER DATABASE bench SET commit_delay = ${milliseconds * 1_000}`)
  await client.query('ALTER DATABASE bench SET commit_siblings = 0')
  await client.end()
}

function conclude(): void {
  showProgress('')
  const figures = [speeds(), locks()].join('\n\n')
  process.stdout.write(`${figures}\n`)
  if (options.quick) return
  const words = `One round of ${durations.measured / 1_000} s each. PostgreSQL ${postgres.version}.`
  writeSection('instances', [circumstances('npm run bench -- --instances'), words, figures].join('\n\n'))
}

function speeds(): string {
  const cells = rows.map(({ title, instances, sample: { rate, p50, p99, cpu, databaseCpu } }) => [
    title,
    ...[instances, rate.toFixed(0), p50.toFixed(1), p99.toFixed(1), cpu.toFixed(0), databaseCpu.toFixed(0)].map(String),
  ])
  const head = ['Load', 'Instances', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'PostgreSQL CPU µs/request']
  return table(head, cells)
}

function locks(): string {
  const cells = rows.flatMap(({ title, instances, sample, lock }) => {
    if (!lock) return []
    const { use, petsEach, hold } = lock
    const limit = (petsEach / hold) * 1_000
    const percent = (share: number) => `${(100 * share).toFixed(0)} %`
    const inLoad = (use.held * durations.measured) / use.transactions
    const figures = [petsEach.toFixed(1), hold.toFixed(2), inLoad.toFixed(2), limit.toFixed(0), sample.rate.toFixed(0)]
    return [
      [title, String(instances), ...figures, percent(sample.rate / limit), percent(use.held), use.waiting.toFixed(1)],
    ]
  })
  const calculated = [
    'pets each',
    'lock held alone, ms',
    'in the load, ms',
    'calculated creates/s',
    'measured',
    'measured / calculated',
  ]
  return table(['Load', 'Instances', ...calculated, 'time the lock is held', 'transactions waiting'], cells)
}
