import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { AtEnd } from './temporary.ts'

/** A span as OTLP sends it in JSON. Times are nanoseconds since 1970. */
export interface ExportedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number | string } }[]
  status: { code?: number }
}

interface ExportRequest {
  resourceSpans: { resource: Pick<ExportedSpan, 'attributes'>; scopeSpans: { spans: ExportedSpan[] }[] }[]
}

/** A collector that receives spans over OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
export async function startTraceCollector(atEnd: AtEnd = onTestFinished) {
  const requests: ExportRequest[] = []
  let fault: RequestListener | undefined
  let faults = 0
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (fault) {
      faults++
      fault(request, response)
      return
    }
    if (request.method === 'POST' && request.url === '/v1/traces') requests.push(JSON.parse(body))
    response.setHeader('content-type', 'application/json').end('{}')
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
    spans: () => resourceSpans().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    resources: () => resourceSpans().map(({ resource }) => attributesOf(resource)),
  }
}

export function attributesOf({ attributes }: Pick<ExportedSpan, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]))
}
