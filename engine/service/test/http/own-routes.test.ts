import type { FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { addNotes, apiKeyRecord, mintApiKey, shareTestApi, startTestApi } from '../../../test/notes/fixtures.ts'
import { service } from '../../../test/notes/service.ts'
import type { NotesStore } from '../../../test/notes/store.ts'
import { readMetric } from '../../../test/support/metrics.ts'
import { startTestService } from '../../../test/support/test-api.ts'
import { createTrpc } from '../../procedures/trpc.ts'
import { defineService } from '../../service.ts'

/** A download and a web hook. */
function routes(app: FastifyInstance, { notes }: Pick<NotesStore, 'notes'>): void {
  app.get('/downloads/notes.txt', async (_request, reply) => {
    const bodies = (await notes.list({ cursor: 0n, limit: 100 })).map(({ body }) => body)
    return reply.type('text/plain; charset=utf-8').header('content-disposition', 'attachment').send(bodies.join('\n'))
  })
  app.post<{ Body: { priority: bigint } }>('/hooks/:source', ({ body }) => ({ given: body.priority }))
  app.get('/fails', () => {
    throw new Error('The secret reason.')
  })
}

const api = shareTestApi({ routes })

test('serves a download of the product', async () => {
  const { rest, store } = api()
  await addNotes(store, 2)
  const { status, headers, text } = await rest.get('/downloads/notes.txt')
  expect([status, headers['content-disposition'], text]).toEqual([200, 'attachment', 'note 1\nnote 2'])
})

test('routes and resolvers get the settings of the product, as their schema reads them', async () => {
  const settings = z.object({ mailServer: z.hostname(), mailPort: z.string().default('25').transform(Number) })
  const { query, router } = createTrpc<NotesStore, z.infer<typeof settings>>()
  const mail = query().query(({ ctx: { settings } }) => `${settings.mailServer}:${settings.mailPort}`)
  const ofMail = defineService({
    ...service,
    settings,
    router: router({ mail }),
    routes: (app, _store, { mailPort }) => void app.get('/mail-port', () => ({ mailPort })),
  })
  const { rest, rpc } = await startTestService(ofMail, { settings: { mailServer: 'mail.example' } })
  expect(await rpc.mail.query()).toBe('mail.example:25')
  expect((await rest.get('/mail-port')).text).toBe('{"mailPort":25}')
})

test('a web hook gets and returns integers with all digits', async () => {
  const { status, text } = await api().rest.post('/hooks/bank', '{"priority":9223372036854775807}')
  expect([status, text]).toEqual([200, '{"given":9223372036854775807}'])
})

describe('refuses', () => {
  test.for([
    [401, 'without a key', '/hooks/bank', '{}', { authorization: '' }],
    [400, 'a body that is not JSON', '/hooks/bank', '{', {}],
    [415, 'a body of another type', '/hooks/bank', 'x', { 'content-type': 'text/plain' }],
    [404, 'another method', '/downloads/notes.txt', '{}', {}],
  ] as const)('with %i %s, with the Error body', async ([status, , url, body, headers]) => {
    const response = await api().rest.post(url, body, headers)
    expect(response).toMatchObject({ status, body: { code: expect.any(String), message: expect.any(String), status } })
  })

  test('a change with a key that may only read', async () => {
    const { rest, store } = api()
    const key = mintApiKey()
    await store.apiKeys.create({ ...apiKeyRecord(key, 'viewer'), access: 'read' })
    const authorization = `Bearer ${key}`
    expect((await rest.post('/hooks/bank', '{"priority":1}', { authorization })).status).toBe(403)
    expect((await rest.get('/downloads/notes.txt', { authorization })).status).toBe(200)
  })
})

test('an error in a route is a 500 that does not show its message', async () => {
  const { rest, log } = api()
  const { status, text } = await rest.get('/fails')
  expect(status).toBe(500)
  expect(text).not.toContain('secret')
  expect(log.join('')).toContain('The secret reason.')
})

test('metrics and the log know a route by its path, without what the caller put into it', async () => {
  const { rest, log } = api()
  await rest.post('/hooks/of-a-caller', '{"priority":1}')
  const { text } = await rest.get('/metrics')
  const labels = { adapter: 'http', operation: '/hooks/:source' }
  expect(readMetric(text, 'notes_request_duration_seconds_count', labels)).toBeGreaterThan(0)
  expect(text).not.toContain('of-a-caller')
  expect(log.join('')).toContain('"operation":"/hooks/:source"')
})

test('a route with a schema of Fastify is refused at the start', async () => {
  const schema = { body: { type: 'object', required: ['priority'] } }
  const { app } = await startTestApi({ routes: (own) => void own.post('/hooks', { schema }, () => 'ok') })
  await expect(app.ready()).rejects.toThrow('A route has a schema of Fastify.')
})
