import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeEach } from 'vitest'
import { type RestRequest, type Send, sendTo } from '../../engine/test/support/rest-client.ts'
import type { AtEnd } from '../../engine/test/support/temporary.ts'
import { useTransport } from '../../engine/test/support/transport.ts'
import { isLeftOut } from './left-out.ts'
import { startPrism } from './proxy.ts'
import { sendThroughPrism } from './send.ts'

useTransport(transportThroughPrism)

let requestCount = 0
let isDirect = false

beforeEach(({ task }) => {
  isDirect = isLeftOut(task.name)
})

afterAll(() => {
  if (requestCount === 0) throw new Error('No request of this suite went through Prism.')
})

function transportThroughPrism(app: FastifyInstance, atEnd: AtEnd): Send {
  let started: Promise<{ origin: string; prism: string }> | undefined
  return async (request) => {
    started ??= start(app, atEnd)
    const { origin, prism } = await started
    if (isDirect || !isDescribed(request)) return sendTo(origin, request)
    requestCount += 1
    return sendThroughPrism(prism, { ...request, url: request.url.slice('/v1'.length) })
  }
}

async function start(app: FastifyInstance, atEnd: AtEnd): Promise<{ origin: string; prism: string }> {
  await app.ready()
  // Not app.listen(), after which links begin with the address of the service, which is not that of Prism.
  await once(app.server.listen(0, '127.0.0.1'), 'listening')
  const origin = app.listeningOrigin
  const { body } = await app.inject('/openapi.json')
  return { origin, prism: await startPrism(JSON.parse(body), `${origin}/v1`, atEnd) }
}

/**
 * Whether the document describes the request. It describes the paths below /v1, but not HEAD and OPTIONS: Prism would
 * report the empty body of a HEAD response as invalid JSON, and OPTIONS as an undocumented operation.
 */
function isDescribed(request: RestRequest): boolean {
  return request.url.startsWith('/v1/') && request.method !== 'HEAD' && request.method !== 'OPTIONS'
}
