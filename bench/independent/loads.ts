import type { LoadCase } from '../loads.ts'
import { type ServerName, slowDisk } from '../servers.ts'

/** A load whose requests arrive independently. With a rate it is an open loop, else a closed loop of wrk. */
export interface IndependentLoad extends LoadCase {
  servers: readonly ServerName[]
  /** Requests per second. */
  rate?: number
  /** The length of a slice, if it is not the usual one. */
  seconds?: number
}

/** Loads on the same servers. Each group starts its servers anew. */
export interface Group {
  loads: Record<string, IndependentLoad>
  under?: string[]
}

const fastify = ['petstore', 'fastify'] as const
const reads = ['petstore', 'fastify', 'node-http'] as const
const creates = ['petstore', 'fastify', 'fastify-zod', 'node-http', 'nest'] as const
const rpc = ['petstore', 'trpc'] as const

const readLoads = {
  get32: { title: 'get by id, 32 connections', workload: 'get', connections: 32, servers: reads },
  get128: { title: 'get by id, 128 connections', workload: 'get', connections: 128, servers: fastify },
  page32: { title: 'any page of 20, 32 connections', workload: 'page', connections: 32, servers: reads },
  page128: { title: 'any page of 20, 128 connections', workload: 'page', connections: 128, servers: fastify },
  hot32: { title: 'hot list of 20, 32 connections', workload: 'list-hot', connections: 32, servers: reads },
  hot128: { title: 'hot list of 20, 128 connections', workload: 'list-hot', connections: 128, servers: reads },
} as const satisfies Group['loads']

const createLoads = {
  create1: { title: 'create, 1 connection', workload: 'create', connections: 1, servers: creates },
  create4: { title: 'create, 4 connections', workload: 'create', connections: 4, servers: fastify },
  create8: { title: 'create, 8 connections', workload: 'create', connections: 8, servers: fastify },
  create32: { title: 'create, 32 connections', workload: 'create', connections: 32, servers: creates },
  create128: { title: 'create, 128 connections', workload: 'create', connections: 128, servers: fastify },
} as const satisfies Group['loads']

const rpcLoads = {
  rpcPage32: {
    title: 'RPC, any page of 100, 32 connections',
    workload: 'rpc-page-cold',
    connections: 32,
    servers: rpc,
  },
  rpcPage128: {
    title: 'RPC, any page of 100, 128 connections',
    workload: 'rpc-page-cold',
    connections: 128,
    servers: rpc,
  },
  rpcList32: { title: 'RPC, hot list of 20, 32 connections', workload: 'rpc-list', connections: 32, servers: rpc },
  rpcBatch32: { title: 'RPC, batch of 10 gets, 32 connections', workload: 'rpc-batch', connections: 32, servers: rpc },
  rpcCreate1: { title: 'RPC create, 1 connection', workload: 'rpc-create', connections: 1, servers: rpc },
  rpcCreate32: { title: 'RPC create, 32 connections', workload: 'rpc-create', connections: 32, servers: rpc },
} as const satisfies Group['loads']

const mixed = { workload: 'mixed', connections: 256 } as const

const mixedLoads = {
  mixed2000: { title: 'mixed, 2,000/s', ...mixed, rate: 2_000, servers: ['petstore'] },
  mixed5000: { title: 'mixed, 5,000/s', ...mixed, rate: 5_000, servers: fastify },
  mixed8000: { title: 'mixed, 8,000/s', ...mixed, rate: 8_000, servers: ['petstore'] },
} as const satisfies Group['loads']

const person = { connections: 1, rate: 10, seconds: 4, servers: fastify } as const

const oneCallerLoads = {
  get10: { title: 'get by id, one caller, 10/s', workload: 'get', ...person },
  create10: { title: 'create, one caller, 10/s', workload: 'create', ...person },
} as const satisfies Group['loads']

const slowDiskLoads = {
  slowDisk2000: { title: 'mixed, 2,000/s, fsync + 5 ms', ...mixed, rate: 2_000, servers: ['petstore'] },
  slowDisk5000: { title: 'mixed, 5,000/s, fsync + 5 ms', ...mixed, rate: 5_000, servers: ['petstore'] },
  slowDisk8000: { title: 'mixed, 8,000/s, fsync + 5 ms', ...mixed, rate: 8_000, servers: ['petstore'] },
} as const satisfies Group['loads']

const telemetry = ['petstore', 'petstore-logging', 'petstore-sampling'] as const

const telemetryLoads = {
  telemetryGet: { title: 'get by id, telemetry', workload: 'get', connections: 32, servers: telemetry },
  telemetryHot: { title: 'hot list of 20, telemetry', workload: 'list-hot', connections: 32, servers: telemetry },
  telemetryCreate: { title: 'create, telemetry', workload: 'create', connections: 32, servers: telemetry },
} as const satisfies Group['loads']

// Two processes of the same server differ by more than the telemetry costs, so several are measured.
const telemetryGroups = Array.from({ length: 3 }, () => ({ loads: telemetryLoads }))

export const groups = [
  { loads: readLoads },
  { loads: createLoads },
  { loads: rpcLoads },
  { loads: mixedLoads },
  { loads: oneCallerLoads },
  { loads: slowDiskLoads, under: slowDisk },
  ...telemetryGroups,
] as const satisfies Group[]

export type LoadName =
  | keyof typeof readLoads
  | keyof typeof createLoads
  | keyof typeof rpcLoads
  | keyof typeof mixedLoads
  | keyof typeof oneCallerLoads
  | keyof typeof slowDiskLoads
  | keyof typeof telemetryLoads
