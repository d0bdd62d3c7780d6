import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { InjectOptions } from 'fastify'
import type { Answer } from '../../test/support/transport.ts'

/** Sends a request over a socket instead of `app.inject`. */
export async function send(base: string, { method = 'GET', url, headers, payload }: InjectOptions): Promise<Answer> {
  const isJson = payload !== undefined && typeof payload !== 'string' && !Buffer.isBuffer(payload)
  // Safe: the suites pass headers as an object of strings.
  const sent = request(`${base}${url}`, {
    method,
    headers: { ...(isJson && { 'content-type': 'application/json' }), ...(headers as OutgoingHttpHeaders) },
  })
  sent.end(isJson ? JSON.stringify(payload) : payload)
  // Safe: Node emits `response` with one IncomingMessage.
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { statusCode: answer.statusCode ?? 0, headers: answer.headers, payload: await text(answer) }
}

interface Violation {
  location: string[]
  message: string
}

/** Sends a request through Prism. Throws if the response, or a request that the service accepted, violates the document. */
export async function sendThroughPrism(prism: string, request: InjectOptions): Promise<Answer> {
  const answer = await send(prism, request)
  const { 'content-type': type, 'sl-violations': violations = '[]' } = answer.headers
  const exchange = `${request.method} ${request.url}: ${answer.statusCode}`
  if (type === 'application/problem+json') throw new Error(`${exchange}, by Prism itself: ${answer.payload}`)
  // Safe: Prism writes this header; its format is part of prism-http-server.
  const found = (JSON.parse(String(violations)) as Violation[]).filter(
    ({ location }) => location[0] === 'response' || answer.statusCode < 400,
  )
  if (found.length > 0) throw new Error(`${exchange}. ${found.map(({ message }) => message).join('; ')}`)
  return answer
}
