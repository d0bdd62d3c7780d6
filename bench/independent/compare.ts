import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeDatabase } from '../database.ts'
import { Load } from '../measure.ts'
import { circumstances, isChosen, showProgress, versions, writeSection } from '../report.ts'
import { type RunningServer, requireTool, type ServerName, servers, startServer } from '../servers.ts'
import type { Target } from '../workloads.ts'
import { goalTable } from './goals.ts'
import { type Group, groups, type IndependentLoad } from './loads.ts'
import { expectSameResponses } from './same-responses.ts'
import { measureSlice, type Round, type Slice } from './slices.ts'
import { closedLoopTable, type Measured, openLoopTable } from './tables.ts'
import { wrkVersion } from './wrk.ts'

/**
 * Compares the service with other servers under requests that arrive independently. The servers of a group run at the same
 * time and are measured in turn, in short slices, so that a change of the machine's speed affects all of them.
 * `--quick` runs short slices and only prints the results, and so does a selection with `--loads` or `--servers`.
 */

const { values: options } = parseArgs({
  options: {
    independent: { type: 'boolean' },
    quick: { type: 'boolean', default: false },
    loads: { type: 'string' },
    servers: { type: 'string' },
  },
})
/** More pets than the response cache has room for, so that a random page is rarely in it. */
const pets = 100_000
const { rounds, seconds, warmUp } = options.quick
  ? { rounds: 3, seconds: 1, warmUp: 3 }
  : { rounds: 6, seconds: 2, warmUp: 10 }

const chosen: Group[] = groups.map(({ loads, ...group }) => ({ ...group, loads: chosenLoads(loads) }))
const slices = chosen.flatMap(({ loads }) => Object.values(loads).flatMap((load) => load.servers)).length * rounds
let done = 0

requireTool('wrk')
requireTool('strace')
const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
const template = join(folder, 'template.db')
const key = makeDatabase(template, pets)
const generator = new Load()
const results = new Map<string, Round[]>()

try {
  for (const group of chosen) await runGroup(group)
} finally {
  generator.stop()
  rmSync(folder, { recursive: true, force: true })
  showProgress('')
}
conclude()

function chosenLoads(loads: Group['loads']): Group['loads'] {
  return Object.fromEntries(
    Object.entries(loads)
      .filter(([name]) => isChosen(name, options.loads))
      .map(([name, load]) => [
        name,
        { ...load, servers: withControl(load.servers.filter((each) => isChosen(each, options.servers))) },
      ]),
  )
}

/** The service is measured twice in each round: what the two differ by is chance (A/A). */
function withControl(names: readonly ServerName[]): ServerName[] {
  return names.flatMap((name) => (name === 'petstore' ? [name, 'petstore-again'] : name))
}

async function runGroup({ loads, under = [] }: Group): Promise<void> {
  const running = new Map<ServerName, RunningServer>()
  try {
    for (const name of new Set(Object.values(loads).flatMap((load) => load.servers)))
      running.set(name, await startServer(name, template, { under }))
    for (const { workload } of Object.values(loads))
      await expectSameResponses(workload, [...running.values()].map(targetOf))
    for (const [name, server] of running) await warmUpServer(name, server, Object.values(loads))
    for (let round = 0; round < rounds; round++) await runRound(loads, running)
  } finally {
    await Promise.all([...running.values()].map((server) => server.stop()))
  }
}

async function warmUpServer(name: ServerName, server: RunningServer, loads: IndependentLoad[]): Promise<void> {
  const own = loads.filter((load) => load.servers.includes(name))
  showProgress(`${servers[name]}: warm-up`)
  for (const load of own) await measure(server, load, Math.ceil(warmUp / own.length))
}

async function runRound(loads: Group['loads'], running: Map<ServerName, RunningServer>): Promise<void> {
  for (const [loadName, load] of Object.entries(loads)) {
    const round: Round = {}
    for (const [name, server] of running) {
      if (!load.servers.includes(name)) continue
      showProgress(`${++done} of ${slices}  ${servers[name]}: ${load.title}`)
      round[name] = await measure(server, load, load.seconds ?? seconds)
    }
    results.set(loadName, [...(results.get(loadName) ?? []), round])
  }
}

async function measure(server: RunningServer, load: IndependentLoad, seconds: number): Promise<Slice> {
  return measureSlice(server, targetOf(server), load, { generator, folder, seconds })
}

function targetOf({ port, database }: RunningServer): Target {
  return { port, key, database, pets }
}

function conclude(): void {
  // Safe: the names of all loads are different.
  const loads = Object.assign({}, ...chosen.map((group) => group.loads)) as Group['loads']
  const measured: Measured[] = Object.entries(loads).map(([name, load]) => ({ load, rounds: results.get(name) ?? [] }))
  const open = measured.filter(({ load }) => load.rate !== undefined)
  const closed = measured.filter(({ load }) => load.rate === undefined)
  const figures = [goalTable(results), closedLoopTable(closed), openLoopTable(open)].filter(hasRows).join('\n\n')
  process.stdout.write(`\n${figures}\n`)
  if (options.quick || options.loads !== undefined || options.servers !== undefined) return
  const method = `${rounds} rounds of ${seconds} s, after ${warmUp} s of warm-up. ${wrkVersion()}.`
  const peers = versions([
    'fastify',
    'fastify-type-provider-zod',
    '@nestjs/core',
    '@trpc/server',
    'better-sqlite3',
    'zod',
  ])
  writeSection(
    'independent',
    [circumstances('npm run bench -- --independent'), `${method} ${peers}.`, figures].join('\n\n'),
  )
}

/** A selection of loads and servers may leave a table with only its head. */
function hasRows(text: string): boolean {
  return text.split('\n').length > 2
}
