import type { LoadName, Results, Slice } from './loads.ts'
import { quartiles } from './report.ts'

type Figure = 'rate' | 'p50' | 'cpu'
type Pair = readonly [service: string, control: string]
/** The service is compared with the best of the peers. */
type Goal = [text: string, load: LoadName, limit: number, figure: Figure, peers: string[], own?: Pair]

const single = ['fastify', 'trpc-to-openapi', 'node-http']
const large = ['large', 'largeControl'] as const
const goals: Goal[] = [
  ['one create, p50 relative to Fastify with a group-commit thread', 'create1', 2, 'p50', ['group']],
  ['one get, CPU relative to Fastify by hand', 'get1', 2, 'cpu', ['fastify']],
  ['create, 32 connections, rate relative to the fastest peer without group commit', 'create32', 2, 'rate', single],
  ['create, 32 connections, rate relative to Fastify with a group-commit thread', 'create32', 0.75, 'rate', ['group']],
  ['get, 32 connections, CPU relative to Fastify by hand', 'get32', 1.5, 'cpu', ['fastify']],
  ['random page of 20, CPU relative to Fastify by hand', 'page32', 0.8, 'cpu', ['fastify']],
  ['hot list of 20, rate relative to `node:http`', 'hot32', 2, 'rate', ['node-http']],
  ['create at ten million pets, CPU relative to ten thousand', 'create32', 1.2, 'cpu', ['small'], large],
  ['random page at ten million pets, CPU relative to ten thousand', 'page32', 1.3, 'cpu', ['small'], large],
]

/**
 * The rows of the table of goals. A figure is the worse quartile of the ratios of the rounds. The control shows by how much
 * two processes of the service differ. A goal that these results do not include keeps its row.
 */
export function goalRows(results: Results, known: string[][]): string[][] {
  return goals.map((goal) => {
    const [text, , limit, kind, , own = ['petstore', 'control']] = goal
    const [figure, control] = own.map((name) => worseQuartile(goal, results, name))
    const range = `${kind === 'rate' ? 'at least' : 'at most'} ${limit}`
    const before = known.find(([each]) => each === text)
    if (!figure || !control) return before ?? [text, range, '', '', 'not measured']
    const isMet = kind === 'rate' ? figure >= limit : figure <= limit
    return [text, range, figure.toFixed(2), control.toFixed(2), isMet ? 'met' : 'not met']
  })
}

/** Not a number if the results do not include the goal. */
function worseQuartile([, load, , kind, peers]: Goal, results: Results, name: string): number {
  const best = kind === 'rate' ? Math.max : Math.min
  const ratios = results.of(load, name).map((slice, round) => {
    const others = peers.map((peer) => figureOf(results.of(load, peer)[round], kind))
    return figureOf(slice, kind) / best(...others)
  })
  return quartiles(ratios)[kind === 'rate' ? 'lower' : 'upper']
}

function figureOf(slice: Slice | undefined, kind: Figure): number {
  if (!slice) return Number.NaN
  return kind === 'cpu' ? slice.user + slice.system : slice[kind]
}
