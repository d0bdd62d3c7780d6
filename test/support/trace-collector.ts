import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { decodeTraces } from './otlp-protobuf.ts'
import type { AtEnd } from './temporary.ts'

/** A span as OTLP sends it in JSON. Times are nanoseconds since 1970. */
export interface ExportedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  /** 2 is a server, 3 a client. */
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number | string } }[]
  events: Pick<ExportedSpan, 'name' | 'attributes'>[]
  /** The code 2 is an error. */
  status: { code?: number }
}

interface ExportRequest {
  resourceSpans: { resource: Pick<ExportedSpan, 'attributes'>; scopeSpans: { spans: ExportedSpan[] }[] }[]
}

/** A collector that receives spans over OTLP/HTTP, as JSON or protobuf (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
export async function startTraceCollector(atEnd: AtEnd = onTestFinished) {
  const requests: ExportRequest[] = []
  const headers: IncomingHttpHeaders[] = []
  let fault: RequestListener | undefined
  let faults = 0
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    if (fault) {
      faults++
      fault(request, response)
      return
    }
    const type = request.headers['content-type'] ?? ''
    const isJson = type === 'application/json'
    if (request.method === 'POST' && request.url === '/v1/traces') {
      headers.push(request.headers)
      requests.push(isJson ? JSON.parse(body.toString()) : decodeTraces(body))
    }
    response.setHeader('content-type', type).end(isJson ? '{}' : '')
  })
  atEnd(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // Safe: a listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo
  const resourceSpans = () => requests.flatMap((request) => request.resourceSpans)
  return {
    /** Responds in another way until it is called without a function. */
    misbehave(listener?: RequestListener) {
      fault = listener
    },
    /** The number of requests that got such a response. */
    faults: () => faults,
    async refuseConnections() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
    async acceptConnections() {
      await once(server.listen(port, '127.0.0.1'), 'listening')
    },
    url: `http://127.0.0.1:${port}`,
    /** The headers of each request. */
    headers: () => headers,
    spans: () => resourceSpans().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    resources: () => resourceSpans().map(({ resource }) => attributesOf(resource)),
  }
}

export function attributesOf({ attributes }: Pick<ExportedSpan, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]))
}
