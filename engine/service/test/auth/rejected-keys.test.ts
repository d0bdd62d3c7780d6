import { describe, expect, test } from 'vitest'
import {
  apiKeyRecord,
  createKey,
  mintApiKey,
  revokeKey,
  shareTestApi,
  startOf,
  type TestApi,
} from '../../../test/notes/fixtures.ts'
import { logLinesIn } from '../../../test/support/log-lines.ts'

const shared = shareTestApi()

async function revokedKey({ store }: TestApi): Promise<string> {
  const key = await createKey(store, 'revoked')
  await revokeKey(store, 'revoked')
  return key
}

async function expiredKey({ store }: TestApi): Promise<string> {
  const key = mintApiKey()
  const createdAt = new Date('2026-01-01')
  await store.apiKeys.create({
    ...apiKeyRecord(key, `expired ${key.slice(-6)}`),
    createdAt,
    expiresAt: new Date('2026-01-02'),
  })
  return key
}

/** Sends the header wherever a key is checked, and returns the request lines. */
async function rejected(authorization: string | undefined) {
  const { app, log } = shared()
  const headers = authorization === undefined ? {} : { authorization }
  const responses = [
    await app.inject({ url: '/v1/notes', headers }),
    await app.inject({ url: '/trpc/notes.list', headers }),
    await app.inject({ url: '/metrics', headers }),
  ]
  expect(responses.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401])
  return { responses, lines: logLinesIn(log.slice(-3).join('')) }
}

describe('the line of a 401', () => {
  test.for([
    ['no header', undefined, 'missing'],
    ['an empty header', '', 'missing'],
    ['another scheme', 'Basic YW5uOnNlY3JldA==', 'malformed'],
    ['no key after the scheme', 'Bearer', 'malformed'],
    ['another secret', 'Bearer ghp_0123456789abcdef', 'malformed'],
    ['another secret with the same letters', 'Bearer NOTE_0123456789', 'malformed'],
  ] as const)('has the reason, and nothing of the header: %s', async ([, authorization, reason]) => {
    const { lines } = await rejected(authorization)
    expect(lines).toMatchObject([
      { status: 401, adapter: 'rest', operation: 'notes.list', reason },
      { status: 401, adapter: 'rpc', operation: 'notes.list', reason },
      { status: 401, adapter: 'http', operation: 'metrics', reason },
    ])
    for (const line of lines) for (const field of ['key', 'keyStart']) expect(line).not.toHaveProperty(field)
    if (authorization) expect(JSON.stringify(lines)).not.toContain(authorization.split(' ')[1] ?? authorization)
  })

  test.for([
    ['unknown', async () => mintApiKey()],
    ['malformed', async () => `${mintApiKey().slice(0, -1)}!`],
    ['malformed', async () => mintApiKey().slice(0, 20)],
    ['revoked', revokedKey],
    ['expired', expiredKey],
  ] as const)('of an API key has the reason (%s) and only the start of the key', async ([reason, make]) => {
    const key = await make(shared())
    const { lines } = await rejected(`Bearer ${key}`)
    const expected = { status: 401, reason, keyStart: startOf(key) }
    expect(lines).toMatchObject([expected, expected, expected])
    expect(JSON.stringify(lines)).not.toContain(key.slice(0, startOf(key).length + 1))
    for (const line of lines) expect(line).not.toHaveProperty('key')
  })

  test('shows only the characters that a key can have', async () => {
    const { lines } = await rejected('Bearer note_ab\u009bcdefgh')
    expect(lines).toMatchObject(Array(3).fill({ keyStart: 'note_ab' }))
  })
})
