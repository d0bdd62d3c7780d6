import type { RunningServer } from './servers.ts'
import { type Requests, runWrk } from './wrk.ts'

/** The loads, in the order of the rows. */
export const loads = {
  create1: { title: 'one create alone', kind: 'create', connections: 1 },
  get1: { title: 'one get alone', kind: 'get', connections: 1 },
  create32: { title: 'create at 32', kind: 'create', connections: 32 },
  create128: { title: 'create at 128', kind: 'create', connections: 128 },
  get32: { title: 'get at 32', kind: 'get', connections: 32 },
  page32: { title: 'random page at 32', kind: 'page', connections: 32 },
  hot32: { title: 'hot list at 32 (cached)', kind: 'hot', connections: 32 },
  paceCreate: { title: '500 creates a second', kind: 'create', connections: 250, pace: 500 },
  paceGet: { title: '2,000 gets a second', kind: 'get', connections: 1000, pace: 2_000 },
  beside: { title: 'get beside 16 writers', kind: 'get', connections: 32, writers: 16 },
  slow: { title: 'the same, fsync + 5 ms', kind: 'get', connections: 32, writers: 16 },
} as const satisfies Record<string, Load>

export type LoadName = keyof typeof loads

interface Load extends Requests {
  title: string
  /** Connections that create pets at the same time. Their requests are not counted. */
  writers?: number
}

/** A measurement of one server. */
export interface Slice {
  /** Requests per second. */
  rate: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** Microseconds of CPU time of the server per request. With writers, it is not comparable and so not a number. */
  user: number
  system: number
  /** Creates per second of the writers. */
  writersRate?: number
}

/** The slices of each load and contestant, by round. */
export class Results {
  readonly #slices = new Map<string, Slice[]>()

  add(load: LoadName, contestant: string, slice: Slice): void {
    this.#slices.set(`${load} ${contestant}`, [...this.of(load, contestant), slice])
  }

  of(load: LoadName, contestant: string): Slice[] {
    return this.#slices.get(`${load} ${contestant}`) ?? []
  }
}

export async function measureSlice(
  server: RunningServer,
  name: LoadName,
  seconds: number,
  seed: number,
): Promise<Slice> {
  const load: Load = loads[name]
  const before = server.cpuTimes()
  const [result, writes] = await Promise.all([
    runWrk(load, server, seconds, seed),
    load.writers && runWrk({ kind: 'create', connections: load.writers }, server, seconds, seed + 1),
  ])
  const after = server.cpuTimes()
  const { requests, microseconds, p50, p99 } = result
  const perRequest = (cpu: number) => (writes ? Number.NaN : cpu / requests)
  return {
    rate: (requests / microseconds) * 1e6,
    p50: p50 / 1_000,
    p99: p99 / 1_000,
    user: perRequest(after.user - before.user),
    system: perRequest(after.system - before.system),
    ...(writes && { writersRate: (writes.requests / writes.microseconds) * 1e6 }),
  }
}
