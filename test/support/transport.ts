import type { FastifyInstance, InjectOptions } from 'fastify'
import type { AtEnd } from './temporary.ts'

export interface Answer {
  statusCode: number
  headers: Record<string, unknown>
  payload: string
}

/** Brings a request to the service, and its answer back. */
export type Send = (request: InjectOptions) => Promise<Answer>

/** A way to an app, gone at the end. */
type Transport = (app: FastifyInstance, atEnd: AtEnd) => Send

let transport: Transport = (app) => (request) => app.inject(request)

/** To be called by a setup file: from then on the REST client of the suites takes this way. */
export function useTransport(other: Transport): void {
  transport = other
}

export function transportTo(app: FastifyInstance, atEnd: AtEnd): Send {
  return transport(app, atEnd)
}
