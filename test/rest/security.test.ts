import { describe, expect, test } from 'vitest'
import type { oas31 } from 'zod-openapi'
import { appRouter } from '../../server/api/router.ts'
import { apiKeyRecord, mintApiKey } from '../../server/auth/api-key.ts'
import { createDocument } from '../../server/rest/document.ts'
import { shareTestApi, startTestApi, type TestApi } from '../support/helpers.ts'

/** Runs over every operation of the document, so that a new one is covered the day it appears. */

const document = createDocument(appRouter, [])
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

  test('says in the document that it needs a key', () => {
    expect(operation.security).toEqual([{ apiKey: [] }])
    expect(operation.responses).toHaveProperty('401')
  })

  test.for(noCredentials)('with %s is 401 with a challenge', async ([, authorization]) => {
    const { app } = shared()
    const answer = await app.inject({ method, url, headers: authorization === undefined ? {} : { authorization } })
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="petstore"')
    expect(answer.json()).toEqual({ code: 'unauthorized', message: expect.any(String), status: 401 })
  })

  test.for(wrongKeys)('with %s is 401, told apart from no other', async ([, makeKey]) => {
    const api = shared()
    const authorization = `Bearer ${await makeKey(api)}`
    const answer = await api.app.inject({ method, url, headers: { authorization } })
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="petstore", error="invalid_token"')
    expect(answer.json()).toEqual({
      code: 'unauthorized',
      message: 'The API key is not valid: it is unknown, revoked or expired.',
      status: 401,
    })
  })

  test.for(['bearer', 'BEARER', 'BeArEr', 'Bearer  '])('accepts the scheme as %s', async (scheme) => {
    const { app, key } = shared()
    const answer = await app.inject({ method, url, headers: { authorization: `${scheme} ${key}` } })
    expect(answer.statusCode).not.toBe(401)
  })

  test('does not read a key from the query', async () => {
    const { app, key } = shared()
    for (const name of ['api_key', 'apiKey', 'key', 'access_token', 'authorization']) {
      expect((await app.inject({ method, url: `${url}?${name}=${key}` })).statusCode).toBe(401)
    }
  })

  test('checks the key before it looks at the body', async () => {
    const { app } = shared()
    for (const payload of ['{', 'x'.repeat(70_000)]) {
      const answer = await app.inject({ method, url, headers: { 'content-type': 'application/json' }, payload })
      expect(answer.statusCode).toBe(401)
    }
  })
})

test('the RPC door checks the key in the same way, before it looks at the body', async () => {
  const { app } = await startTestApi()
  for (const authorization of ['', `Bearer ${mintApiKey()}`]) {
    const answer = await app.inject({
      method: 'POST',
      url: '/trpc/pets.create',
      headers: { authorization, 'content-type': 'application/json' },
      payload: '{',
    })
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="petstore"/)
    expect(answer.json()).toMatchObject({ error: { json: { data: { code: 'unauthorized', status: 401 } } } })
  }
})

test.for(['/openapi.json', '/docs/', '/'])('%s needs no key', async (url) => {
  const { app } = await startTestApi()
  expect((await app.inject({ method: 'GET', url })).statusCode).toBeLessThan(400)
})

async function revokedKey({ store }: TestApi): Promise<string> {
  const key = mintApiKey()
  const { id } = await store.apiKeys.create(apiKeyRecord(key, 'revoked'))
  await store.apiKeys.revoke(id, new Date())
  return key
}

async function expiredKey({ store }: TestApi): Promise<string> {
  const key = mintApiKey()
  await store.apiKeys.create(apiKeyRecord(key, 'expired', -1))
  return key
}
