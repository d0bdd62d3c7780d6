import type { AnyRouter } from '@trpc/server'
import { generateOpenApiDocument } from 'trpc-to-openapi'
import { z } from 'zod'
import { createSchema, type oas31 } from 'zod-openapi'
import { ApiError, dataUnavailable, ErrorBody, errorCodeOf } from '../api/errors.ts'
import { unwrapped } from '../api/schema.ts'
import { isRecord } from '../api/validation.ts'
import type { Deprecation } from '../procedures/trpc.ts'
import type { Product } from '../product.ts'
import { isPaged, needsBody, type Operation, operationsOf, splitInput, successStatus } from './operations.ts'

type Schema = oas31.SchemaObject | oas31.ReferenceObject

const conventions = `Every request carries an API key as a bearer token. Integers of format int64 are exact over their whole range.
Every error response has an Error body, also those that no operation lists.`

/**
 * Generates the OpenAPI 3.1 document with trpc-to-openapi and corrects what that package cannot express: the status 201,
 * the Error body, the name of a request body's schema, response headers.
 */
export function createDocument(
  router: AnyRouter,
  { name: title, description, apiVersion, license }: Pick<Product, 'name' | 'description' | 'apiVersion' | 'license'>,
  servers: oas31.ServerObject[],
): oas31.OpenAPIObject {
  const operations = operationsOf(router)
  const procedures = Object.fromEntries(operations.map((operation) => [operation.name, { _def: operation }]))
  // Safe: trpc-to-openapi reads only these fields of procedures.
  const served = { ...router, _def: { ...router._def, procedures } } as AnyRouter
  // trpc-to-openapi and zod-openapi each have a type for the same OpenAPI standard.
  const generated = generateOpenApiDocument(served, {
    title,
    description: `${description}\n\n${conventions}`,
    version: apiVersion,
    ...(license && { license: { name: license, identifier: license } }),
    baseUrl: '',
    securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the service.' } },
  }) as oas31.OpenAPIObject
  const paths: oas31.PathsObject = {}
  for (const operation of operations) {
    // Any lower-case method is a key of a path item; 'get' stands for all of them.
    const method = operation.method.toLowerCase() as 'get'
    const draft = generated.paths?.[operation.path]?.[method]
    if (draft) paths[operation.path] = { ...paths[operation.path], [method]: patchOperation(draft, operation) }
  }
  const components = { ...generated.components, schemas: namedSchemas(operations) }
  const tags = new Map(operations.flatMap(({ meta: { tag } }) => (tag ? [[tag.name, tag]] : [])))
  return { ...generated, servers, tags: [...tags.values()], paths, components }
}

function patchOperation(draft: oas31.OperationObject, operation: Operation): oas31.OperationObject {
  const { parameters = [], requestBody, responses, description, ...rest } = draft
  const { tag, deprecation } = operation.meta
  const text = [description, deprecation && deprecationNotice(deprecation)].filter(Boolean).join('\n\n')
  return {
    ...rest,
    ...(text && { description: text }),
    ...(tag && { tags: [tag.name] }),
    ...(parameters.length > 0 && { parameters: parameters.map((each) => patchParameter(each, operation)) }),
    ...(requestBody && needsBody(operation) && { requestBody: { required: true, content: bodyContent(operation) } }),
    responses: patchResponses(responses?.['200'], operation),
  }
}

function deprecationNotice({ since, sunset, replacement }: Deprecation): string {
  const [start, end] = [since, sunset].map((date) =>
    date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' }),
  )
  return `Deprecated since ${start}, to be removed on ${end}. Use ${replacement} instead.`
}

/**
 * Adds the description that a parameter loses when its schema is a reference, and an example if it is required or has a
 * default. Importers such as that of Postman would send the examples of all others: filters, or the same key for each create.
 */
function patchParameter(parameter: oas31.ParameterObject | oas31.ReferenceObject, { input, meta }: Operation) {
  if ('$ref' in parameter) return parameter
  const { openapi } = meta
  const headers = openapi?.requestHeaders instanceof z.ZodObject ? openapi.requestHeaders.shape : {}
  const schema = parameter.in === 'header' ? headers[parameter.name] : input.shape[parameter.name]
  if (!schema) return parameter
  const text = schema.meta()?.description
  const example = parameter.required || schema instanceof z.ZodDefault ? exampleOf(schema) : undefined
  return { ...parameter, ...(text && { description: text }), ...(example !== undefined && { example }) }
}

function patchResponses(draft: oas31.ResponsesObject['200'], operation: Operation): oas31.ResponsesObject {
  const { deprecation, cache } = operation.meta
  // trpc-to-openapi generates no references to responses.
  const success = draft as oas31.ResponseObject
  const always = deprecation ? required(deprecationHeaders) : {}
  const failures = Object.entries(errorsOf(operation)).map(([status, text]) => {
    const headers = { ...always, ...(status === '401' && challengeHeader), ...rateHeaders }
    return [status, failure(text, headers, new ApiError(errorCodeOf(Number(status)), text).body)]
  })
  const example = exampleOf(operation.output)
  const content = success.content?.['application/json']
  const headers = {
    ...success.headers,
    ...always,
    ...rateHeaders,
    ...(operation.hasLocation && locationHeader),
    ...(isPaged(operation) && (deprecation ? required(bothLinks) : { Link: header(nextText) })),
    ...(cache && tagHeader),
  }
  return {
    [successStatus(operation)]: {
      ...success,
      headers,
      ...(content && {
        content: { 'application/json': { ...allowMore(content), ...(example !== undefined && { example }) } },
      }),
    },
    ...(cache && { 304: { description: 'The body is still that of the tag in `If-None-Match`.', headers } }),
    ...Object.fromEntries(failures),
    default: failure(
      'Any other failure, such as 413, 415, 429 or 503.',
      // Not required: a request that is not valid HTTP is rejected before it reaches the operation.
      { ...(deprecation && deprecationHeaders), ...retryHeader, ...rateHeaders },
      dataUnavailable().body,
    ),
  }
}

/** The errors that follow from the metadata and the input. The product can list others, or give one its own text. */
function errorsOf(operation: Operation): Record<string, string> {
  const { type, meta, path, input, replays } = operation
  const hasParameters = replays || Object.keys(splitInput(operation).elsewhere.shape).length > 0
  return {
    ...(hasParameters && { 400: 'A parameter has an invalid value.' }),
    ...(needsBody(operation) && { 400: 'The body is missing required fields or contains invalid values.' }),
    401: 'The API key is missing or invalid.',
    ...((type === 'mutation' || meta.access) && { 403: 'The API key may only read.' }),
    ...(path.includes('{') && { 404: 'There is nothing at this path.' }),
    ...('expected' in input.shape && { 409: 'A field has another value now than in `expected`.' }),
    ...(replays && { 422: 'The `Idempotency-Key` was used before with another payload.' }),
    ...Object.fromEntries(Object.entries(meta.openapi?.errorResponses ?? {})),
  }
}

function failure(text: string, headers: oas31.HeadersObject, example: ErrorBody): oas31.ResponseObject {
  return { description: text, headers, content: json('Error', example) }
}

const locationHeader = required({ Location: header('Path of what was created.') })
const nextText = 'On a full page, the URL of the next one with `rel="next"` (RFC 8288).'
const tagHeader = required({
  ETag: header(
    'A weak entity tag of the body. A request with it in `If-None-Match` gets 304 without a body (RFC 9110).',
  ),
})
const challengeHeader = required({
  'WWW-Authenticate': header('The challenge of HTTP bearer authentication (RFC 6750).'),
})
const retryHeader = { 'Retry-After': header('With 429, and with a 503 that passes: the seconds to wait (RFC 9110).') }
const rateHeaders = {
  RateLimit: header(
    'If the service has a rate limit: the calls that are left, and the seconds until the limit is reset.',
  ),
  'RateLimit-Policy': header(
    'If the service has a rate limit: the number of calls, and the length of the window in seconds.',
  ),
}
const deprecationText = 'The successor (`rel="successor-version"`) and the documentation (`rel="deprecation"`).'
const deprecationHeaders = {
  Deprecation: header('When the operation was deprecated (RFC 9745).'),
  Sunset: header('When the operation is to be removed (RFC 8594).'),
  Link: header(deprecationText),
}
const bothLinks = { Link: header(`${nextText} ${deprecationText}`) }

function header(text: string): oas31.HeaderObject {
  return { description: text, schema: { type: 'string' } }
}

function required(headers: Record<string, oas31.HeaderObject>): oas31.HeadersObject {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { ...value, required: true }]))
}

/** The schemas with a name. */
function namedSchemas(operations: Operation[]): Record<string, Schema> {
  const inputs = operations.filter(needsBody).map((operation) => {
    const body = splitInput(operation).elsewhere.meta({ ...operation.input.meta() })
    return createSchema(body, { io: 'input' }).components
  })
  const outputs = [ErrorBody, ...operations.map(({ output }) => output)]
  const ofOutputs = outputs.map((output) => allowMore(createSchema(output, { io: 'output' }).components))
  return Object.assign({}, ...inputs, ...ofOutputs)
}

/** Outputs may gain fields later, so no object in them forbids additional properties. */
function allowMore<T>(schema: T): T {
  if (isRecord(schema) && schema.additionalProperties === false) delete schema.additionalProperties
  if (typeof schema === 'object' && schema) for (const part of Object.values(schema)) allowMore(part)
  return schema
}

function bodyContent(operation: Operation): oas31.ContentObject {
  return json(String(operation.input.meta()?.id), exampleOf(splitInput(operation).elsewhere))
}

function json(schemaName: string, example: unknown): oas31.ContentObject {
  const schema = { $ref: `#/components/schemas/${schemaName}` }
  return { 'application/json': { schema, ...(example !== undefined && { example }) } }
}

/** Builds an example from those of the fields (`meta.examples`). Undefined if a required field has none. */
export function exampleOf(schema: z.core.$ZodType): unknown {
  const [example] = z.globalRegistry.get(schema)?.examples ?? []
  if (example !== undefined) return example
  if (schema instanceof z.ZodArray) {
    const item = exampleOf(schema.element)
    return item === undefined ? undefined : [item]
  }
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([name, field]) => ({ name, value: exampleOf(field), field }))
    if (fields.some(({ value, field }) => value === undefined && !field.safeParse(undefined).success)) return undefined
    return Object.fromEntries(fields.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])))
  }
  const inner = unwrapped(schema)
  return inner && exampleOf(inner)
}
