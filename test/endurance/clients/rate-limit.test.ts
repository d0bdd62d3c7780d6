import { expect, test } from 'vitest'
import type { RestClient } from '../../support/rest-client.ts'
import { startTestApi } from '../../support/test-api.ts'

test('RATE_LIMIT keeps a bounded number of addresses, none of which can clear its count, and still accepts a valid key', async () => {
  const { rest } = await startTestApi({ config: { rateLimit: { requests: 2, seconds: 60 } } })
  const addresses = Array.from({ length: 10_002 }, (_, i) => `2001:db8:${(i + 1).toString(16)}::1`)
  for (const address of addresses) expect(await signInWrongly(rest, address)).toBe(401)
  expect(await signInWrongly(rest, '192.0.2.1')).toBe(429)
  expect(await signInWrongly(rest, addresses[0] ?? '')).toBe(401)
  expect(await signInWrongly(rest, addresses[0] ?? '')).toBe(429)
  expect((await rest.get('/v1/pets')).status).toBe(200)
})

async function signInWrongly(rest: RestClient, remoteAddress: string): Promise<number> {
  const headers = { authorization: 'Bearer pet_wrong' }
  return (await rest.send({ method: 'GET', url: '/v1/pets', headers, remoteAddress })).status
}
