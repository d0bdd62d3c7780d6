import { expect, test } from 'vitest'
import { z } from 'zod'
import { mutation, router } from '../../../../server/trpc.ts'
import { startTestApi } from '../../../../test/support/test-api.ts'

const Seen = z.object({ idempotency: z.string() })
const see = ({ ctx }: { ctx: object }) => ({
  idempotency: 'idempotency' in ctx && ctx.idempotency ? 'a key' : 'no key',
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

test('a batch with a key is refused only if one of its mutations replays', async () => {
  const { rest } = await startTestApi({ router: routes })
  const send = (names: string) =>
    rest.post(`/trpc/${names}?batch=1`, '{"0":{"json":{}},"1":{"json":{}}}', { 'idempotency-key': 'a' })
  expect(await send('ignores,ignores')).toMatchObject({ status: 200 })
  const { status, text } = await send('ignores,replays')
  expect([status, text]).toEqual([400, expect.stringContaining('expected only with a single call')])
})
