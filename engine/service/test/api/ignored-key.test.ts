import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Caller } from '../../../store/collection/mutation.ts'
import { startTestApi } from '../../../test/notes/fixtures.ts'
import { mutation, router } from '../../../test/notes/trpc.ts'

const Seen = z.object({ idempotency: z.string() })
const see = ({ ctx }: { ctx: { caller: Caller } }) => ({
  idempotency: ctx.caller.key === undefined ? 'no key' : 'a key',
})
const input = z.object({}).meta({ id: 'Nothing' })
const routes = router({
  ignores: mutation({ openapi: { method: 'POST', path: '/ignores' }, idempotencyKey: 'ignored' })
    .input(input)
    .output(Seen)
    .mutation(see),
  replays: mutation({ openapi: { method: 'POST', path: '/replays' }, idempotencyKey: 'replays' })
    .input(input)
    .output(Seen)
    .mutation(see),
})

const forms = {
  REST: { url: (name: string) => `/v1/${name}`, payload: '{}', headers: {} },
  RPC: { url: (name: string) => `/trpc/${name}`, payload: '{"json":{}}', headers: {} },
  'an RPC stream': {
    url: (name: string) => `/trpc/${name}?batch=1`,
    payload: '{"0":{"json":{}}}',
    headers: { accept: 'application/jsonl' },
  },
}

test.for(Object.entries(forms))('%s: only a mutation that replays gets the key', async ([, form]) => {
  const { app, key } = await startTestApi({ router: routes })
  const send = async (name: string, idempotencyKey: string) => {
    const json = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const headers = { ...json, ...form.headers, 'idempotency-key': idempotencyKey }
    return (await app.inject({ method: 'POST', url: form.url(name), payload: form.payload, headers })).payload
  }
  expect(await send('replays', 'a')).toContain('a key')
  expect(await send('ignores', 'a')).toContain('no key')
  expect(await send('ignores', 'not valid')).toContain('no key')
  expect(await send('replays', 'not valid')).toContain('Idempotency-Key: expected a string')
})

test('a batch needs a key for each of its calls if one of them replays', async () => {
  const { app, key: apiKey } = await startTestApi({ router: routes })
  async function send(names: string, key: string) {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': key }
    const payload = '{"0":{"json":{}},"1":{"json":{}}}'
    const response = await app.inject({ method: 'POST', url: `/trpc/${names}?batch=1`, payload, headers })
    return [response.statusCode, response.payload] as const
  }
  expect(await send('ignores,ignores', 'a')).toMatchObject([200, expect.anything()])
  const [status, text] = await send('ignores,replays', '"a", "b"')
  expect([status, text.match(/no key|a key/g)]).toEqual([200, ['no key', 'a key']])
  for (const key of ['a', 'a, b', '"a"', '"a", "b", "c"', '"a" "b"', '"a", b', '"", "b"', ', "b"', '"a", "b", ']) {
    const refused = await send('ignores,replays', key)
    expect(refused, key).toEqual([400, expect.stringContaining('as many keys as the batch')])
  }
})
