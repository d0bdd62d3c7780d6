import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, beforeEach } from 'vitest'
import type { AtEnd } from '../../test/support/temporary.ts'
import { type Send, useTransport } from '../../test/support/transport.ts'
import { isLeftOut } from './left-out.ts'
import { startPrism } from './proxy.ts'
import { send, sendThroughPrism } from './send.ts'

useTransport(transportThroughPrism)

let carried = 0
let goesStraight = false

beforeEach(({ task }) => {
  goesStraight = isLeftOut(task.name)
})

afterAll(() => {
  if (carried === 0) throw new Error('No request of this suite went through Prism.')
})

function transportThroughPrism(app: FastifyInstance, atEnd: AtEnd): Send {
  let started: Promise<{ origin: string; prism: string }> | undefined
  return async (request) => {
    started ??= start(app, atEnd)
    const { origin, prism } = await started
    if (goesStraight || !isDescribed(request)) return send(origin, request)
    carried += 1
    return sendThroughPrism(prism, { ...request, url: urlOf(request).slice('/v1'.length) })
  }
}

async function start(app: FastifyInstance, atEnd: AtEnd): Promise<{ origin: string; prism: string }> {
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const { body } = await app.inject('/openapi.json')
  return { origin, prism: await startPrism(JSON.parse(body), `${origin}/v1`, atEnd) }
}

/**
 * The document describes what is below /v1, and not HTTP's own methods: Prism would take the missing body of an answer to
 * HEAD for JSON, and a 204 to OPTIONS for an operation that the document lacks.
 */
function isDescribed(request: InjectOptions): boolean {
  return urlOf(request).startsWith('/v1/') && request.method !== 'HEAD' && request.method !== 'OPTIONS'
}

function urlOf({ url }: InjectOptions): string {
  if (typeof url !== 'string') throw new Error('The suites name a URL as a string.')
  return url
}
