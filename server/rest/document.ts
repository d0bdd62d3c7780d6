import type { AnyRouter } from '@trpc/server'
import { generateOpenApiDocument } from 'trpc-to-openapi'
import { z } from 'zod'
import { createSchema, type oas31 } from 'zod-openapi'
import { ErrorBody } from '../api/errors.ts'
import { type Operation, operationsOf, splitInput, successStatus, takesBody } from './operations.ts'

type Schema = oas31.SchemaObject | oas31.ReferenceObject
type Schemas = Record<string, Schema>

const description = `Manages the animals of a pet store.

Every request carries an API key as a bearer token. Integers of format int64 are exact over their whole range.
Any failure is answered with an Error body, also those that no operation lists.`

/**
 * The OpenAPI 3.1 document, made from the procedures. trpc-to-openapi drafts it; this puts right what it cannot know:
 * the status of a creation, the Error body, the name of a request body, the headers of answers.
 */
export function createDocument(router: AnyRouter, servers: oas31.ServerObject[]): oas31.OpenAPIObject {
  // Two packages' types for the same standard.
  const draft = generateOpenApiDocument(router, {
    title: 'Petstore',
    description,
    version: '1.0.0',
    license: { name: 'MIT', identifier: 'MIT' },
    baseUrl: '',
    securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the service.' } },
  }) as oas31.OpenAPIObject
  const operations = operationsOf(router)
  const paths: oas31.PathsObject = {}
  for (const operation of operations) {
    const method = operation.method.toLowerCase() as 'get'
    const drafted = draft.paths?.[operation.path]?.[method]
    if (drafted) paths[operation.path] = { ...paths[operation.path], [method]: mend(drafted, operation) }
  }
  return { ...draft, servers, paths, components: { ...draft.components, schemas: namedSchemas(operations) } }
}

function mend(drafted: oas31.OperationObject, operation: Operation): oas31.OperationObject {
  const { parameters = [], requestBody, responses, ...rest } = drafted
  return {
    ...rest,
    ...(parameters.length > 0
      ? { parameters: parameters.map((parameter) => describe(parameter, operation.input)) }
      : {}),
    ...(requestBody ? { requestBody: { required: true, content: json(reference(nameOf(operation.input))) } } : {}),
    responses: mendResponses(responses?.['200'], operation),
  }
}

/** Restores the description that a parameter loses when its schema is a reference, and fills in no optional enum. */
function describe(parameter: oas31.ParameterObject | oas31.ReferenceObject, { shape }: z.ZodObject) {
  if ('$ref' in parameter) return parameter
  const schema = shape[parameter.name]
  const text = schema?.meta()?.description
  const isOptionalEnum = schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodEnum
  return { ...parameter, ...(text && { description: text }), ...(isOptionalEnum && { examples: notFilledIn }) }
}

/** Without a disabled example, the API reference sends the first value of an enum, which would filter a list. */
const notFilledIn: oas31.ExamplesObject = { default: { 'x-disabled': true } }

function mendResponses(drafted: unknown, operation: Operation): oas31.ResponsesObject {
  const success = drafted as oas31.ResponseObject
  const deprecated = operation.meta.deprecation ? required(deprecationHeaders) : {}
  const failures = Object.entries(operation.meta.openapi?.errorResponses ?? {}).map(([status, text]) => [
    status,
    failure(text, status === '401' ? { ...deprecated, ...challengeHeader } : deprecated),
  ])
  const headers = {
    ...success.headers,
    ...deprecated,
    ...(successStatus(operation) === 201 ? locationHeader : {}),
    ...('cursor' in operation.input.shape ? nextHeader : {}),
  }
  return {
    [successStatus(operation)]: { ...success, ...withHeaders(headers) },
    ...Object.fromEntries(failures),
    default: failure(
      'Any other failure, such as 413, 415, 429 or 503; `Retry-After` tells when to try again.',
      // Not required: a request that is not valid HTTP is refused before it is routed to the operation.
      operation.meta.deprecation ? deprecationHeaders : {},
    ),
  }
}

function failure(text: string, headers: oas31.HeadersObject): oas31.ResponseObject {
  return { description: text, ...withHeaders(headers), content: json(reference('Error')) }
}

const locationHeader = required({ Location: header('Path of what was created.') })
const nextHeader = { Link: header('On a full page, the URL of the next one with `rel="next"` (RFC 8288).') }
const challengeHeader = required({
  'WWW-Authenticate': header('The challenge of HTTP bearer authentication (RFC 6750).'),
})
const deprecationHeaders = {
  Deprecation: header('When the operation was deprecated (RFC 9745).'),
  Sunset: header('When the operation is to be removed (RFC 8594).'),
  Link: header('The successor (`rel="successor-version"`) and the documentation (`rel="deprecation"`).'),
}

function header(text: string): oas31.HeaderObject {
  return { description: text, schema: { type: 'string' } }
}

function required(headers: Record<string, oas31.HeaderObject>): oas31.HeadersObject {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { ...value, required: true }]))
}

function withHeaders(headers: oas31.HeadersObject): { headers?: oas31.HeadersObject } {
  return Object.keys(headers).length > 0 ? { headers } : {}
}

/** The schemas that have a name. What the service returns may gain fields, so no object is closed. */
function namedSchemas(operations: Operation[]): Schemas {
  const bodies = operations.filter(takesBody).map((operation) => createSchema(bodyOf(operation), { io: 'input' }))
  const answers = [ErrorBody, ...operations.map(({ output }) => output)].map((output) =>
    createSchema(output, { io: 'output' }),
  )
  const named: Schemas = Object.assign({}, ...[...bodies, ...answers].map(({ components }) => components))
  for (const schema of Object.values(named)) {
    if ('additionalProperties' in schema) delete schema.additionalProperties
  }
  return named
}

/** The input without the fields that are in the path, under the same name. */
function bodyOf(operation: Operation): z.ZodObject {
  return splitInput(operation).elsewhere.meta({ ...operation.input.meta() })
}

function nameOf(schema: z.ZodType): string {
  const name = schema.meta()?.id
  if (!name) throw new Error('A request body needs a name: give its schema an id with meta().')
  return name
}

function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

function json(schema: Schema): oas31.ContentObject {
  return { 'application/json': { schema } }
}
