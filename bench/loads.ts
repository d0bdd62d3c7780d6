import type { ServerName } from './servers.ts'
import type { Workload } from './workloads.ts'

/** A load and its title in the table. */
export interface LoadCase {
  title: string
  workload: Workload
  connections: number
  /** Another load that runs at the same time. */
  beside?: { workload: Workload; connections: number }
}

const peers: ServerName[] = ['node-http', 'fastify', 'fastify-zod', 'orpc', 'hono', 'trpc-to-openapi', 'nest']
export const restServers: ServerName[] = ['petstore', 'petstore-again', ...peers]
export const rpcServers: ServerName[] = ['petstore', 'petstore-again', 'trpc']

const writers = { workload: 'create', connections: 16 } as const

/** The loads that also measure the ceiling for creates. */
export const createLoads = {
  create1: { title: 'create, 1 connection', workload: 'create', connections: 1 },
  create32: { title: 'create, 32 connections', workload: 'create', connections: 32 },
  create128: { title: 'create, 128 connections', workload: 'create', connections: 128 },
} as const satisfies Record<string, LoadCase>

export const restLoads = {
  listHot: { title: 'list of 20, hot', workload: 'list-hot', connections: 32 },
  listCold: { title: 'list, cold', workload: 'list-cold', connections: 32 },
  get: { title: 'get by id', workload: 'get', connections: 32 },
  getBesideWriters: { title: 'get by id beside 16 writers', workload: 'get', connections: 32, beside: writers },
  listBesideWriters: { title: 'list of 20 beside 16 writers', workload: 'list-hot', connections: 32, beside: writers },
  mixed: { title: 'mixed: 90 lists, 5 gets, 5 creates', workload: 'mixed', connections: 64 },
  ...createLoads,
} as const satisfies Record<string, LoadCase>

export const slowDiskLoads = {
  slowDisk: {
    title: 'get by id beside 16 writers, fsync + 5 ms',
    workload: 'get',
    connections: 32,
    beside: writers,
  },
} as const satisfies Record<string, LoadCase>

export const rpcLoads = {
  rpcList: { title: 'RPC list of 20, hot', workload: 'rpc-list', connections: 32 },
  rpcPage: { title: 'RPC page of 100, hot', workload: 'rpc-page', connections: 32 },
  rpcPageCold: { title: 'RPC page of 100, any', workload: 'rpc-page-cold', connections: 32 },
  rpcCreate1: { title: 'RPC create, 1 connection', workload: 'rpc-create', connections: 1 },
  rpcCreate32: { title: 'RPC create, 32 connections', workload: 'rpc-create', connections: 32 },
} as const satisfies Record<string, LoadCase>

export type LoadName = keyof typeof restLoads | keyof typeof slowDiskLoads | keyof typeof rpcLoads
