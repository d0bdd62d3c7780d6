import type { FastifyInstance } from 'fastify'
import { joinHeaders, type Send } from './rest-client.ts'
import type { AtEnd } from './temporary.ts'

/** Connects to an app. Disconnects at the end of the test. */
type Transport = (app: FastifyInstance, atEnd: AtEnd) => Send

let transport: Transport = inject

/** Replaces the transport of the REST clients of all test services. Call it in a setup file. */
export function useTransport(other: Transport): void {
  transport = other
}

export function transportTo(app: FastifyInstance, atEnd: AtEnd): Send {
  return transport(app, atEnd)
}

/** Sends requests to the app without a socket. */
export function inject(app: FastifyInstance): Send {
  return async (request) => {
    const { statusCode, headers, payload } = await app.inject(request)
    return { status: statusCode, headers: joinHeaders(headers), text: payload }
  }
}

/** A `fetch` that reaches the app without a socket. */
export function fetchFrom(app: FastifyInstance): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const response = await app.inject({
      // Safe: the callers send only methods that HTTP defines.
      method: request.method as 'GET',
      url: pathname + search,
      headers: Object.fromEntries(request.headers),
      payload: Buffer.from(await request.arrayBuffer()),
    })
    return new Response(new Uint8Array(response.rawPayload), {
      status: response.statusCode,
      headers: joinHeaders(response.headers),
    })
  }
}
