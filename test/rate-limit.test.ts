import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../db/store.ts'
import { createKey } from '../server/keys.ts'
import { startTestApi } from './helpers.ts'

const tooMany = { status: 429, body: { code: 'rate_limited', status: 429 } }

describe('RATE_LIMIT', () => {
  test('lets so many calls of a key through, tells how many are left, and then when to come back', async () => {
    const { rest } = await startTestApi({ config: { rateLimit: { requests: 2, seconds: 60 } } })
    const answers = [await rest.get('/v1/pets'), await rest.get('/v1/pets'), await rest.get('/v1/pets')]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(answers.map(({ headers }) => headers['ratelimit-policy'])).toEqual(Array(3).fill('"calls";q=2;w=60'))
    expect(answers[0]?.headers.ratelimit).toMatch(/^"calls";r=1;t=(60|59)$/)
    expect(answers[2]?.headers.ratelimit).toMatch(/^"calls";r=0;t=(60|59)$/)
    expect(answers[2]).toMatchObject(tooMany)
    expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(50)
  })

  test('lets the key through again when the time is over', async () => {
    const { rest } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 1 } } })
    await rest.get('/v1/pets')
    expect(await rest.get('/v1/pets')).toMatchObject({ ...tooMany, headers: { 'retry-after': '1' } })
    await expect.poll(async () => (await rest.get('/v1/pets')).status, { timeout: 3_000 }).toBe(200)
  })

  test('counts each key for itself', async () => {
    const { rest, store } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 60 } } })
    const authorization = `Bearer ${await createKey(store, 'other')}`
    expect((await rest.get('/v1/pets')).status).toBe(200)
    expect((await rest.get('/v1/pets', { authorization })).status).toBe(200)
    expect(await rest.get('/v1/pets')).toMatchObject(tooMany)
  })

  test('counts each call of a batch, over both doors together', async () => {
    const { rest, rpc } = await startTestApi({ config: { rateLimit: { requests: 5, seconds: 60 } } })
    await Promise.all([rpc.pets.list.query(), rpc.pets.list.query({ limit: 1 }), rpc.pets.list.query({ limit: 2 })])
    expect((await rest.get('/v1/pets')).headers.ratelimit).toContain('r=1;')
    const refused = await Promise.allSettled([rpc.pets.list.query(), rpc.pets.list.query({ limit: 1 })])
    const data = { code: 'rate_limited', status: 429 }
    expect(refused).toMatchObject(Array(2).fill({ status: 'rejected', reason: { data } }))
  })

  test('answers failed sign-ins of an address with 429 in the end, and still lets a good key in from there', async () => {
    const { rest } = await startTestApi({ config: { rateLimit: { requests: 2, seconds: 60 } } })
    const wrong = { authorization: 'Bearer pet_wrong' }
    const answers = [
      await rest.get('/v1/pets', wrong),
      await rest.get('/v1/pets', {}),
      await rest.get('/v1/pets', wrong),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 200, 401])
    const refused = await rest.get('/v1/pets', wrong)
    expect(refused).toMatchObject({ ...tooMany, headers: { 'ratelimit-policy': '"failed-sign-ins";q=2;w=60' } })
    expect((await rest.get('/v1/pets')).status).toBe(200)
    const elsewhere = await rest.send({ method: 'GET', url: '/v1/pets', headers: wrong, remoteAddress: '192.0.2.1' })
    expect(elsewhere.status).toBe(401)
  })

  test('counts no failure of the service as a failed sign-in', async () => {
    const { rest, store } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 60 } } })
    store.apiKeys.find = () => Promise.reject(new StoreUnavailable('The disk is full.'))
    const answers = [await rest.get('/v1/pets'), await rest.get('/v1/pets'), await rest.get('/v1/pets')]
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
  })

  test('is off by default', async () => {
    const { rest } = await startTestApi()
    expect((await rest.get('/v1/pets')).headers).not.toHaveProperty('ratelimit')
  })
})
