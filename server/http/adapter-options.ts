import type { AnyRouter } from '@trpc/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BaseStore } from '../../db/store.ts'
import type { CacheLookups } from '../api/revision-cache.ts'
import type { Context } from '../api/trpc.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The procedures that an RPC request calls, for the log. A name that no procedure has is `unknown`. */
    procedures?: (request: FastifyRequest) => string[]
  }
  interface FastifyReply {
    /** Bytes of a response body that were streamed so far. Only the RPC adapter streams. */
    streamedBytes?: number
  }
}

/** Makes the context of a procedure call from the HTTP request that it arrived with. */
export type CreateContext = (request: FastifyRequest, reply: FastifyReply) => Context

/** The options of the REST adapter and of the RPC adapter. */
export interface AdapterOptions {
  router: AnyRouter
  store: BaseStore
  createContext: CreateContext
  /** Counts the lookups in the adapter's response cache. */
  cacheLookups?: CacheLookups
}
