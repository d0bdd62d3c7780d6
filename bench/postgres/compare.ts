import { parseArgs } from 'node:util'
import { atLeast, type Claim } from '../claims.ts'
import type { LoadCase } from '../loads.ts'
import { Load, medianOf, type Sample } from '../measure.ts'
import { circumstances, claimTable, percent, table, versions, writeSection } from '../report.ts'
import { type RunningServer, type ServerName, servers, startOnDatabase } from '../servers.ts'
import { type BenchPostgres, startBenchPostgres } from './server.ts'

/**
 * Compares the service on PostgreSQL with a peer, with one and with several instances, on databases of the same server.
 * `--quick` runs one short round and only prints the results.
 */

const { values: options } = parseArgs({
  options: { postgres: { type: 'boolean' }, quick: { type: 'boolean', default: false } },
})
const pets = 10_000
const rounds = options.quick ? 1 : 3
const durations = options.quick ? { warmUp: 150, measured: 450 } : { warmUp: 700, measured: 2_000 }
const names = ['petstore', 'petstore-again', 'fastify-postgres'] as const satisfies ServerName[]
const counts = [1, 3]
const loads = {
  listHot: { title: 'list of 20, hot', workload: 'list-hot', connections: 32 },
  listAny: { title: 'list of any page and limit', workload: 'list-any', connections: 32 },
  get: { title: 'get by id', workload: 'get', connections: 32 },
  create1: { title: 'create, 1 connection', workload: 'create', connections: 1 },
  create32: { title: 'create, 32 connections', workload: 'create', connections: 32 },
  create128: { title: 'create, 128 connections', workload: 'create', connections: 128 },
} as const satisfies Record<string, LoadCase>

type LoadName = keyof typeof loads
interface Setup {
  name: (typeof names)[number]
  instances: number
}

const setups: Setup[] = counts.flatMap((instances) => names.map((name) => ({ name, instances })))
const samples = new Map<string, Sample[]>()
const runs = rounds * setups.reduce((sum, setup) => sum + loadsOf(setup).length, 0)
let done = 0

const postgres = await startBenchPostgres(pets)
const load = new Load()
try {
  for (let round = 0; round < rounds; round++) {
    for (const setup of setups) await measure(setup, postgres)
  }
} finally {
  load.stop()
  await postgres.stop()
}
conclude()

/** The loads with at least one connection for each instance. */
function loadsOf({ instances }: Setup): [LoadName, LoadCase][] {
  // Safe: Object.entries loses the type of the keys.
  return (Object.entries(loads) as [LoadName, LoadCase][]).filter(([, { connections }]) => connections >= instances)
}

async function measure(setup: Setup, { key, cpuTime, ...postgres }: BenchPostgres): Promise<void> {
  const database = await postgres.copyDatabase('bench', { isOwn: setup.name.startsWith('petstore') })
  const instances: RunningServer[] = []
  const sum = (of: (server: RunningServer) => number) => instances.reduce((total, server) => total + of(server), 0)
  try {
    for (let i = 0; i < setup.instances; i++) instances.push(await startOnDatabase(database, setup.name))
    const targets = instances.map(({ port }) => ({ port, key, database, pets }))
    const metered = {
      cpuTime: () => sum((server) => server.cpuTime()),
      databaseCpuTime: cpuTime,
      residentMemory: () => sum((server) => server.residentMemory()),
    }
    for (const [loadName, loadCase] of loadsOf(setup)) {
      note(loadName, setup, await load.measure(metered, targets, loadCase, durations))
      showProgress(`${setup.instances} × ${servers[setup.name]}: ${loadCase.title}`)
    }
  } finally {
    await Promise.all(instances.map((server) => server.stop()))
    await postgres.dropDatabase('bench')
  }
}

function keyOf(loadName: LoadName, { name, instances }: Setup): string {
  return `${loadName} ${name} ${instances}`
}

function note(loadName: LoadName, setup: Setup, sample: Sample): void {
  samples.set(keyOf(loadName, setup), [...(samples.get(keyOf(loadName, setup)) ?? []), sample])
}

function sampleOf(loadName: LoadName, setup: Setup): Sample {
  return medianOf(samples.get(keyOf(loadName, setup)) ?? [])
}

function showProgress(text: string): void {
  done++
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${done} of ${runs}  ${done < runs ? text : ''}`)
}

function conclude(): void {
  const figures = [claimTable(claims()), comparison()]
  process.stdout.write(`${figures.join('\n\n')}\n`)
  if (options.quick) return
  const words = `Medians of ${rounds} rounds. PostgreSQL ${postgres.version}, ${versions(['fastify', 'drizzle-orm', 'pg'])}.`
  writeSection('postgres', [circumstances('npm run bench -- --postgres'), words, ...figures].join('\n\n'))
}

function claims(): Claim[] {
  return [
    atLeast(
      'PostgreSQL: create at 32 connections, one instance: 3 times the peer',
      timesThePeer('create32', { instances: 1 }),
      3,
    ),
    atLeast('PostgreSQL: list of 20: not slower than the peer', timesThePeer('listHot', { instances: 1 }), 1),
  ]
}

function timesThePeer(loadName: LoadName, { instances }: Pick<Setup, 'instances'>): number {
  const rate = (name: Setup['name']) => sampleOf(loadName, { name, instances }).rate
  return rate('petstore') / rate('fastify-postgres')
}

function comparison(): string {
  // Safe: Object.keys loses the type of the keys.
  const rows = (Object.keys(loads) as LoadName[]).flatMap((loadName) =>
    setups
      .filter((setup) => samples.has(keyOf(loadName, setup)))
      .map((setup) => {
        const { rate, cpu, databaseCpu, p50, p99, asleep } = sampleOf(loadName, setup)
        const own = sampleOf(loadName, { ...setup, name: 'petstore' })
        return [
          loads[loadName].title,
          `${setup.instances} × ${servers[setup.name]}`,
          rate.toFixed(0),
          p50.toFixed(2),
          p99.toFixed(2),
          (own.rate / rate).toFixed(2),
          percent(asleep),
          cpu.toFixed(0),
          databaseCpu.toFixed(0),
        ]
      }),
  )
  const speed = ['requests/s', 'p50 ms', 'p99 ms', 'Petstore is × as fast', 'client asleep']
  return table(['Load', 'Server', ...speed, 'CPU µs/request', 'PostgreSQL CPU µs/request'], rows)
}
