import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mintApiKey } from '../../server/auth/api-key.ts'
import { createLog } from '../../server/log.ts'
import { isOnPostgres } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { bannerKey, petstore, runCommand, startServer, waitForOutput } from '../support/process.ts'
import { connectRestClient } from '../support/rest-client.ts'
import { startTestApi } from '../support/test-api.ts'

test('each request is one line with method, route, status, duration, request id and key name', async () => {
  const { rest, log } = await startTestApi()
  const begin = performance.now()
  const { headers } = await rest.get('/v1/pets/1?secret=1')
  const elapsed = performance.now() - begin
  expect(log.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 30,
      msg: 'request',
      method: 'GET',
      route: '/v1/pets/:petId',
      status: 404,
      milliseconds: expect.any(Number),
      requestId: headers['x-request-id'],
      key: 'test',
    }),
  ])
  const { milliseconds } = JSON.parse(String(log[0]))
  expect(milliseconds).toBeGreaterThan(elapsed / 100)
  expect(milliseconds).toBeLessThan(elapsed)
})

test('the service generates the request id', async () => {
  const { rest } = await startTestApi()
  const { headers } = await rest.get('/v1/pets', { 'x-request-id': 'chosen' })
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
})

test('a request without a valid key is logged without a key name', async () => {
  const { app, log } = await startTestApi()
  await app.inject({ url: '/v1/pets' })
  expect(JSON.parse(String(log[0]))).toMatchObject({ status: 401 })
  expect(JSON.parse(String(log[0]))).not.toHaveProperty('key')
})

test('the logged address is the client’s behind a trusted proxy, and the peer’s otherwise', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.7' }
  for (const [trustProxy, ip] of [
    [['127.0.0.1'], '203.0.113.7'],
    [[], '127.0.0.1'],
  ] as const) {
    const { app, log } = await startTestApi({ config: { trustProxy: [...trustProxy] } })
    await app.inject({ url: '/v1/pets', headers })
    expect(JSON.parse(String(log[0]))).toMatchObject({ ip })
  }
})

test('a URL that cannot be decoded is logged too', async () => {
  const { rest, log } = await startTestApi()
  const { headers } = await rest.get('/v1/pets/%zz')
  expect(JSON.parse(String(log[0]))).toMatchObject({ status: 400, requestId: headers['x-request-id'] })
})

test('an internal error is logged with its cause, which the response does not show', async () => {
  const { app, rest, rpc, store, log } = await startTestApi()
  store.pets.list = () => Promise.reject(new Error('the secret cause'))
  const response = await rest.get('/v1/pets')
  expect(response.body).toEqual({ code: 'internal_error', message: expect.any(String), status: 500 })
  await expect(rpc.pets.list.query()).rejects.toMatchObject({ data: { code: 'internal_error', status: 500 } })
  const rpcResponse = await app.inject({ url: '/trpc/pets.list', headers: { authorization: 'none' } })
  expect(response.text + rpcResponse.payload).not.toContain('secret cause')
  const faults = log.map((line) => JSON.parse(line)).filter(({ level }) => level === 50)
  expect(faults).toMatchObject([{ err: { message: 'the secret cause' } }, { err: { message: 'the secret cause' } }])
})

test('the log level silent writes nothing', () => {
  expect(createLog('silent', false).isLevelEnabled('fatal')).toBe(false)
  expect(createLog('info', true).isLevelEnabled('info')).toBe(true)
})

// The database does not matter here.
if (!isOnPostgres) {
  test('the service continues when the reader of its log has closed the pipe', async () => {
    const server = await startServer()
    const key = await waitForOutput(server, bannerKey)
    server.child.stdout?.destroy()
    const headers = { authorization: `Bearer ${key}` }
    for (let i = 0; i < 20; i++) expect((await fetch(`${server.url}/v1/pets`, { headers })).status).toBe(200)
    expect(server.child.exitCode).toBeNull()
  })

  test.runIf(existsSync('/dev/full'))(
    'the service continues, and stops on SIGTERM, when the disk of its log is full',
    async () => {
      const [port, key] = [await freePort(), mintApiKey()]
      const run = runCommand(['sh', '-c', 'exec "$@" > /dev/full', 'sh', ...petstore], {
        env: { PORT: String(port), PETSTORE_API_KEY: key },
      })
      const caller = connectRestClient(`http://127.0.0.1:${port}`, key)
      await expect.poll(() => caller.get('/livez').then(({ status }) => status, String), { timeout: 25_000 }).toBe(200)
      for (let i = 0; i < 20; i++) expect((await caller.get('/v1/pets')).status).toBe(200)
      run.child.kill('SIGTERM')
      expect(await run.ended).toBe(0)
    },
  )
}
