import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeTemplate } from './database.ts'
import { goalRows } from './goals.ts'
import { type LoadName, loads, measureSlice, Results } from './loads.ts'
import { circumstances, figureTables, readSection, rowsOf, table, versions, writeSection } from './report.ts'
import { type Contestant, expectSameResponses, type RunningServer, slowDisk, startServer } from './servers.ts'
import { requirePrograms, wrkVersion } from './wrk.ts'

/**
 * Compares the service with other servers and writes RESULTS.md. `--scale` compares databases of two sizes instead.
 * `--quick`, and a selection such as `--loads get1,get32 --servers petstore,fastify`, only print the figures.
 */

const { values: options } = parseArgs({
  options: {
    scale: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    loads: { type: 'string' },
    servers: { type: 'string' },
  },
})
const results = new Results()
const [page, performancePage] = ['bench/RESULTS.md', 'docs/background/performance.md']

requirePrograms('wrk', 'strace')
const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
try {
  if (options.scale) await compareSizes()
  else await compareServers()
} finally {
  rmSync(folder, { recursive: true })
}

async function compareServers(): Promise<void> {
  const template = makeTemplate(join(folder, 'template.db'), 100_000)
  const contestants = chosen<Contestant>(options.servers, {
    petstore: { title: 'Petstore', template },
    control: { title: 'Petstore, control', template },
    fastify: { title: 'Fastify by hand', template, peer: ['fastify'] },
    untuned: { title: 'Fastify, untuned', template, peer: ['fastify', 'untuned'] },
    group: { title: 'Fastify, group commit', template, peer: ['fastify', 'group-commit'] },
    'trpc-to-openapi': { title: 'trpc-to-openapi', template, peer: ['trpc-to-openapi'] },
    'node-http': { title: 'node:http', template, peer: ['node-http'] },
  })
  // Safe: these are keys of `loads`.
  const names = Object.keys(chosen(options.loads, loads)) as LoadName[]
  const fast = names.filter((name) => name !== 'slow')
  const [rounds, slowRounds] = options.quick ? [1, 1] : [5, 2]
  await measure(contestants, fast, { rounds, seconds: options.quick ? 1 : 2 })
  if (names.includes('slow'))
    await measure(contestants, ['slow'], { rounds: slowRounds, seconds: options.quick ? 2 : 10, under: slowDisk })
  const method = `${rounds} rounds with slices of 2 s, and ${slowRounds} with slices of 10 s for the last load.`
  const packages = versions(['fastify', '@trpc/server', 'trpc-to-openapi', 'zod', 'better-sqlite3'])
  const tools = `${wrkVersion()}, ${packages}.`
  conclude('comparison', 'npm run bench', `${method} ${tools}`, figureTables(contestants, names, results))
}

async function compareSizes(): Promise<void> {
  const [few, many] = options.quick ? [10_000, 1_000_000] : [10_000, 10_000_000]
  const small = makeTemplate(join(folder, 'small.db'), few)
  const large = makeTemplate(join(folder, 'large.db'), many)
  const contestants = {
    small: { title: `${few.toLocaleString('en')} pets`, template: small },
    large: { title: `${many.toLocaleString('en')} pets`, template: large },
    largeControl: { title: 'the same, control', template: large },
  }
  const names: LoadName[] = ['create32', 'page32']
  const rounds = options.quick ? 1 : 3
  await measure(contestants, names, { rounds, seconds: options.quick ? 1 : 3 })
  const method = `${rounds} rounds with slices of 3 s.`
  const [rates = '', , cpuTimes = ''] = figureTables(contestants, names, results)
  conclude('scale', 'npm run bench -- --scale', method, [rates, cpuTimes])
}

/** The entries that a list of names selects, or all. */
function chosen<T>(list: string | undefined, all: Record<string, T>): Record<string, T> {
  const names = list?.split(',')
  return Object.fromEntries(Object.entries(all).filter(([name]) => names?.includes(name) ?? true))
}

/** Each round has a new process of each server: the state of a process, such as its compiled code, lasts. */
async function measure(
  contestants: Record<string, Contestant>,
  names: LoadName[],
  { rounds, seconds, under = [] }: { rounds: number; seconds: number; under?: string[] },
): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`round ${round} of ${rounds}: ${names.join(', ')}\n`)
    const running: [string, RunningServer][] = []
    try {
      for (const [name, contestant] of Object.entries(contestants))
        running.push([name, await startServer(contestant, under)])
      if (!options.scale) await expectSameResponses(running.map(([, server]) => server))
      for (const [, server] of running) for (const load of names) await measureSlice(server, load, warmUp(load), round)
      for (const load of names) {
        for (const [name, server] of shuffled(running))
          results.add(load, name, await measureSlice(server, load, seconds, rounds + round))
      }
    } finally {
      await Promise.all(running.map(([, server]) => server.stop()))
    }
  }
}

/** Seconds. A lone caller sends few requests in a second, and V8 compiles what runs often. */
function warmUp(load: LoadName): number {
  return loads[load].connections === 1 ? 4 : 1
}

function shuffled<T>(values: T[]): T[] {
  const order = new Map(values.map((value) => [value, Math.random()]))
  return values.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
}

/** Prints the figures, and writes those of a whole run into the documents. */
function conclude(section: string, command: string, method: string, figures: string[]): void {
  const rows = goalRows(results, rowsOf(readSection(page, 'goals')))
  const goals = table(['Goal', 'limit', 'measured', 'control', 'result'], rows)
  process.stdout.write(`${[goals, ...figures].join('\n\n')}\n`)
  if (options.quick || options.loads !== undefined || options.servers !== undefined) return
  writeSection(page, 'goals', goals)
  writeSection(page, section, [circumstances(command), method, ...figures].join('\n\n'))
  const missed = rows.filter((row) => row.at(-1) === 'not met').map((row) => row.slice(0, 3))
  writeSection(performancePage, 'missed', table(['Goal', 'limit', 'measured'], missed))
}
