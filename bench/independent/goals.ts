import { quartiles } from '../measure.ts'
import { table } from '../report.ts'
import type { ServerName } from '../servers.ts'
import type { LoadName } from './loads.ts'
import type { Round, Slice } from './slices.ts'

interface Goal {
  text: string
  load: LoadName
  /** Whether lower figures are better. */
  isCeiling: boolean
  minimum: number
  goal: number
  figure(round: Round): number
}

const creators: ServerName[] = ['fastify', 'fastify-zod', 'node-http', 'nest']

const goals: Goal[] = [
  ceiling('get by id: user CPU relative to hand-written Fastify', 'get32', [1.7, 1.3], userCpuRatio),
  ceiling('any page of 20: user CPU relative to hand-written Fastify', 'page32', [1.4, 1.1], userCpuRatio),
  floor('hot list of 20: rate relative to bare node:http', 'hot32', [1.6, 2], (round) =>
    rateRatio(round, ['node-http']),
  ),
  floor('create, 32 connections: rate relative to the fastest peer', 'create32', [5, 8], (round) =>
    rateRatio(round, creators),
  ),
  ceiling('create, 1 connection: p50 relative to the fastest peer', 'create1', [1.25, 1], p50Ratio),
  floor("RPC, any page of 100: rate relative to tRPC's adapter", 'rpcPage32', [3, 4], (round) =>
    rateRatio(round, ['trpc']),
  ),
  ceiling('mixed, 5,000/s: p99 in ms', 'mixed5000', [10, 5], (round) => p99(round, 'all')),
  ceiling('mixed, 5,000/s, fsync + 5 ms: p99 of reads in ms', 'slowDisk5000', [10, 5], (round) => p99(round, 'reads')),
  ...telemetryGoals('get by id', 'telemetryGet'),
  ...telemetryGoals('hot list of 20', 'telemetryHot'),
  ...telemetryGoals('create', 'telemetryCreate'),
]

function telemetryGoals(request: string, load: LoadName): Goal[] {
  return (['logging', 'tracing'] as const).map((kind) =>
    floor(`${request}: rate with ${kind}, relative to that without`, load, [0.95, 0.95], (round) => {
      return of(round[`petstore-${kind}`], 'rate') / of(round.petstore, 'rate')
    }),
  )
}

/** The goals of the measured loads, each judged by the worse quartile over the rounds. */
export function goalTable(results: Map<string, Round[]>): string {
  const rows = goals.flatMap(({ text, load, isCeiling, minimum, goal, figure }) => {
    const figures = (results.get(load) ?? []).map(figure)
    // A selection of servers may lack the peers.
    if (figures.length === 0 || figures.some(Number.isNaN)) return []
    const { lower, median, upper } = quartiles(figures)
    const worse = isCeiling ? upper : lower
    const holds = (limit: number) => (isCeiling ? worse <= limit : worse >= limit)
    const result = holds(goal) ? 'met' : holds(minimum) ? 'minimum met' : 'not met'
    return [
      [text, String(minimum), String(goal), ...[lower, median, upper, worse].map((value) => value.toFixed(2)), result],
    ]
  })
  return table(['Goal', 'minimum', 'goal', 'lower quartile', 'median', 'upper quartile', 'worse quartile', ''], rows)
}

function ceiling(text: string, load: LoadName, limits: [minimum: number, goal: number], figure: Goal['figure']): Goal {
  return { text, load, isCeiling: true, minimum: limits[0], goal: limits[1], figure }
}

function floor(...parameters: Parameters<typeof ceiling>): Goal {
  return { ...ceiling(...parameters), isCeiling: false }
}

function userCpuRatio({ petstore, fastify }: Round): number {
  return of(petstore, 'userCpu') / of(fastify, 'userCpu')
}

function rateRatio(round: Round, peers: ServerName[]): number {
  return of(round.petstore, 'rate') / Math.max(...peers.map((peer) => of(round[peer], 'rate')))
}

function p50Ratio(round: Round): number {
  const p50 = (server: ServerName) => round[server]?.latencies.all.p50 ?? Number.NaN
  return p50('petstore') / Math.min(...creators.map(p50))
}

/** Infinite if a request failed, since a failure may be fast. */
function p99({ petstore }: Round, kind: keyof Slice['latencies']): number {
  if (petstore && petstore.failures > 0) return Number.POSITIVE_INFINITY
  return petstore?.latencies[kind]?.p99 ?? Number.NaN
}

function of(slice: Slice | undefined, figure: 'rate' | 'userCpu'): number {
  return slice?.[figure] ?? Number.NaN
}
