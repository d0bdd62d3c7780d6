import { median, quartiles } from '../measure.ts'
import { percent, table } from '../report.ts'
import { type ServerName, servers } from '../servers.ts'
import type { IndependentLoad } from './loads.ts'
import type { Round, Slice } from './slices.ts'

/** The tables of the figures: medians over the rounds, with the quartiles of ratios and of p99 in parentheses. */

export interface Measured {
  load: IndependentLoad
  rounds: Round[]
}

type Figure = (slice: Slice) => number

const rate: Figure = (slice) => slice.rate
const userCpu: Figure = (slice) => slice.userCpu
const systemCpu: Figure = (slice) => slice.systemCpu
const asleep: Figure = (slice) => slice.asleep
const p50: Figure = ({ latencies }) => latencies.all.p50
const p99: Figure = ({ latencies }) => latencies.all.p99

export function closedLoopTable(measured: Measured[]): string {
  const rows = rowsOf(measured, (rounds, name) => {
    const middle = (figure: Figure) => median(slicesOf(rounds, name).map(figure))
    return [
      [
        middle(rate).toFixed(0),
        middle(p50).toFixed(2),
        middle(p99).toFixed(2),
        middle(userCpu).toFixed(0),
        middle(systemCpu).toFixed(0),
        percent(middle(asleep)),
        ...[rate, p50, userCpu].map((figure) => (name === 'petstore' ? '' : ratio(rounds, name, figure))),
      ],
    ]
  })
  const speed = ['requests/s', 'p50 ms', 'p99 ms', 'user CPU µs/request', 'system CPU µs/request', 'client asleep']
  return table(['Load', 'Server', ...speed, 'Petstore: × its rate', '× its p50', '× its user CPU'], rows)
}

export function openLoopTable(measured: Measured[]): string {
  const kinds = ['all', 'reads', 'creates'] as const
  const rows = rowsOf(measured, (rounds, name) => {
    const slices = slicesOf(rounds, name)
    const hasKind = (kind: (typeof kinds)[number]) => slices.some(({ latencies }) => (latencies[kind]?.p50 ?? 0) > 0)
    return kinds.filter(hasKind).map((kind) => {
      const of = (quantile: 'p50' | 'p99' | 'p999') =>
        slices.map(({ latencies }) => latencies[kind]?.[quantile] ?? Number.NaN)
      const failures = slices.reduce((sum, slice) => sum + slice.failures, 0)
      return [
        kind,
        ...(['p50', 'p99', 'p999'] as const).map((quantile) => withQuartiles(of(quantile))),
        ...(kind === 'all'
          ? [
              ...[rate, userCpu, systemCpu].map((figure) => median(slices.map(figure)).toFixed(0)),
              percent(median(slices.map(asleep))),
              String(failures),
            ]
          : ['', '', '', '', '']),
      ]
    })
  })
  const latencies = ['requests', 'p50 ms', 'p99 ms', 'p99.9 ms']
  const effort = ['responses/s', 'user CPU µs/request', 'system CPU µs/request', 'client asleep', 'failures']
  return table(['Load', 'Server', ...latencies, ...effort], rows)
}

/** @param cellsOf returns the cells after the first two, for one or several rows */
function rowsOf(measured: Measured[], cellsOf: (rounds: Round[], name: ServerName) => string[][]): string[][] {
  return measured.flatMap(({ load, rounds }) =>
    load.servers
      .filter((name) => slicesOf(rounds, name).length > 0)
      .flatMap((name) => cellsOf(rounds, name).map((cells) => [load.title, servers[name], ...cells])),
  )
}

function slicesOf(rounds: Round[], name: ServerName): Slice[] {
  return rounds.flatMap((round) => round[name] ?? [])
}

/** The service's figure divided by that of a peer in the same round. */
function ratio(rounds: Round[], name: ServerName, figure: Figure): string {
  const ratios = rounds.flatMap(({ petstore, [name]: peer }) =>
    petstore && peer ? figure(petstore) / figure(peer) : [],
  )
  return ratios.length === 0 ? '' : withQuartiles(ratios)
}

function withQuartiles(values: number[]): string {
  const { lower, median, upper } = quartiles(values)
  return `${median.toFixed(2)} (${lower.toFixed(2)}–${upper.toFixed(2)})`
}
