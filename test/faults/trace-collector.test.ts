import type { RequestListener, ServerResponse } from 'node:http'
import { type TestContext, test } from 'vitest'
import { createFirstKey, startServer } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { startTraceCollector } from '../support/trace-collector.ts'

/** Sends a part again and again until the connection is closed. */
function repeat(response: ServerResponse, milliseconds: number, send: () => void): void {
  const timer = setInterval(send, milliseconds)
  response.on('close', () => clearInterval(timer))
}

function respond(status: number, headers = {}, body = '{}'): RequestListener {
  return (_request, response) => response.writeHead(status, headers).end(body)
}

const faults: Record<string, RequestListener> = {
  'accepts requests and does not respond': () => {},
  'sends its headers byte by byte': ({ socket }, response) => {
    socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
    repeat(response, 100, () => socket.write('x'))
  },
  'sends its body byte by byte': (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    repeat(response, 100, () => response.write(' '))
  },
  'sends the body of an error byte by byte': (_request, response) => {
    response.writeHead(503, { 'content-type': 'text/plain' })
    repeat(response, 100, () => response.write(' '))
  },
  'sends a body without an end': (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    repeat(response, 1, () => response.write(' '.repeat(65_536)))
  },
  'resets the connection': ({ socket }) => socket.resetAndDestroy(),
  'closes the connection after its response': ({ socket }, response) => response.end('{}', () => socket.destroy()),
  redirects: respond(307, { location: '/v1/other' }),
  'responds 400': respond(400),
  'responds 500': respond(500),
  'responds 429 with a long Retry-After': respond(429, { 'retry-after': '3600' }),
  'responds 503 with Retry-After: 0': respond(503, { 'retry-after': '0' }),
  'responds with HTML': respond(200, { 'content-type': 'text/html' }, '<html>'),
}

const traceId = '0af7651916cd43dd8448eb211c80319c'

test.concurrent.for(Object.entries(faults))(
  'a collector that %s gets the next spans, and stops neither requests nor the stop',
  { timeout: 120_000 },
  async ([, fault], context) => {
    const { expect } = context
    const collector = await startTraceCollector(context.onTestFinished)
    const { sendRequest, stop } = await startTraced(collector.url, context)
    collector.misbehave(fault)
    await sendRequest()
    await expect.poll(collector.faults).toBeGreaterThan(0)
    await sendRequest()
    collector.misbehave()
    await sendRequest(traceId)
    await expect.poll(() => collector.spans().map((span) => span.traceId)).toContain(traceId)
    collector.misbehave(fault)
    await sendRequest()
    await stop()
  },
)

test.concurrent('a collector that was away gets the next spans, and stops neither requests nor the stop', {
  timeout: 120_000,
}, async (context) => {
  const { expect } = context
  const collector = await startTraceCollector(context.onTestFinished)
  await collector.refuseConnections()
  const { server, sendRequest, stop } = await startTraced(collector.url, context)
  await sendRequest()
  await expect.poll(() => server.stdout).toContain('ECONNREFUSED')
  await collector.acceptConnections()
  await sendRequest(traceId)
  await expect.poll(() => collector.spans().map((span) => span.traceId)).toContain(traceId)
  await collector.refuseConnections()
  await sendRequest()
  await stop()
})

test.concurrent('a collector whose name is not found stops neither requests nor the stop, and is reported', {
  timeout: 120_000,
}, async (context) => {
  const { expect } = context
  const { server, sendRequest, stop } = await startTraced('http://collector.invalid:4318', context)
  await sendRequest()
  await expect.poll(() => server.stdout).toContain('"msg":"tracing: ')
  await sendRequest()
  await stop()
})

test.concurrent('a service sends JSON to the collector for traces, if the variables say so', async (context) => {
  const collector = await startTraceCollector(context.onTestFinished)
  const { server, sendRequest, stop } = await startTraced('http://127.0.0.1:1', context, {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=store,service.instance.id=pod-1',
  })
  await sendRequest(traceId)
  await stop()
  context.expect(collector.spans().map((span) => span.traceId)).toContain(traceId)
  context.expect(collector.headers()[0]).toMatchObject({ 'content-type': 'application/json' })
  context.expect(collector.resources()[0]).toMatchObject({ 'service.name': 'store', 'service.instance.id': 'pod-1' })
  context.expect(server.stdout).not.toContain('"msg":"tracing: ')
})

test.concurrent('a service writes its spans to its output, if the variables say so', async (context) => {
  const collector = await startTraceCollector(context.onTestFinished)
  const { server, sendRequest, stop } = await startTraced(collector.url, context, { OTEL_TRACES_EXPORTER: 'console' })
  await sendRequest()
  await stop()
  context.expect(server.stdout).toContain("'http.route': '/v1/pets'")
  context.expect(collector.headers()).toEqual([])
})

/** Tests that run concurrently need the functions of their own context. */
async function startTraced(
  endpoint: string,
  { expect, onTestFinished: atEnd }: TestContext,
  variables: Record<string, string> = {},
) {
  const folder = temporaryFolder(atEnd)
  const key = await createFirstKey(folder)
  const server = await startServer({ folder, env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...variables }, atEnd })
  return {
    server,
    /** Sends a request that is traced. Its response does not wait for the collector. */
    async sendRequest(trace?: string) {
      const begin = performance.now()
      const traceparent = trace && { traceparent: `00-${trace}-b7ad6b7169203331-01` }
      await expect
        .poll(async () => {
          const response = await fetch(`${server.url}/v1/pets`, {
            headers: { authorization: `Bearer ${key}`, ...traceparent },
          })
          return response.status
        })
        .toBe(200)
      expect(performance.now() - begin).toBeLessThan(5_000)
    },
    async stop() {
      const begin = performance.now()
      server.child.kill('SIGTERM')
      expect(await server.ended).toBe(0)
      expect(performance.now() - begin).toBeLessThan(8_000)
    },
  }
}
