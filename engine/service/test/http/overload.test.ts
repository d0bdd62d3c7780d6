import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { startTestApi } from '../../../test/notes/fixtures.ts'
import { readMetric } from '../../../test/support/metrics.ts'
import { host, openSocket } from '../../../test/support/raw-http.ts'
import { handleErrors } from '../../http/error-responses.ts'
import { type LoadMeter, shedLoad } from '../../http/load-shedding.ts'

const mebibyte = 2 ** 20
const batch = `/trpc/${Array(20).fill('notes.list').join(',')}?batch=1`

test.for([
  ['the heap is almost full', { share: 0.85, wait: 0 }, { share: 0.86, wait: 0 }],
  ['requests wait for their turn for more than a second', { share: 0, wait: 1_000 }, { share: 0, wait: 1_001 }],
] as const)('while %s, requests get 503 with Retry-After, except for metrics', async ([, allowed, refused]) => {
  const meter = new TestMeter()
  const { rest } = await startTestApi({ loadMeter: meter })
  const list = (load: typeof allowed | typeof refused) => {
    Object.assign(meter, load).time += 100
    return rest.get('/v1/notes')
  }
  expect((await list(allowed)).status).toBe(200)
  const response = await list(refused)
  expect(response).toMatchObject({ status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '1' } })
  expect(response.text).toContain('too much to do')
  expect((await rest.get('/openapi.json')).status).toBe(200)
  const { text } = await rest.get('/metrics')
  expect(readMetric(text, 'notes_requests_rejected_total', { reason: 'overloaded' })).toBe(1)
  expect((await list(allowed)).status).toBe(200)
})

test.for([
  ['32 gets', 80, 'GET', '/v1/notes/1', 32],
  ['two batches of twenty lists', 6, 'GET', batch, 40],
] as const)(
  'a turn of the event loop starts at most %s, and a health check in between responds first',
  async ([, requests, method, url, largest]) => {
    const { app, store, key } = await startTestApi()
    await app.ready()
    let turn = 0
    const counting = setInterval(() => {}, 1)
    const count = () => {
      turn++
      if (counting.hasRef()) setImmediate(count)
    }
    count()
    onTestFinished(() => void clearInterval(counting.unref()))
    const turns: number[] = []
    store.notes.get = async () => void turns.push(turn)
    store.notes.list = async () => {
      turns.push(turn)
      return []
    }
    const ended: string[] = []
    const send = async (path: string) => {
      await app.inject({ method, url: path, headers: { authorization: `Bearer ${key}` } })
      ended.push(path)
    }
    const burst = Array.from({ length: requests }, () => send(url))
    await nextTurn()
    await Promise.all([...burst, send('/livez')])
    const perTurn = [...Map.groupBy(turns, (each) => each).values()].map(({ length }) => length)
    expect(Math.max(...perTurn)).toBe(largest)
    expect(perTurn.length).toBe(Math.ceil(turns.length / largest))
    expect(ended.indexOf('/livez')).toBeLessThan(ended.length - 1)
  },
)

test('connections that wait are accepted between two groups', async () => {
  const { app } = startApp()
  let accepted = 0
  const acceptedAtStart: number[] = []
  app.server.on('connection', () => void accepted++)
  app.get('/batch', { config: { calls: () => 20 } }, async () => void acceptedAtStart.push(accepted))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const open = async () => {
    const socket = await openSocket(app.listeningOrigin)
    socket.write(`GET /batch HTTP/1.1\r\n${host}\r\n`)
  }
  await Promise.all(Array.from({ length: 100 }, open))
  await expect.poll(() => acceptedAtStart.length).toBe(100)
  expect(acceptedAtStart[1]).toBeGreaterThan(20)
  expect(acceptedAtStart[9]).toBe(100)
})

test('a request runs in its own asynchronous context', async () => {
  const { app } = startApp()
  const context = new AsyncLocalStorage<number>()
  app.get('/context', async () => context.getStore())
  await app.ready()
  const numbers = Array.from({ length: 40 }, (_, index) => index)
  const responses = await Promise.all(
    numbers.map((each) => context.run(each, async () => await app.inject('/context'))),
  )
  expect(responses.map(({ body }) => Number(body))).toEqual(numbers)
})

test('a request whose client is gone when its turn comes does not start', async () => {
  const { app } = startApp()
  let started = 0
  app.get('/counted', async () => void started++)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = await openSocket(app.listeningOrigin)
  socket.write(`GET /counted HTTP/1.1\r\n${host}\r\n`)
  const [{ socket: served }] = await once(app.server, 'request')
  served.destroy()
  await once(served, 'close')
  await nextTurn()
  expect(started).toBe(0)
})

test('a read that finds 128 MiB of unfinished responses gets 503, and a read without a response yet counts no bytes', async () => {
  const { app } = startApp()
  const { promise, resolve } = Promise.withResolvers<void>()
  app.get('/read', async (request, reply) => {
    await promise
    app.countBytes(request, reply.raw, 32 * mebibyte)
    await nextTurn()
    return 'read'
  })
  app.get('/one', async () => 'one')
  await app.ready()
  const reads = Array.from({ length: 60 }, async () => await app.inject('/read'))
  expect((await app.inject('/one')).statusCode).toBe(200)
  resolve()
  const statuses = (await Promise.all(reads)).map(({ statusCode }) => statusCode)
  expect(statuses.filter((status) => status === 200)).toHaveLength(5)
  expect(new Set(statuses)).toEqual(new Set([200, 503]))
  expect((await app.inject('/one')).statusCode).toBe(200)
})

test('while clients have 128 MiB of responses to read, requests get 503; after a second the first such client is disconnected', async () => {
  const { app, meter } = startApp()
  const large = Buffer.alloc(32 * mebibyte)
  app.get('/large', async () => large)
  app.get('/one', async () => 'one')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const one = async () => (await app.inject('/one')).statusCode
  const served: Socket[] = []
  app.server.on('connection', (socket) => served.push(socket))
  for (let i = 0; i < 5; i++) {
    expect(await one()).toBe(200)
    const socket = await openSocket(app.listeningOrigin)
    socket.write(`GET /large HTTP/1.1\r\n${host}\r\n`)
    await expect.poll(() => served[i]?.writableLength, { interval: 1 }).toBeGreaterThan(0)
  }
  expect(await one()).toBe(503)
  meter.time += 1_001
  expect(await one()).toBe(503)
  expect(served.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false, false])
  await expect.poll(one).toBe(200)
})

class TestMeter implements LoadMeter {
  time = 0
  share = 0
  /** How much later it is with each look at the clock. */
  wait = 0
  now(): number {
    this.time += this.wait
    return this.time
  }
  heap(): number {
    return this.share
  }
}

function startApp() {
  const app = fastify()
  const meter = new TestMeter()
  handleErrors(app)
  shedLoad(app, meter, { inOneSnapshot: (run) => run() })
  onTestFinished(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  return { app, meter }
}
