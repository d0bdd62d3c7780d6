import { entriesOf, namesOf, type Resource, searchOf, type Values } from '../resource.ts'
import { jsonOf, literalOf, shellWord } from './quoting.ts'

/** A call of the API that the console shows or is about to send. */
export interface ApiCall {
  /** Tells the calls of one view apart. */
  title: string
  resource: Resource
  /** Only RPC serves `search`. */
  operation: 'list' | 'search' | 'get' | 'create'
  input: Values
  /** Only of a create. */
  idempotencyKey?: string
  /** What the service responded. */
  response?: unknown
}

export interface Service {
  /** The address of the service, such as `http://127.0.0.1:3000` or `https://shop.example/petstore`. */
  url: string
  /** Without it, the texts read the key from the environment. */
  apiKey?: string | undefined
}

/** The environment variable that contains the API key. */
export const keyVariable = 'PETSTORE_API_KEY'

export interface RestRequest {
  method: 'GET' | 'POST'
  /** Path and query, relative to the address of the service. */
  path: string
  headers: string[]
  body?: string
}

/** The call as a request of the REST API, or of the RPC API if only that serves it. The headers lack the API key. */
export function restRequestOf({ resource, operation, input, idempotencyKey }: ApiCall): RestRequest {
  const path = `/v1/${resource.many}`
  if (operation === 'get') return { method: 'GET', path: `${path}/${Object.values(input)}`, headers: [] }
  if (operation === 'search')
    return { method: 'GET', path: `/trpc/${resource.many}.search${rpcInputOf(input)}`, headers: [] }
  if (operation === 'list') return { method: 'GET', path: path + searchOf(input), headers: [] }
  const headers = ['Content-Type: application/json', `Idempotency-Key: ${idempotencyKey}`]
  return { method: 'POST', path, headers, body: jsonOf(input) }
}

/** The input as superjson writes it: an integer of 64 bits is a text, and `meta` names its type. */
function rpcInputOf(input: Values): string {
  const entries = entriesOf(input)
  const integers = entries.filter(([, value]) => typeof value === 'bigint')
  const json = Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]),
  )
  const values = Object.fromEntries(integers.map(([name]) => [name, ['bigint']]))
  return searchOf({ input: JSON.stringify({ json, ...(integers.length > 0 && { meta: { values } }) }) })
}

export function curlText(call: ApiCall, service: Service): string {
  return curlTextOf([call], service)
}

/** One command for several calls. Only the last one may have headers and a body. */
export function curlTextOf(calls: ApiCall[], { url, apiKey }: Service): string {
  const requests = calls.map(restRequestOf)
  const { headers = [], body } = requests.at(-1) ?? {}
  const authorization = apiKey === undefined ? bearerVariable : shellWord(bearer + apiKey)
  return [
    `curl ${requests.map(({ path }) => shellWord(url + path)).join(' \\\n  ')}`,
    `--header ${authorization}`,
    ...headers.map((header) => `--header ${shellWord(header)}`),
    ...(body === undefined ? [] : [`--data ${shellWord(body)}`]),
  ].join(' \\\n  ')
}

const bearer = 'Authorization: Bearer '
/** Double quotes expand the variable. */
export const bearerVariable = `"${bearer}$${keyVariable}"`

export function typedClientText(call: ApiCall, { url, apiKey }: Service): string {
  return `import { createPetstoreClient } from 'petstore-client'

const petstore = createPetstoreClient({
  url: ${literalOf(url)},
  apiKey: ${keyExpression(apiKey)},
})

${typedCallOf(call)}
`
}

function typedCallOf(call: ApiCall): string {
  const { resource, operation, input, idempotencyKey } = call
  const result = resultOf(call)
  const send = idempotencyKey
    ? `mutate(\n  ${literalOf(input, '  ')},\n  { context: { idempotencyKey: ${literalOf(idempotencyKey)} } },\n)`
    : `query(${literalOf(input)})`
  return `const ${result} = await petstore.${resource.many}.${operation}.${send}\nconsole.log(${result})`
}

function resultOf({ resource, operation }: ApiCall): string {
  return operation === 'list' || operation === 'search' ? resource.many : resource.one
}

/** Commands that generate the client of `generatedClientText`. */
export function generatedClientSetup({ url }: Service): string {
  return `npm install --save-dev @hey-api/openapi-ts@0.99.0 typescript@5.9.3

cat > openapi-ts.config.ts <<'END'
export default {
  input: ${literalOf(`${url}/openapi.json`)},
  output: { path: 'petstore', module: { extension: '.ts' } },
  plugins: [
    '@hey-api/client-fetch',
    '@hey-api/typescript',
    '@hey-api/transformers',
    { name: '@hey-api/sdk', transformer: true },
  ],
}
END

npx openapi-ts
`
}

export function generatedClientText(call: ApiCall, { url, apiKey }: Service): string {
  const { operation, options } = generatedCallOf(call)
  const integers = namesOf(call.resource.fields.filter(({ kind }) => kind === 'id' || kind === 'integer'))
  return `import { client } from './petstore/client.gen.ts'
import { ${operation} } from './petstore/index.ts'

// JSON.parse rounds integers above 2^53, and JSON.stringify rejects a bigint. So they get the ids as strings.
const ids = /("(?:${integers.join('|')})":)"?(-?\\d+)"?/g

client.setConfig({
  baseUrl: ${literalOf(`${url}/v1`)},
  auth: ${keyExpression(apiKey)},
  bodySerializer: (body) =>
    JSON.stringify(body, (_name, value) => (typeof value === 'bigint' ? String(value) : value)).replace(ids, '$1$2'),
})
client.interceptors.response.use(async (response) => {
  const json = await response.text()
  return new Response(json.replace(ids, '$1"$2"'), response)
})

const { data } = await ${operation}(${literalOf({ ...options, throwOnError: true })})
console.log(data)
`
}

function generatedCallOf(call: ApiCall): { operation: string; options: object } {
  const { operation, input, idempotencyKey } = call
  const headers = { 'Idempotency-Key': idempotencyKey }
  const options = { list: { query: input }, search: {}, get: { path: input }, create: { headers, body: input } }[
    operation
  ]
  const result = resultOf(call)
  return { operation: operation + result.charAt(0).toUpperCase() + result.slice(1), options }
}

function keyExpression(apiKey: string | undefined): string {
  return apiKey === undefined ? `process.env.${keyVariable} ?? ''` : literalOf(apiKey)
}
