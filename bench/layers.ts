import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDatabase } from './database.ts'
import { runWrk } from './independent/wrk.ts'
import { circumstances, showProgress, table, writeSection } from './report.ts'
import { requireTool, startServer } from './servers.ts'
import type { Workload } from './workloads.ts'

/** Shows where the event loop spends its time: microseconds per request by layer, from the CPU profile of V8. */

const pets = 100_000
const connections = 32
const seconds = 6
const loads: Partial<Record<Workload, string>> = {
  get: 'get by id',
  page: 'any page of 20',
  'list-hot': 'hot list of 20',
  create: 'create',
  'rpc-list': 'RPC hot list of 20',
  'rpc-page-cold': 'RPC any page of 100',
  'rpc-create': 'RPC create',
  'rpc-batch': 'RPC batch of 10 gets',
}

/** Each layer with a pattern of `function file`. A sample belongs to the innermost frame that matches one of them. */
const layers: [name: string, pattern: RegExp][] = [
  ['write to the socket', /^(writeUtf8String|writeLatin1String|writeBuffer|writev) /],
  ['garbage collection', /^\(garbage collector\)/],
  ['native code without a frame, such as the HTTP parser', /^\(program\)/],
  ['revision of the database', /^dataVersion /],
  ['statements', /\/db\/sqlite\/(reads|statements)\.ts/],
  ['message to the writer thread', /^postMessage |node:internal\/worker/],
  ['store', /\/db\//],
  ['serialization', /fast-json-stringify|superjson-writer|^anonymous\d+ $/],
  ['request id', /node:internal\/crypto\/random/],
  ['authentication', /\/server\/auth\/|revision-cache|node:internal\/crypto\/hash/],
  ['logger of the request', /node_modules\/pino|logger-factory/],
  ['validation', /node_modules\/zod/],
  ['decoding of the input', /rest\/input|int64|fast-querystring|content-type-parser|parseJson|decodeUTF8|superjson/],
  ['headers of the response', /node:_http_outgoing|node:_http_common|Reply\.headers? /],
  ['HTTP of Node', /node:_http|node:internal\/(streams|stream_base_commons|timers)|node:net|node:events/],
  ['connections, hooks and checks', /\/server\/http\//],
  ['adapters and procedures', /\/server\/(rest|rpc|api)\//],
  ['Fastify', /node_modules\/(fastify|find-my-way)/],
]

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  endTime: number
  samples: number[]
  timeDeltas: number[]
  startTime: number
}

requireTool('wrk')
const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
try {
  const template = join(folder, 'template.db')
  const key = makeDatabase(template, pets)
  const columns = new Map<string, Map<string, number>>()
  // Safe: the keys of `loads` are workloads.
  for (const [workload, title] of Object.entries(loads) as [Workload, string][]) {
    showProgress(title)
    columns.set(title, await measure(workload, template, key))
  }
  showProgress('')
  const text = layerTable(columns)
  process.stdout.write(`${text}\n`)
  writeSection('layers', `${circumstances('npm run bench:layers')}\n\n${text}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Returns microseconds per request by layer. */
async function measure(workload: Workload, template: string, key: string): Promise<Map<string, number>> {
  const profiles = mkdtempSync(join(folder, 'profile-'))
  const options = `NODE_OPTIONS=--cpu-prof --cpu-prof-interval=200 --cpu-prof-dir=${profiles}`
  const server = await startServer('petstore', template, { under: ['env', options] })
  const target = { port: server.port, key, database: server.database, pets }
  const run = () => runWrk(folder, { workload, target, connections, seconds })
  await run()
  const { requests } = await run()
  await server.stop()
  const total = new Map<string, number>()
  for (const [layer, time] of lastSamples(readProfile(profiles), seconds)) {
    total.set(layer, (total.get(layer) ?? 0) + time / requests)
  }
  return total
}

/** The writer thread writes no profile, because it is stopped with the process. */
function readProfile(path: string): Profile {
  return JSON.parse(readFileSync(join(path, readdirSync(path)[0] ?? ''), 'utf8'))
}

/** The layer and microseconds of each sample of the last seconds in which the event loop was busy. */
function lastSamples({ nodes, samples, timeDeltas, startTime, endTime }: Profile, seconds: number): [string, number][] {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, `${callFrame.functionName} ${callFrame.url}`]))
  let time = startTime
  return samples.flatMap((id, index): [string, number][] => {
    const delta = timeDeltas[index] ?? 0
    time += delta
    if (time < endTime - seconds * 1e6 || frames.get(id)?.startsWith('(idle)')) return []
    return [[layerOf(id, frames, parents), delta]]
  })
}

function layerOf(leaf: number, frames: Map<number, string>, parents: Map<number, number>): string {
  for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
    const frame = frames.get(id) ?? ''
    const layer = layers.find(([, pattern]) => pattern.test(frame))
    if (layer) return layer[0]
  }
  return 'other'
}

function layerTable(columns: Map<string, Map<string, number>>): string {
  const row = (name: string, timeOf: (times: Map<string, number>) => number) => [
    name,
    ...[...columns.values()].map((times) => timeOf(times).toFixed(1)),
  ]
  const names = [...layers.map(([name]) => name), 'other']
  const sum = (times: Map<string, number>) => [...times.values()].reduce((total, time) => total + time, 0)
  return table(
    ['Layer', ...columns.keys()],
    [...names.map((name) => row(name, (times) => times.get(name) ?? 0)), row('sum', sum)],
  )
}
