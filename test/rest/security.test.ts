import { describe, expect, test } from 'vitest'
import type { oas31 } from 'zod-openapi'
import { createDocument } from '../../engine/service/rest/document.ts'
import { appRouter } from '../../server/router.ts'
import { apiKeyRecord, mintApiKey, product, shareTestApi, startTestApi, type TestApi } from '../support/petstore.ts'

/** These tests run over every operation of the document, so they cover a new operation without a change. */

const document = createDocument(appRouter, product, [])
const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  (['get', 'post', 'put', 'patch', 'delete'] as const)
    .filter((method) => item[method])
    .map((method) => ({
      method: method.toUpperCase() as 'GET',
      url: `/v1${path.replaceAll(/\{\w+\}/g, '1')}`,
      operation: item[method] as oas31.OperationObject,
    })),
)

const noCredentials: [name: string, authorization: string | undefined][] = [
  ['no header', undefined],
  ['an empty header', ''],
  ['another scheme', 'Basic cGV0OnBldA=='],
  ['a scheme without a key', 'Bearer'],
  ['a scheme and a blank', 'Bearer '],
  ['two keys', 'Bearer a b'],
]

const wrongKeys: [name: string, key: (api: TestApi) => string | Promise<string>][] = [
  ['nonsense', () => 'nonsense'],
  ['an unknown key', () => mintApiKey()],
  ['a key with a wrong checksum', ({ key }) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
  ['a key with another case', ({ key }) => key.replace(/[a-z](?=[^a-z]*$)/, (letter) => letter.toUpperCase())],
  ['a key cut short', ({ key }) => key.slice(0, -1)],
  ['a revoked key', revokedKey],
  ['an expired key', expiredKey],
]

describe.for(operations)('$method $url', ({ method, url, operation }) => {
  const shared = shareTestApi()

  test('is documented to need a key', () => {
    expect(operation.security).toEqual([{ apiKey: [] }])
    expect(operation.responses).toHaveProperty('401')
  })

  test.for(noCredentials)('with %s gets 401 with a challenge', async ([, authorization]) => {
    const { app } = shared()
    const response = await app.inject({ method, url, headers: authorization === undefined ? {} : { authorization } })
    expect(response.headers['www-authenticate']).toBe('Bearer realm="petstore"')
    expect(response.json()).toEqual({ code: 'unauthorized', message: expect.any(String), status: 401 })
  })

  test.for(wrongKeys)('with %s gets the same 401 as with any other wrong key', async ([, makeKey]) => {
    const api = shared()
    const authorization = `Bearer ${await makeKey(api)}`
    const response = await api.app.inject({ method, url, headers: { authorization } })
    expect(response.headers['www-authenticate']).toBe('Bearer realm="petstore", error="invalid_token"')
    expect(response.json()).toEqual({
      code: 'unauthorized',
      message: 'The API key is not valid: it is unknown, revoked or expired.',
      status: 401,
    })
  })

  test('does not read a key from the query', async () => {
    const { app, key } = shared()
    for (const name of ['api_key', 'apiKey', 'key', 'access_token', 'authorization']) {
      expect((await app.inject({ method, url: `${url}?${name}=${key}` })).statusCode).toBe(401)
    }
  })

  test('checks the key before it reads the body', async () => {
    const { app } = shared()
    for (const payload of ['{', 'x'.repeat(70_000)]) {
      const response = await app.inject({ method, url, headers: { 'content-type': 'application/json' }, payload })
      expect(response.statusCode).toBe(401)
    }
  })
})

test('the RPC adapter checks the key in the same way, before it reads the body', async () => {
  const { app } = await startTestApi()
  for (const authorization of ['', `Bearer ${mintApiKey()}`]) {
    const response = await app.inject({
      method: 'POST',
      url: '/trpc/pets.create',
      headers: { authorization, 'content-type': 'application/json' },
      payload: '{',
    })
    expect(response.statusCode).toBe(401)
    const reason = authorization && ', error="invalid_token"'
    expect(response.headers['www-authenticate']).toBe(`Bearer realm="petstore"${reason}`)
    expect(response.json()).toMatchObject({ error: { json: { data: { code: 'unauthorized', status: 401 } } } })
  }
})

test.for(['/openapi.json', '/docs/', '/'])('%s needs no key', async (url) => {
  const { app } = await startTestApi()
  expect((await app.inject({ method: 'GET', url })).statusCode).toBeLessThan(400)
})

async function revokedKey({ store }: TestApi): Promise<string> {
  const key = mintApiKey()
  await store.apiKeys.revoke(await store.apiKeys.create(apiKeyRecord(key, 'revoked')), new Date())
  return key
}

async function expiredKey({ store }: TestApi): Promise<string> {
  const key = mintApiKey()
  await store.apiKeys.create(apiKeyRecord(key, 'expired', -1))
  return key
}
