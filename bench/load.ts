import { Connection } from './connection.ts'
import { type Target, type Workload, workloads } from './workloads.ts'

/**
 * The load generator, a process of its own. It parses only the length and the status of a response. Existing libraries use
 * as much CPU per request as the servers that they measure, or measure latency in whole milliseconds.
 */

export interface Job {
  workload: Workload
  /** The connections are distributed over these servers. */
  targets: Target[]
  connections: number
  milliseconds: number
  /**
   * Requests per second, which arrive independently: the intervals have an exponential distribution. A request waits if no
   * connection is free. Without a rate, each connection sends its next request after the response to the previous one.
   */
  rate?: number
}

/** Latencies in milliseconds. With a rate, they count from the time at which a request should have been sent. */
export interface Latencies {
  p50: number
  p99: number
  p999: number
}

export interface Measurement extends Latencies {
  requests: number
  seconds: number
  /** Responses other than 200 and 201. */
  failures: number
  /** The part of the time, from 0 to 1, in which this process used no CPU. */
  asleep: number
  reads: Latencies
  creates: Latencies
}

/** Milliseconds by which a latency may be too high, because the generator pauses while a response arrives. */
const maxPause = 0.1
const neverNotified = new Int32Array(new SharedArrayBuffer(4))

let end = 0

process.on('message', async (message: Job | 'end') => {
  if (message === 'end') end = 0
  else process.send?.(await run(message))
})
process.on('disconnect', () => process.exit())

async function run({ workload, targets, connections: count, milliseconds, rate }: Job): Promise<Measurement> {
  const sources = targets.map((target) => ({ port: target.port, next: workloads[workload](target) }))
  // Safe: the index is less than the number of sources.
  const sourceOf = (index: number) => sources[index % sources.length] as (typeof sources)[number]
  const connections = Array.from({ length: count }, (_, i) => new Connection(sourceOf(i)))
  await Promise.all(connections.map(({ connected }) => connected))
  const [start, cpu] = [performance.now(), process.cpuUsage()]
  end = start + milliseconds
  if (rate === undefined) sendInTurn(connections)
  else sendAtRate(connections, rate)
  await Promise.all(connections.map(({ closed }) => closed))
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  return measurementOf(connections, seconds, 1 - (user + system) / 1e6 / seconds)
}

/** Each connection sends its next request after the response to the previous one. */
function sendInTurn(connections: Connection[]): void {
  for (const connection of connections) sendNext(connection)

  function sendNext(connection: Connection): void {
    const now = performance.now()
    if (now < end) connection.send(now, sendNext)
    else connection.end()
  }
}

/** Sends requests at random times, each over the connection that has been free for the longest time. */
function sendAtRate(connections: Connection[], rate: number): void {
  const free = [...connections]
  const waiting: number[] = []
  let due = performance.now()
  poll()

  // Node's timers are too coarse: they would send the requests of a millisecond together. Polling without a pause would
  // take the core from the server, which doubled the 99th percentile.
  function poll(): void {
    for (const now = performance.now(); due <= now && due < end; due += interval()) waiting.push(due)
    send()
    if (due >= end && waiting.length === 0) return void endAll()
    Atomics.wait(neverNotified, 0, 0, Math.min(Math.max(due - performance.now(), 0), maxPause))
    setImmediate(poll)
  }

  function send(): void {
    while (waiting.length > 0) {
      const connection = free.shift()
      if (!connection) return
      connection.send(waiting.shift() ?? 0, release)
    }
  }

  function release(connection: Connection): void {
    free.push(connection)
    send()
    if (due >= end && waiting.length === 0) endAll()
  }

  function endAll(): void {
    for (const connection of free.splice(0)) connection.end()
  }

  /** Milliseconds to the next arrival of a Poisson process. */
  function interval(): number {
    return (-Math.log(1 - Math.random()) / rate) * 1_000
  }
}

function measurementOf(connections: Connection[], seconds: number, asleep: number): Measurement {
  const reads = connections.flatMap(({ latencies }) => latencies.reads)
  const creates = connections.flatMap(({ latencies }) => latencies.creates)
  const all = [...reads, ...creates]
  const failures = connections.reduce((sum, connection) => sum + connection.failures, 0)
  const [readLatencies, createLatencies] = [quantilesOf(reads), quantilesOf(creates)]
  return {
    requests: all.length,
    seconds,
    failures,
    asleep,
    ...quantilesOf(all),
    reads: readLatencies,
    creates: createLatencies,
  }
}

function quantilesOf(latencies: number[]): Latencies {
  const sorted = Float64Array.from(latencies).sort()
  const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50: quantile(0.5), p99: quantile(0.99), p999: quantile(0.999) }
}
