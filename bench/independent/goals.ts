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
  ceiling('get by id: user CPU relative to hand-written Fastify', 'get32', [1.5, 1.2], userCpuRatio),
  ceiling('any page of 20: user CPU relative to hand-written Fastify', 'page32', [1.2, 0.9], userCpuRatio),
  floor('hot list of 20: rate relative to bare node:http', 'hot32', [1.7, 2.5], (round) =>
    rateRatio(round, ['node-http']),
  ),
  floor('create, 32 connections: rate relative to the fastest peer', 'create32', [4.6, 6], (round) =>
    rateRatio(round, creators),
  ),
  ceiling('create, 1 connection: p50 relative to the fastest peer', 'create1', [1.88, 1.4], p50Ratio),
  floor("RPC, any page of 100: rate relative to tRPC's adapter", 'rpcPage32', [3, 4], (round) =>
    rateRatio(round, ['trpc']),
  ),
  ceiling('mixed, 5,000/s: p99 in ms', 'mixed5000', [6, 3], (round) => p99(round, 'all')),
  ceiling('mixed, 5,000/s, fsync + 5 ms: p99 of reads in ms', 'slowDisk5000', [10, 5], (round) => p99(round, 'reads')),
  ...telemetryGoals('get by id', 'telemetryGet'),
  ...telemetryGoals('hot list of 20', 'telemetryHot'),
  ...telemetryGoals('create', 'telemetryCreate'),
]

function telemetryGoals(request: string, load: LoadName): Goal[] {
  const kinds = [
    ['logging', 'logging', 0.87],
    ['sampling', 'logging of 1 %', 0.95],
  ] as const
  return kinds.map(([kind, text, minimum]) =>
    floor(`${request}: rate with ${text}, relative to that without`, load, [minimum, 0.95], (round) => {
      return of(round[`petstore-${kind}`], 'rate') / of(round.petstore, 'rate')
    }),
  )
}

/**
 * The goals of the measured loads, each judged by the worse quartile over the rounds. The figure of the control, relative to
 * that of the service in the same round, shows by how much a figure differs without a reason (A/A).
 */
export function goalTable(results: Map<string, Round[]>): string {
  const rows = goals.flatMap(({ text, load, isCeiling, minimum, goal, figure }) => {
    const rounds = results.get(load) ?? []
    const figures = rounds.map(figure)
    const control = quartiles(rounds.map((round) => figure(controlOf(round)) / figure(round)))
    // A selection of servers may lack the peers.
    if (figures.length === 0 || figures.some(Number.isNaN)) return []
    const { lower, median, upper } = quartiles(figures)
    const worse = isCeiling ? upper : lower
    const holds = (limit: number) => (isCeiling ? worse <= limit : worse >= limit)
    const isBeyondControl = isCeiling ? worse * control.upper <= goal : worse * control.lower >= goal
    const result = holds(goal)
      ? isBeyondControl
        ? 'met'
        : 'met within A/A'
      : holds(minimum)
        ? 'minimum met'
        : 'not met'
    const spread = `${control.lower.toFixed(2)}–${control.upper.toFixed(2)}`
    const values = [lower, median, upper, worse].map((value) => value.toFixed(2))
    return [[text, String(minimum), String(goal), spread, ...values, result]]
  })
  const quartileNames = ['lower quartile', 'median', 'upper quartile', 'worse quartile']
  return table(['Goal', 'minimum', 'goal', 'A/A', ...quartileNames, ''], rows)
}

/** The round with the control in place of the service. */
function controlOf({ petstore: _, 'petstore-again': control, ...peers }: Round): Round {
  return { ...peers, ...(control && { petstore: control }) }
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
