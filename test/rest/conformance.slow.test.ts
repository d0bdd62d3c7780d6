import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import superjson from 'superjson'
import { describe, expect, test } from 'vitest'
import type { oas31 } from 'zod-openapi'
import { createDocument } from '../../engine/service/rest/document.ts'
import * as notes from '../../engine/test/notes/fixtures.ts'
import { exactly, parseExactly, writeExactly } from '../../engine/test/support/exact-json.ts'
import { isLongForm, report } from '../../engine/test/support/long-form.ts'
import { connectRestClient, type RestClient, type RestResponse } from '../../engine/test/support/rest-client.ts'
import { sendRest, sendRpc } from '../support/documented-calls.ts'
import {
  anyRequest,
  type DocumentedOperation,
  type GeneratedRequest,
  operationsIn,
  requestsAtBounds,
} from '../support/documented-requests.ts'
import { DocumentedSchemas } from '../support/documented-schemas.ts'
import { ValueGenerator } from '../support/documented-values.ts'
import * as petstore from '../support/petstore.ts'

/**
 * The service does what its OpenAPI document says, and both adapters do the same. Operations, parameters, fields and
 * bounds come from the document, so these tests cover a new operation without a change. The notes add kinds of fields,
 * and errors, that the pets do not have.
 */

const seed = Number(process.env.CONFORMANCE_SEED ?? 20_261_121)
const count = isLongForm ? 5_000 : 2_000

type Check = (
  operation: DocumentedOperation,
  request: GeneratedRequest,
) => Promise<{ status: number; faults: string[] }>

describe.for([petstore, notes])('$product.name:', ({ service, startTestApi }) => {
  const document = createDocument(service.router, service.product, [])
  const schemas = new DocumentedSchemas(document)
  const values = new ValueGenerator(schemas)
  const operations = operationsIn(document)

  test('at and beyond the bounds of every parameter and field, both adapters do what the document says', async () => {
    // Generating the requests takes so long that the services would close idle connections meanwhile.
    const requests = operations.flatMap((operation) =>
      requestsAtBounds(operation, values).map((request) => ({ operation, request })),
    )
    const check = await startPair()
    const faults: string[] = []
    for (const { operation, request } of requests) faults.push(...(await check(operation, request)).faults)
    expect(faults.length, faults.slice(0, 5).join('\n\n')).toBe(0)
  })

  test(`both adapters do what the document says with ${count} requests generated from it (seed ${seed})`, async () => {
    const each = operations.map((operation) => anyRequest(operation, values).map((request) => ({ operation, request })))
    const requests = fc.sample(fc.oneof(...each), { seed, numRuns: count })
    const check = await startPair()
    const faults: string[] = []
    const statuses = new Map(operations.map((operation) => [operation, new Set<string>()]))
    for (const { operation, request } of requests) {
      const found = await check(operation, request)
      faults.push(...found.faults)
      statuses.get(operation)?.add(String(found.status))
    }
    report(`Generated requests of the ${service.product.command}`, { seed, count, faults: faults.length })

    expect(faults.length, faults.slice(0, 5).join('\n\n')).toBe(0)
    for (const [{ method, path, responses }, seen] of statuses) {
      // A 304 needs If-None-Match, which is no parameter of the document, and a 403 needs a key that may only read. Tests of
      // entity tags and of changes send them.
      const documented = Object.keys(responses).filter((status) => !['default', '304', '403'].includes(status))
      expect([...seen], `${method} ${path}`).toEqual(expect.arrayContaining(documented))
    }
  }, 600_000)

  /** Starts two services that stay in the same state: one gets each request as REST, the other gets it as RPC. */
  async function startPair(): Promise<Check> {
    const [rest, rpc] = [await startClient(), await startClient()]
    return async (operation, request) => {
      const [response, rpcResponse] = await Promise.all([
        sendRest(rest, operation, request),
        sendRpc(service.router, rpc, schemas, operation, request),
      ])
      const faults = [
        ...contradictionsIn(operation, response),
        ...wrongDecision(operation, request, response),
        ...differencesBetween(operation, request, response, rpcResponse),
      ]
      const summary = [request, response.status, response.text, rpcResponse.status, rpcResponse.text]
        .map((part) => show(part))
        .join('\n')
      return { status: response.status, faults: faults.map((fault) => `${fault}: ${operation.method} ${summary}`) }
    }
  }

  async function startClient(): Promise<RestClient> {
    const { app, key } = await startTestApi()
    const client = connectRestClient(await app.listen({ host: '127.0.0.1', port: 0 }), key)
    // A change refuses a note that is done.
    if (service === notes.service) await client.post('/v1/notes', { body: 'Tea', priority: 1, state: 'done' })
    return client
  }

  /** The parts of a response that contradict the document. */
  function contradictionsIn({ responses }: DocumentedOperation, { status, headers, text }: RestResponse): string[] {
    const documented = responses[status] ?? responses.default
    if (!documented || status >= 500) return ['an unexpected status']
    const [mediaType = ''] = (headers['content-type'] ?? '').split(';')
    const schema = documented.content?.[mediaType]?.schema
    if (!schema) return [`an undocumented content type, ${mediaType}`]
    const value = parseExactly(text)
    return [
      schemas.findFault(schema, value),
      status >= 400 && !isDeepStrictEqual(Object(value).status, BigInt(status)) && 'another status in the body',
      ...Object.entries(documented.headers ?? {}).map(([name, header]) =>
        faultOfHeader(name, header, headers[name.toLowerCase()]),
      ),
    ].filter((fault) => typeof fault === 'string')
  }

  function faultOfHeader(
    name: string,
    header: oas31.HeaderObject | oas31.ReferenceObject,
    value: string | undefined,
  ): string | undefined {
    if ('$ref' in header) throw new Error(`Teach the test to follow the reference of the header ${name}.`)
    if (value === undefined) return header.required ? `the header ${name} is missing` : undefined
    const fault = schemas.findFault(header.schema ?? {}, value)
    return fault && `the header ${name}: ${fault}`
  }

  /** Whether the service rejected a request that the document allows, or accepted one that it does not. */
  function wrongDecision(
    operation: DocumentedOperation,
    request: GeneratedRequest,
    { status }: RestResponse,
  ): string[] {
    const places = invalidPlaces(operation, request)
    const hasInvalidPath = places.delete('path')
    if (request.hasKey && !hasInvalidPath && places.size === 0) {
      const isRejected = status === 400 || status === 401 || !(status in operation.responses)
      return isRejected ? ['rejected a valid request'] : []
    }
    // A path with an invalid id names no resource: 404. If something else is invalid too, either may be reported.
    const expected = request.hasKey ? [...(hasInvalidPath ? [404] : []), ...(places.size > 0 ? [400] : [])] : [401]
    return expected.includes(status) ? [] : [`expected ${expected.join(' or ')}`]
  }

  function differencesBetween(
    operation: DocumentedOperation,
    request: GeneratedRequest,
    rest: RestResponse,
    rpc: RestResponse,
  ): string[] {
    if (rpc.status >= 500) return ['an unexpected status through RPC']
    if (rpc.status >= 300 !== rest.status >= 300) return ['one adapter accepts the request, the other rejects it']
    const restValue = parseExactly(rest.text)
    const rpcBody = JSON.parse(rpc.text)
    if (rest.status < 300) {
      const rpcValue = exactly(superjson.deserialize(rpcBody.result.data))
      return isDeepStrictEqual(withoutTimes(rpcValue), withoutTimes(restValue)) ? [] : ['another value through RPC']
    }
    // RPC has no paths: an invalid id is an invalid input there, and 404 in REST.
    if (invalidPlaces(operation, request).has('path')) return []
    return rpcBody.error.json.data.code === Object(restValue).code ? [] : ['another error through RPC']
  }

  /** The places of a request (`path`, `query`, `header`, `body`) that contradict the document. */
  function invalidPlaces(
    { parameters, bodySchema }: DocumentedOperation,
    { texts, body }: GeneratedRequest,
  ): Set<string> {
    const invalid = parameters.filter(({ required = false, schema = {} }, index) => {
      const [text, ...more] = texts[index] ?? []
      if (text === undefined) return required
      return more.length > 0 || schemas.findFault(schema, schemas.decode(schema, text)) !== undefined
    })
    const places = new Set<string>(invalid.map((parameter) => parameter.in))
    if (bodySchema && schemas.findFault(bodySchema, body)) places.add('body')
    return places
  }
})

/** The services have set their times at different moments. */
function withoutTimes(value: unknown): unknown {
  return parseExactly(writeExactly(value).replaceAll(/"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z"/g, '"a time"'))
}

function show(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? `${each}n` : each))
}
