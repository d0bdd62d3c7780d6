import type { AnyRouter } from '@trpc/server'
import superjson from 'superjson'
import { isRecord } from '../../engine/service/api/validation.ts'
import { operationsOf } from '../../engine/service/rest/operations.ts'
import { writeExactly } from '../../engine/test/support/exact-json.ts'
import type { RestClient, RestResponse } from '../../engine/test/support/rest-client.ts'
import type { DocumentedOperation, GeneratedRequest } from './documented-requests.ts'
import type { DocumentedSchemas, Schema } from './documented-schemas.ts'

/** Sends a generated request to the service, as REST or as the same call through RPC. */

export async function sendRest(
  client: RestClient,
  operation: DocumentedOperation,
  request: GeneratedRequest,
): Promise<RestResponse> {
  const { method, bodySchema } = operation
  const body = bodySchema && writeExactly(request.body, spellings[request.spelling])
  return client.send({
    method,
    url: restUrl(operation, request),
    headers: headersOf(operation, request),
    ...(body === undefined ? {} : { payload: body }),
  })
}

/** The spellings of an integer in JSON. */
const spellings: ((integer: bigint) => string)[] = [
  String,
  (integer) => `${integer}.0`,
  (integer) => `${integer}E+0`,
  (integer) => (integer === 0n ? '-0' : `${integer}0e-1`),
]

export async function sendRpc(
  router: AnyRouter,
  client: RestClient,
  schemas: DocumentedSchemas,
  operation: DocumentedOperation,
  request: GeneratedRequest,
): Promise<RestResponse> {
  const { name, type } = procedureBehind(router, operation)
  const input = JSON.stringify(superjson.serialize(rpcInput(schemas, operation, request)))
  const headers = headersOf(operation, request)
  return type === 'query'
    ? client.get(`/trpc/${name}?input=${encodeURIComponent(input)}`, headers)
    : client.post(`/trpc/${name}`, input, headers)
}

function restUrl({ path, parameters }: DocumentedOperation, { texts }: GeneratedRequest): string {
  const query: string[] = []
  let filled = path
  for (const [index, { in: place, name }] of parameters.entries()) {
    const encoded = (texts[index] ?? []).map(encodeURIComponent)
    if (place === 'query') query.push(...encoded.map((text) => `${name}=${text}`))
    if (place === 'path') filled = filled.replace(`{${name}}`, () => encoded.join())
  }
  return `/v1${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`
}

function headersOf(
  { parameters, bodySchema }: DocumentedOperation,
  { texts, hasKey }: GeneratedRequest,
): Record<string, string> {
  const sent = parameters.flatMap(({ in: place, name }, index) =>
    place === 'header' ? (texts[index] ?? []).map((text) => [name, text]) : [],
  )
  return {
    ...(bodySchema ? { 'content-type': 'application/json' } : {}),
    ...(hasKey ? {} : { authorization: '' }),
    ...Object.fromEntries(sent),
  }
}

function procedureBehind(router: AnyRouter, { method, path }: DocumentedOperation) {
  const found = operationsOf(router).find((operation) => operation.method === method && operation.path === path)
  if (!found) throw new Error(`The router has no procedure for ${method} ${path}.`)
  return found
}

function rpcInput(
  schemas: DocumentedSchemas,
  { parameters, bodySchema }: DocumentedOperation,
  { texts, body }: GeneratedRequest,
): unknown {
  const fields = parameters.flatMap(({ in: place, name, schema = {} }, index) => {
    const values = (texts[index] ?? []).map((text) => forRpc(schemas, schema, schemas.decode(schema, text)))
    return place === 'header' || values.length === 0 ? [] : [[name, values.length === 1 ? values[0] : values]]
  })
  const ofBody = bodySchema ? forRpc(schemas, bodySchema, body) : {}
  return isRecord(ofBody) ? { ...ofBody, ...Object.fromEntries(fields) } : ofBody
}

/** RPC sends an integer as a `bigint` if its format is int64, and as a number otherwise, and a time as a `Date`. */
function forRpc(schemas: DocumentedSchemas, schema: Schema, value: unknown): unknown {
  const { format, items = {}, properties = {} } = schemas.resolve(schema)
  if (typeof value === 'bigint') return format === 'int64' ? value : Number(value)
  if (format === 'date-time' && typeof value === 'string' && schemas.findFault(schema, value) === undefined)
    return new Date(value)
  if (Array.isArray(value)) return value.map((each) => forRpc(schemas, items, each))
  if (!isRecord(value)) return value
  const fields = Object.entries(value)
  return Object.fromEntries(fields.map(([name, each]) => [name, forRpc(schemas, properties[name] ?? {}, each)]))
}
