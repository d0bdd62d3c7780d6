import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { createDocument } from '../../engine/service/rest/document.ts'
import { appRouter } from '../../server/router.ts'
import { operationsIn } from '../support/documented-requests.ts'
import { addPets, product, shareEmptiedTestApi, shareTestApi, startTestApi, type TestApi } from '../support/petstore.ts'

const rex = { name: 'Rex', categoryId: 7, status: 'available' }

const api = shareEmptiedTestApi()

describe('GET /v1/pets', () => {
  test('the list of an empty store is an empty array', async () => {
    expect(await api().rest.get('/v1/pets')).toMatchObject({ status: 200, body: [] })
  })

  test('a pet is listed with exactly its four fields', async () => {
    const { rest } = api()
    await rest.post('/v1/pets', rex)
    expect((await rest.get('/v1/pets')).body).toEqual([{ id: 1, ...rex }])
  })

  test('the default limit is 20', async () => {
    const { rest, store } = api()
    await addPets(store, 21)
    expect((await rest.get('/v1/pets')).body).toHaveLength(20)
  })

  describe('of 101 pets', () => {
    const api = shareTestApi()
    beforeAll(() => addPets(api().store, 101))

    test.for([1, 2, 99, 100])('limit=%i returns that many pets', async (limit) => {
      expect((await api().rest.get(`/v1/pets?limit=${limit}`)).body).toHaveLength(limit)
    })
  })

  describe('of three pets', () => {
    const statuses = ['available', 'pending', 'sold']
    const api = shareTestApi()
    beforeAll(async () => {
      for (const status of statuses) await api().rest.post('/v1/pets', { ...rex, name: status, status })
    })

    test.for(statuses)('status=%s returns only pets with this status', async (status) => {
      expect((await api().rest.get(`/v1/pets?status=${status}`)).body).toMatchObject([{ name: status, status }])
    })
  })
})

describe('POST /v1/pets', () => {
  test('the response is the created pet with its id: 201', async () => {
    expect(await api().rest.post('/v1/pets', rex)).toMatchObject({ status: 201, body: { id: 1, ...rex } })
  })

  test('each pet gets its own id', async () => {
    const responses = await Promise.all(Array.from({ length: 50 }, () => api().rest.post('/v1/pets', rex)))
    expect(new Set(responses.map(({ text }) => text)).size).toBe(50)
  })

  test.for([
    [{ categoryId: 7 }, 'name: required'],
    [{ name: 'Rex' }, 'categoryId: required'],
    [{}, 'name: required; categoryId: required'],
    [{ ...rex, name: 7 }, 'name: expected a string, got 7'],
    [{ ...rex, name: null }, 'name: expected a string, got null'],
    [{ ...rex, name: ['Rex'] }, 'name: expected a string, got an array'],
    [{ ...rex, name: [] }, 'name: expected a string, got an array'],
    [{ ...rex, categoryId: '7' }, 'categoryId: expected an integer, got a string'],
    [{ ...rex, categoryId: null }, 'categoryId: expected an integer, got null'],
    [{ ...rex, categoryId: true }, 'categoryId: expected an integer, got a boolean'],
    [{ ...rex, categoryId: [7] }, 'categoryId: expected an integer, got an array'],
    [{ ...rex, categoryId: {} }, 'categoryId: expected an integer, got an object'],
    [{ ...rex, status: 'lost' }, 'status: expected one of available, pending, sold, got "lost"'],
    [{ ...rex, status: '' }, 'status: expected one of available, pending, sold, got an empty string'],
    [{ ...rex, status: null }, 'status: expected one of available, pending, sold, got null'],
    [{ ...rex, status: 'Available' }, 'status: expected one of available, pending, sold, got "Available"'],
  ] as const)('the body %j is rejected: 400 %s', async ([body, message]) => {
    const { rest } = api()
    const response = await rest.post('/v1/pets', body)
    expect(response.status).toBe(400)
    expect(response.body).toEqual({ code: 'invalid_request', message, status: 400 })
    expect((await rest.get('/v1/pets')).body).toEqual([])
  })
})

describe('GET /v1/pets/{petId}', () => {
  test('a pet is returned by its id', async () => {
    const { rest } = api()
    await rest.post('/v1/pets', rex)
    const response = await rest.get('/v1/pets/1')
    expect(response).toMatchObject({ status: 200, body: { id: 1, ...rex } })
    expect(response.headers).not.toHaveProperty('location')
  })

  test('an id without a pet is 404', async () => {
    expect(await api().rest.get('/v1/pets/1')).toMatchObject({
      status: 404,
      body: { code: 'not_found', message: 'No pet has the id 1.', status: 404 },
    })
  })
})

describe('every operation', () => {
  const operations = operationsIn(createDocument(appRouter, product, [])).map(({ method, path, bodySchema }) => ({
    method,
    url: `/v1${path.replaceAll(/\{\w+\}/g, '1')}`,
    ...(bodySchema ? { headers: { 'content-type': 'application/json' }, payload: JSON.stringify(rex) } : {}),
  }))

  test.for(operations)('the response to $method $url is JSON', async (operation) => {
    expect((await api().rest.send(operation)).headers['content-type']).toBe('application/json; charset=utf-8')
  })

  test('under /v1 exactly the operations of the document are served', async () => {
    const { rest, urls } = await startWatchedApi()
    const served = []
    for (const url of new Set(urls.map((each) => each.replaceAll(/:\w+(\(.*?\))?/g, '1')))) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        if (url.startsWith('/v1') && (await rest.send({ method, url })).status !== 405) served.push(`${method} ${url}`)
      }
    }
    expect(served.sort()).toEqual(operations.map(({ method, url }) => `${method} ${url}`).sort())
  })
})

/** Starts a service, and records the URLs of all routes that it registers. */
async function startWatchedApi(): Promise<TestApi & { urls: string[] }> {
  const urls: string[] = []
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ url }) => void urls.push(url))
  }
  subscribe('fastify.initialization', watch)
  const api = await startTestApi()
  unsubscribe('fastify.initialization', watch)
  await api.app.ready()
  return { ...api, urls }
}
