import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { claimsOf, type Results } from './claims.ts'
import { makeDatabase } from './database.ts'
import { createLoads, type LoadCase, restLoads, restServers, rpcLoads, rpcServers, slowDiskLoads } from './loads.ts'
import { Load, medianOf, type Sample } from './measure.ts'
import { circumstances, claimTable, isChosen, percent, showProgress, table, versions, writeSection } from './report.ts'
import { type RunningServer, requireTool, type ServerName, servers, slowDisk, startServer } from './servers.ts'

/**
 * Compares the service with other servers. `--quick` runs one short round and only prints the results, and so does a
 * selection such as `--loads get,listCold --servers petstore,fastify`.
 */

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    loads: { type: 'string' },
    servers: { type: 'string' },
  },
})
const isWhole = options.loads === undefined && options.servers === undefined
const pets = 10_000
const untilStopped = 1_000_000
const rounds = options.quick ? 1 : 3
const durations = options.quick ? { warmUp: 150, measured: 450 } : { warmUp: 700, measured: 2_000 }

interface Group {
  loads: Record<string, LoadCase>
  names: ServerName[]
  under?: string[]
}

const allGroups: Group[] = [
  { loads: restLoads, names: restServers },
  { loads: createLoads, names: ['group-commit'] },
  { loads: slowDiskLoads, names: restServers, under: slowDisk },
  { loads: rpcLoads, names: rpcServers },
]
const groups = allGroups.map(({ loads, names, ...group }) => ({
  loads: Object.fromEntries(Object.entries(loads).filter(([name]) => isChosen(name, options.loads))),
  names: names.filter((name) => isChosen(name, options.servers)),
  ...group,
}))

requireTool('strace')
const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
const template = join(folder, 'template.db')
const key = makeDatabase(template, pets)
const [load, writers] = [new Load(), new Load()]
const samples = new Map<string, Map<ServerName, Sample[]>>()
const runs = rounds * groups.reduce((sum, { loads, names }) => sum + Object.keys(loads).length * names.length, 0)
let done = 0

try {
  for (let round = 0; round < rounds; round++) {
    for (const group of groups) await runGroup(group)
  }
} finally {
  load.stop()
  writers.stop()
  showProgress('')
  rmSync(folder, { recursive: true, force: true })
}
conclude()

async function runGroup({ loads, names, under = [] }: Group): Promise<void> {
  if (Object.keys(loads).length === 0) return
  for (const name of names) {
    const server = await startServer(name, template, { under })
    try {
      for (const [loadName, loadCase] of Object.entries(loads)) {
        note(loadName, name, await measure(server, loadCase))
        showProgress(`${++done} of ${runs}  ${servers[name]}: ${loadCase.title}`)
      }
    } finally {
      await server.stop()
    }
  }
}

async function measure(server: RunningServer, { beside, ...loadCase }: LoadCase): Promise<Sample> {
  const target = { port: server.port, key, database: server.database, pets }
  const writing = beside && writers.run({ ...beside, targets: [target], milliseconds: untilStopped })
  const sample = await load.measure(server, [target], loadCase, durations)
  writers.endRun()
  await writing
  return sample
}

function note(loadName: string, name: ServerName, sample: Sample): void {
  const ofLoad = samples.get(loadName) ?? new Map<ServerName, Sample[]>()
  samples.set(loadName, ofLoad.set(name, [...(ofLoad.get(name) ?? []), sample]))
}

function conclude(): void {
  const results = Object.fromEntries(
    [...samples].map(([name, ofLoad]) => [
      name,
      Object.fromEntries([...ofLoad].map(([server, all]) => [server, medianOf(all)])),
    ]),
    // Safe: each load of a group was measured with each server of the group.
  ) as Results
  const figures = comparison(results)
  if (!isWhole) return void process.stdout.write(`\n${figures}\n`)
  const claims = claimTable(claimsOf(results))
  process.stdout.write(`\n${figures}\n\n${claims}\n`)
  if (options.quick) return
  const peers = versions([
    'fastify',
    'fastify-type-provider-zod',
    '@orpc/openapi',
    'hono',
    '@hono/zod-openapi',
    'trpc-to-openapi',
    '@nestjs/core',
    '@trpc/server',
    'better-sqlite3',
    'zod',
  ])
  writeSection(
    'peers',
    [circumstances('npm run bench'), `Medians of ${rounds} rounds. ${peers}.`, claims, figures].join('\n\n'),
  )
}

function comparison(results: Results): string {
  const all: Record<string, LoadCase> = { ...restLoads, ...slowDiskLoads, ...rpcLoads }
  const rows = Object.entries(results).flatMap(([loadName, ofLoad]) => {
    const own = ofLoad.petstore
    const { title = loadName, workload, beside } = all[loadName] ?? {}
    return Object.entries(ofLoad).map(([server, { rate, cpu, p50, p99, asleep }]) => {
      const speed = [
        rate.toFixed(0),
        p50.toFixed(2),
        p99.toFixed(2),
        own ? (own.rate / rate).toFixed(2) : '',
        percent(asleep),
      ]
      const effort = [cpu.toFixed(0), own ? (cpu / own.cpu).toFixed(2) : '']
      return [
        title,
        // Safe: Object.entries loses the type of the keys.
        servers[server as ServerName],
        // No rates: this load generator itself is slow, because it changes the database before each request.
        ...(workload === 'list-cold' ? speed.map(() => '') : speed),
        // No CPU time: it includes that of the other load.
        ...(beside ? effort.map(() => '') : effort),
      ]
    })
  })
  const speed = ['requests/s', 'p50 ms', 'p99 ms', 'Petstore is × as fast', 'client asleep']
  return table(['Load', 'Server', ...speed, 'CPU µs/request', '× CPU of Petstore'], rows)
}
