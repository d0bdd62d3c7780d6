import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { atMost, type Claim } from './claims.ts'
import { makeDatabase } from './database.ts'
import { Load, median, medianOf, type Sample } from './measure.ts'
import { circumstances, claimTable, showProgress, table, writeSection } from './report.ts'
import { startServer } from './servers.ts'
import type { Workload } from './workloads.ts'

/** Measures the service on databases of several sizes. `--sizes 10000,1000000` measures these sizes and only prints the results. */

const { values: options } = parseArgs({ options: { sizes: { type: 'string' } } })
const sizes = options.sizes?.split(',').map(Number) ?? [10_000, 1_000_000, 10_000_000]
const rounds = 3
const durations = { warmUp: 1_000, measured: 2_000 }
const connections = 32
const loads: Partial<Record<Workload, string>> = {
  'list-first': 'list of 20, first pages',
  'list-last': 'list of 20, last pages',
  'list-status-first': 'list of 20 of a status, first pages',
  'list-status-last': 'list of 20 of a status, last pages',
  get: 'get by id',
  create: 'create',
}

// Safe: the type of `loads` admits only these keys; Object.keys returns strings.
const chosenWorkloads = Object.keys(loads) as Workload[]

interface SizeResult {
  fileSize: number
  /** Milliseconds from the start of the process to its first response. */
  readyAfter: number[]
  samples: Map<Workload, Sample[]>
}

const folder = mkdtempSync(join(tmpdir(), 'petstore-scale-'))
const load = new Load()
const results = new Map<number, SizeResult>()

try {
  const keys = new Map(sizes.map((size) => [size, make(size)]))
  for (let round = 0; round < rounds; round++) {
    for (const [size, key] of keys) await measure(size, key)
  }
} finally {
  load.stop()
  rmSync(folder, { recursive: true, force: true })
  showProgress('')
}
conclude()

function pathOf(size: number): string {
  return join(folder, `${size}.db`)
}

function make(size: number): string {
  const key = makeDatabase(pathOf(size), size, (done) => showProgress(`creating a database: ${done} of ${size} pets`))
  results.set(size, { fileSize: statSync(pathOf(size)).size, readyAfter: [], samples: new Map() })
  return key
}

async function measure(pets: number, key: string): Promise<void> {
  const result = resultOf(pets)
  const server = await startServer('petstore', pathOf(pets))
  try {
    result.readyAfter.push(server.readyAfter)
    const target = { port: server.port, key, database: server.database, pets }
    for (const workload of chosenWorkloads) {
      showProgress(`${pets} pets: ${loads[workload]}`)
      const sample = await load.measure(server, [target], { workload, connections }, durations)
      result.samples.set(workload, [...(result.samples.get(workload) ?? []), sample])
    }
  } finally {
    await server.stop()
  }
}

function conclude(): void {
  const figures = [claimTable(claims()), fileTable(), loadTable()].join('\n\n')
  process.stdout.write(`${figures}\n`)
  if (options.sizes !== undefined) return
  const words = `Medians of ${rounds} rounds, ${connections} connections.`
  writeSection('scale', [circumstances('npm run bench:scale'), words, figures].join('\n\n'))
}

/** The goals for the largest database. */
function claims(): Claim[] {
  const size = Math.max(...sizes)
  const ratios = chosenWorkloads.map((workload) => p50Ratio(size, workload))
  return [
    atMost(
      `${size.toLocaleString('en')} pets: the worst p50 at most 1.25 times that of the smallest database`,
      Math.max(...ratios),
      1.25,
    ),
    atMost(
      'first response of the slowest size within 500 ms',
      Math.max(...sizes.map((each) => median(resultOf(each).readyAfter))),
      500,
    ),
    atMost('at most 170 MB of memory', Math.max(...sizes.map(maxMemory)) / 1e6, 170),
  ]
}

function resultOf(size: number): SizeResult {
  const result = results.get(size)
  if (!result) throw new Error(`No database with ${size} pets was measured.`)
  return result
}

function sampleOf(size: number, workload: Workload): Sample {
  return medianOf(resultOf(size).samples.get(workload) ?? [])
}

function p50Ratio(size: number, workload: Workload): number {
  return sampleOf(size, workload).p50 / sampleOf(Math.min(...sizes), workload).p50
}

function maxMemory(size: number): number {
  return Math.max(...[...resultOf(size).samples.values()].flat().map(({ memory }) => memory))
}

function fileTable(): string {
  const rows = sizes.map((size) => [
    size.toLocaleString('en'),
    megabytes(resultOf(size).fileSize),
    Math.round(median(resultOf(size).readyAfter)).toString(),
    megabytes(maxMemory(size)),
  ])
  return table(['Pets', 'file MB', 'ready after ms', 'max memory MB'], rows)
}

function loadTable(): string {
  const rows = chosenWorkloads.flatMap((workload) =>
    sizes.map((size) => {
      const { rate, p50, p99 } = sampleOf(size, workload)
      const ratio = p50Ratio(size, workload).toFixed(2)
      return [
        loads[workload] ?? '',
        size.toLocaleString('en'),
        Math.round(rate).toString(),
        p50.toFixed(2),
        p99.toFixed(2),
        ratio,
      ]
    }),
  )
  return table(['Load', 'pets', 'requests/s', 'p50 ms', 'p99 ms', '× p50 of the smallest'], rows)
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
