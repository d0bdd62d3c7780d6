import type { LoadName } from './loads.ts'
import { restServers, rpcLoads } from './loads.ts'
import type { Sample } from './measure.ts'
import type { ServerName } from './servers.ts'

/** The median samples of a run, by load and server. */
export type Results = Record<LoadName, Partial<Record<ServerName, Sample>>>

export interface Claim {
  text: string
  seen: string
  holds: boolean
}

/** The performance goals, each with the measured value. */
export function claimsOf(results: Results): Claim[] {
  const sample = (load: LoadName, server: ServerName = 'petstore'): Sample => {
    const found = results[load][server]
    if (!found) throw new Error(`${server} was not measured with ${load}.`)
    return found
  }
  const peers = restServers.filter((server) => !server.startsWith('petstore'))
  const fastest = (load: LoadName) => Math.max(...peers.map((peer) => sample(load, peer).rate))
  const faster = (load: LoadName) => sample(load).rate / fastest(load)
  const fasterThan = (load: LoadName, peer: ServerName) => sample(load).rate / sample(load, peer).rate
  const cpu = (load: LoadName, peer: ServerName) => sample(load).cpu / sample(load, peer).cpu

  return [
    atLeast('create at 32 connections: 12 times the fastest peer', faster('create32'), 12),
    atLeast('create at 128 connections: 16 times the fastest peer', faster('create128'), 16),
    atLeast('create at 1 connection: not slower than the fastest peer', faster('create1'), 1),
    atLeast(
      'gets beside 16 writers: half the rate of gets alone',
      sample('getBesideWriters').rate / sample('get').rate,
      0.5,
    ),
    atLeast(
      'lists beside 16 writers: half the rate of lists alone',
      sample('listBesideWriters').rate / sample('listHot').rate,
      0.5,
    ),
    atMost('reads beside 16 writers, fsync + 5 ms: p99 under 10 ms', sample('slowDisk').p99, 10),
    atLeast(
      'the same load: p99 of the best peer over 10 ms',
      Math.min(...peers.map((peer) => sample('slowDisk', peer).p99)),
      10,
    ),
    atLeast('list of 20, hot: twice the fastest peer', faster('listHot'), 2),
    atMost('list, cold: 1.2 times the CPU of hand-written Fastify', cpu('listCold', 'fastify'), 1.2),
    atLeast('list of 20, hot: 2.5 times trpc-to-openapi', fasterThan('listHot', 'trpc-to-openapi'), 2.5),
    atLeast('list, cold: trpc-to-openapi uses 2.5 times the CPU', 1 / cpu('listCold', 'trpc-to-openapi'), 2.5),
    atMost('get by id: 1.4 times the CPU of hand-written Fastify', cpu('get', 'fastify'), 1.4),
    atLeast('get by id: trpc-to-openapi uses 4 times the CPU', 1 / cpu('get', 'trpc-to-openapi'), 4),
    ...Object.entries(rpcLoads).map(([load, { title }]) =>
      atLeast(
        `${title}: ${load.startsWith('rpcPage') ? '1.5 times' : 'not slower than'} tRPC's adapter`,
        // Safe: Object.entries loses the type of the keys of rpcLoads.
        fasterThan(load as LoadName, 'trpc'),
        load.startsWith('rpcPage') ? 1.5 : 1,
      ),
    ),
    atMost('mixed: p99 under 20 ms', sample('mixed').p99, 20),
    atLeast('mixed: ahead of every peer', faster('mixed'), 1),
  ]
}

export function atLeast(text: string, seen: number, floor: number): Claim {
  return { text, seen: seen.toFixed(2), holds: seen >= floor }
}

export function atMost(text: string, seen: number, ceiling: number): Claim {
  return { text, seen: seen.toFixed(2), holds: seen <= ceiling }
}
