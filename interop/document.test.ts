import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { petStatuses } from '../db/pets/rules.ts'
import type { RestClient } from '../engine/test/support/rest-client.ts'
import { temporaryFolder } from '../engine/test/support/temporary.ts'
import { listen, startTestApi } from '../test/support/petstore.ts'

const document = join(import.meta.dirname, '../server/openapi.json')

test('Spectral reports nothing', async () => {
  const spectral = join(import.meta.dirname, 'node_modules/.bin/spectral')
  const ruleset = join(import.meta.dirname, 'spectral.yaml')
  const words = ['lint', '--fail-severity=hint', '--format=json', `--ruleset=${ruleset}`, document]
  const { stdout } = await promisify(execFile)(spectral, words).catch((failed) => failed)
  // After the results, Spectral also prints a sentence.
  expect(stdout).toMatch(/^\[\]/)
})

test('Redocly reports nothing', async () => {
  const path = join(temporaryFolder(), 'openapi.json')
  const { app } = await startTestApi({ config: { publicUrl: 'https://pets.petstore.dev' } })
  writeFileSync(path, (await app.inject('/openapi.json')).payload)
  const redocly = join(import.meta.dirname, 'node_modules/.bin/redocly')
  const env = { PATH: process.env.PATH, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const words = ['lint', '--extends=recommended', '--format=json', path]
  const { stdout, stderr } = await promisify(execFile)(redocly, words, { env }).catch((failed) => failed)
  expect(JSON.parse(stdout), stderr).toMatchObject({ totals: { errors: 0, warnings: 0 } })
})

test('every request that Postman imports succeeds each time it is sent, lists all pets and adds another one', async () => {
  const { url, key, rest } = await listen()
  for (const status of petStatuses) await rest.post('/v1/pets', { name: 'Minka', categoryId: 7, status })
  const requests = await importIntoPostman(readFileSync(document, 'utf8'))
  expect(requests).toHaveLength(3)
  for (const { method, url: target, header, body } of requests) {
    const variables = new Map(target.variable.map((each) => [`:${each.key}`, each.value]))
    const path = target.path.map((part) => variables.get(part) ?? part).join('/')
    const query = new URLSearchParams(Object.fromEntries(enabledIn(target.query)))
    const headers = {
      ...Object.fromEntries(enabledIn(header)),
      authorization: `Bearer ${key}`,
    }
    const init = { method, headers, ...(body && { body: body.raw }) }
    await expectEachTime(rest, () => fetch(`${url}/v1/${path}?${query}`, init))
  }
})

/** Sends a request several times, while the store has pets of each status. */
async function expectEachTime(rest: RestClient, send: () => Promise<Response>): Promise<void> {
  for (let i = 0; i < 2; i++) {
    const { body: before } = await rest.get('/v1/pets?limit=100')
    const response = await send()
    const body: unknown = await response.json()
    expect(response.ok, JSON.stringify(body)).toBe(true)
    const { body: after } = await rest.get('/v1/pets?limit=100')
    if (response.status === 201) expect(after).toEqual([...(before as unknown[]), body])
    else if (Array.isArray(body)) expect(body).toEqual(after)
  }
}

test('every request that Bruno imports succeeds each time it is sent, lists all pets and adds another one', async () => {
  const { url, key, rest } = await listen()
  for (const status of petStatuses) await rest.post('/v1/pets', { name: 'Minka', categoryId: 7, status })
  const requests = await importIntoBruno(readFileSync(document, 'utf8'))
  expect(requests).toHaveLength(3)
  for (const { method, url: target, params, headers, body, auth } of requests) {
    expect(auth.bearer.token).toBe('{{token}}')
    const enabled = params.filter(({ enabled }) => enabled)
    const path = enabled
      .filter(({ type }) => type === 'path')
      .reduce((path, { name, value }) => path.replace(`:${name}`, value), target.replace('{{baseUrl}}', `${url}/v1`))
    const inQuery = enabled.filter(({ type }) => type === 'query')
    const query = new URLSearchParams(Object.fromEntries(inQuery.map(({ name, value }) => [name, value])))
    const init = {
      method,
      headers: {
        ...Object.fromEntries(headers.filter(({ enabled }) => enabled).map(({ name, value }) => [name, value])),
        ...(body.json && { 'content-type': 'application/json' }),
        authorization: `Bearer ${key}`,
      },
      ...(body.json && { body: body.json }),
    }
    await expectEachTime(rest, () => fetch(`${path}?${query}`, init))
  }
})

test('Insomnia imports every request with its path and its authentication', async () => {
  // It prints that it validates only OpenAPI 3.0, and continues.
  const log = vi.spyOn(console, 'log').mockReturnValue()
  onTestFinished(() => log.mockRestore())
  const { convert } = createRequire(import.meta.url)('insomnia-importers') as InsomniaImporter
  const { data } = await convert(readFileSync(document, 'utf8'))
  const requests = data.resources.filter(({ _type }) => _type === 'request')
  expect(requests.map(({ method, url }) => `${method} ${url}`).toSorted()).toEqual([
    'GET {{ base_url }}/pets',
    'GET {{ base_url }}/pets/{{ petId }}',
    'POST {{ base_url }}/pets',
  ])
  for (const { authentication } of requests) expect(authentication?.token).toBe('{{bearerToken}}')
})

interface Pair {
  key: string
  value: string
  disabled?: boolean
}

function enabledIn(pairs: Pair[]): [string, string][] {
  return pairs.filter(({ disabled }) => !disabled).map(({ key, value }) => [key, value])
}

/** A request of a Postman collection. */
interface PostmanRequest {
  method: string
  url: { path: string[]; query: Pair[]; variable: Pair[] }
  header: Pair[]
  body?: { raw: string }
}

interface PostmanItem {
  item?: PostmanItem[]
  request?: PostmanRequest
}

interface Converter {
  convertV2(
    input: { type: 'string'; data: string },
    options: object,
    done: (error: unknown, outcome: { output: { data: PostmanItem }[] }) => void,
  ): void
}

/** Imports a document as Postman does if the user chooses to generate parameters from examples. */
async function importIntoPostman(data: string): Promise<PostmanRequest[]> {
  // Safe: the package has no types, and the test fails if these are wrong.
  const converter = createRequire(import.meta.url)('openapi-to-postmanv2') as Converter
  const { promise, resolve, reject } = Promise.withResolvers<PostmanItem>()
  converter.convertV2(
    { type: 'string', data },
    { parametersResolution: 'Example', enableOptionalParameters: false },
    (error, { output }) => {
      if (output[0]) resolve(output[0].data)
      else reject(error)
    },
  )
  return requestsIn(await promise)
}

function requestsIn({ item = [], request }: PostmanItem): PostmanRequest[] {
  return [...(request ? [request] : []), ...item.flatMap(requestsIn)]
}

/** A request of a Bruno collection. */
interface BrunoRequest {
  method: string
  url: string
  params: { type: string; name: string; value: string; enabled: boolean }[]
  headers: { name: string; value: string; enabled: boolean }[]
  body: { json: string | null }
  auth: { bearer: { token: string } }
}

interface BrunoItem {
  items?: BrunoItem[]
  request?: BrunoRequest
}

async function importIntoBruno(data: string): Promise<BrunoRequest[]> {
  // Safe: the package has no types, and the test fails if these are wrong.
  const { openApiToBruno } = createRequire(import.meta.url)('@usebruno/converters') as {
    openApiToBruno: (document: object) => Promise<BrunoItem>
  }
  return brunoRequestsIn(await openApiToBruno(JSON.parse(data)))
}

function brunoRequestsIn({ items = [], request }: BrunoItem): BrunoRequest[] {
  return [...(request ? [request] : []), ...items.flatMap(brunoRequestsIn)]
}

interface InsomniaImporter {
  convert(data: string): Promise<{
    data: { resources: { _type: string; method?: string; url?: string; authentication?: { token: string } }[] }
  }>
}
