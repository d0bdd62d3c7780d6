import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../api/trpc.ts'

/** Makes the context of a procedure call from the HTTP request that it arrived with. */
export type CreateContext = (request: FastifyRequest, reply: FastifyReply) => Context
