import type { NewPet, PetStatus } from '../../client/index.ts'
import { jsonOf, literalOf, shellWord } from './quoting.ts'

/** A call of the API that the console shows or is about to send. */
export type ApiCall = {
  /** Tells the calls of one view apart. */
  title: string
  /** What the service responded. */
  response?: unknown
} & (
  | { procedure: 'pets.list'; input: { status?: PetStatus | undefined; cursor?: bigint | undefined; limit: number } }
  | { procedure: 'pets.get'; input: { petId: bigint } }
  | { procedure: 'pets.create'; input: NewPet; idempotencyKey: string }
)

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

/** The call as a request of the REST API. The headers lack the API key. */
export function restRequestOf(call: ApiCall): RestRequest {
  switch (call.procedure) {
    case 'pets.list':
      return { method: 'GET', path: `/v1/pets?${queryOf(call.input)}`, headers: [] }
    case 'pets.get':
      return { method: 'GET', path: `/v1/pets/${call.input.petId}`, headers: [] }
    case 'pets.create':
      return {
        method: 'POST',
        path: '/v1/pets',
        headers: ['Content-Type: application/json', `Idempotency-Key: ${call.idempotencyKey}`],
        body: jsonOf(call.input),
      }
  }
}

function queryOf(parameters: Record<string, string | number | bigint | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value))
  return query.toString()
}

export function curlText(call: ApiCall, { url, apiKey }: Service): string {
  const { path, headers, body } = restRequestOf(call)
  // Double quotes expand the variable.
  const authorization = apiKey === undefined ? `"${bearer}$${keyVariable}"` : shellWord(bearer + apiKey)
  return [
    `curl ${shellWord(url + path)}`,
    `--header ${authorization}`,
    ...headers.map((header) => `--header ${shellWord(header)}`),
    ...(body === undefined ? [] : [`--data ${shellWord(body)}`]),
  ].join(' \\\n  ')
}

const bearer = 'Authorization: Bearer '

export function typedClientText(call: ApiCall, { url, apiKey }: Service): string {
  return `import { createPetstoreClient } from 'petstore/client'

const petstore = createPetstoreClient({
  url: ${literalOf(url)},
  apiKey: ${keyExpression(apiKey)},
})

${typedCallOf(call)}
`
}

function typedCallOf(call: ApiCall): string {
  switch (call.procedure) {
    case 'pets.list':
      return `const pets = await petstore.pets.list.query(${literalOf(call.input)})\nconsole.log(pets)`
    case 'pets.get':
      return `const pet = await petstore.pets.get.query(${literalOf(call.input)})\nconsole.log(pet)`
    case 'pets.create':
      return `const pet = await petstore.pets.create.mutate(
  ${literalOf(call.input, '  ')},
  { context: { idempotencyKey: ${literalOf(call.idempotencyKey)} } },
)
console.log(pet)`
  }
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
  return `import { client } from './petstore/client.gen.ts'
import { ${operation} } from './petstore/index.ts'

// JSON.parse rounds integers above 2^53, and JSON.stringify rejects a bigint. So they get the ids as strings.
const ids = /("(?:id|categoryId)":)"?(-?\\d+)"?/g

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
  switch (call.procedure) {
    case 'pets.list':
      return { operation: 'listPets', options: { query: call.input } }
    case 'pets.get':
      return { operation: 'getPet', options: { path: call.input } }
    case 'pets.create':
      return {
        operation: 'createPet',
        options: { headers: { 'Idempotency-Key': call.idempotencyKey }, body: call.input },
      }
  }
}

function keyExpression(apiKey: string | undefined): string {
  return apiKey === undefined ? `process.env.${keyVariable} ?? ''` : literalOf(apiKey)
}
