import type { InjectOptions } from 'fastify'
import { expect, test } from 'vitest'
import { logLinesIn } from '../../engine/test/support/log-lines.ts'
import { samplesIn } from '../../engine/test/support/metrics.ts'
import { startTestApi, startTracedApi, type TestApi } from '../support/petstore.ts'

function sendStreamed({ app, key }: TestApi, { headers, ...request }: InjectOptions) {
  const types = { 'trpc-accept': 'application/jsonl', 'content-type': 'application/json' }
  return app.inject({ ...request, headers: { authorization: `Bearer ${key}`, ...types, ...headers } })
}

test('a repeated create that is streamed says that it is replayed', async () => {
  const api = await startTestApi()
  const payload = { 0: { json: { name: 'Rex', categoryId: '7' }, meta: { values: { categoryId: ['bigint'] } } } }
  const headers = { 'idempotency-key': 'streamed' }
  const create = () => sendStreamed(api, { method: 'POST', url: '/trpc/pets.create?batch=1', payload, headers })
  const [first, second] = [await create(), await create()]
  expect([first, second].map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true'])
  expect(first.payload).toContain('"name":"Rex"')
  expect(second.payload).toBe(first.payload)
})

test('the calls of a streamed request have spans, as those of another one', async () => {
  const api = await startTracedApi()
  await sendStreamed(api, { url: '/trpc/pets.list,pets.counts?batch=1' })
  const names = () => api.spans().map(({ name }) => name)
  await expect.poll(names).toContain('GET /trpc/:path')
  expect(names().toSorted()).toEqual(['GET /trpc/:path', 'counts pets', 'list pets', 'pets.counts', 'pets.list'])
})

test('with LOG_SAMPLE=0, a streamed request with a failed call is logged', async () => {
  const api = await startTestApi({ logSample: 0 })
  const query = { batch: '1', input: '{"1":{"json":{"petId":1}}}' }
  expect((await sendStreamed(api, { url: '/trpc/pets.list,pets.get', query })).statusCode).toBe(200)
  await expect
    .poll(() => logLinesIn(api.log.join('')).filter(({ msg }) => msg === 'request'))
    .toMatchObject([{ procedures: ['pets.list', 'pets.get'], status: 200, failedCalls: 1 }])
})

test.for(['application/jsonl', ''])(
  'a request with failed calls is counted with the same status, also if it is streamed: %j',
  async (accepted) => {
    const api = await startTestApi()
    for (const names of ['list', 'nothing', 'list,pets.nothing', 'get,pets.nothing', 'nothing,pets.nothing'])
      await sendStreamed(api, { url: `/trpc/pets.${names}?batch=1`, headers: { 'trpc-accept': accepted } })
    await expect
      .poll(() => countedBy(api))
      .toEqual(['pets.list 200: 1', 'unknown 404: 1', 'batch 207: 2', 'batch 404: 1'])
  },
)

test('a streamed request that fails before its calls is counted with its own status', async () => {
  const api = await startTestApi()
  const { statusCode } = await sendStreamed(api, { url: '/trpc/pets.list,pets.counts?batch=1&connectionParams=x' })
  expect(statusCode).toBe(400)
  await expect.poll(() => countedBy(api)).toEqual(['batch 400: 1'])
})

/** The statuses with which the service has counted requests of the RPC adapter. */
async function countedBy({ rest }: TestApi): Promise<string[]> {
  return samplesIn((await rest.get('/metrics')).text)
    .filter(({ name, labels }) => name === 'petstore_request_duration_seconds_count' && labels.adapter === 'rpc')
    .map(({ labels: { operation, status }, value }) => `${operation} ${status}: ${value}`)
}
