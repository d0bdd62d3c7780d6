import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import {
  collect,
  createRequest,
  host,
  json,
  listen,
  openSocket,
  rex,
  startHttpServer,
  statusesIn,
} from '../support/raw-http.ts'
import { shareTestApi } from '../support/test-api.ts'

/** Expect: 100-continue (RFC 9110, section 10.1.1): the server sends 100 Continue only if it will read the body. */

/** For tests that do not depend on an empty database. */
const shared = shareTestApi()

const expectation = 'Expect: 100-continue\r\n'
const interim = 'HTTP/1.1 100 Continue\r\n\r\n'

describe.for(['/v1/pets', '/trpc/pets.create'])('Expect: 100-continue on POST %s', (path) => {
  const head = (headers: string, length: number | string = rex.length) =>
    `POST ${path} HTTP/1.1\r\n${host}${expectation}${headers}Content-Length: ${length}\r\n\r\n`

  test.for([
    ['a request without a key', 401, () => head(json)],
    ['a body that is too large', 413, (authorization: string) => head(json + authorization, 70_000)],
    ['a body of another type', 415, (authorization: string) => head(`Content-Type: text/plain\r\n${authorization}`)],
    ['an unknown path', 404, (authorization: string) => head(json + authorization).replace(path, `${path}/x/y`)],
    ['a method that is not served', 405, (authorization: string) => head(authorization).replace('POST', 'PUT')],
    ['an invalid Host', 400, (authorization: string) => head(authorization).replace('petstore', '/')],
    ['a malformed URL', 400, (authorization: string) => head(authorization).replace('pets', '%zz')],
    ['two transfer codings', 400, (authorization: string) => twoCodings(head(authorization))],
  ] as const)('%s receives %i instead of 100 Continue, and the connection ends', async ([, status, bytes]) => {
    const { url, authorization } = await listen(shared())
    const socket = await openSocket(url)
    const received = collect(socket)
    socket.write(bytes(authorization))
    await once(socket, 'end')
    expect(statusesIn(received.text)).toEqual([status])
    expect(received.text).toMatch(/\r\nconnection: close\r\n/i)
  })

  test('a valid request receives 100 Continue once, and the connection may be reused', async () => {
    const { url, authorization } = await listen(shared())
    const body = path === '/v1/pets' ? rex : superjson
    const socket = await openSocket(url)
    for (const _ of [1, 2]) {
      const received = collect(socket)
      socket.write(head(json + authorization, body.length))
      await expect.poll(() => received.text).toBe(interim)
      socket.write(body)
      await expect.poll(() => statusesIn(received.text)).toEqual([100, path === '/v1/pets' ? 201 : 200])
      socket.removeAllListeners('data')
    }
  })
})

test('a client that does not wait for 100 Continue receives its response', async () => {
  const { url, authorization } = await listen(shared())
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.write(createRequest(authorization + expectation))
  await expect.poll(() => statusesIn(received.text)).toEqual([100, 201])
})

test('Connection: close is respected', async () => {
  const { url, authorization } = await listen(shared())
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.write(createRequest(`${authorization}${expectation}Connection: close\r\n`))
  await once(socket, 'end')
  expect(statusesIn(received.text)).toEqual([100, 201])
  expect(received.text).toMatch(/\r\nconnection: close\r\n/i)
})

test('a create after one that does not wait for 100 Continue is either executed with a response or not executed', async () => {
  const { url, authorization, rest } = await listen()
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.end(createRequest(authorization + expectation) + createRequest(authorization))
  await once(socket, 'end')
  const created = statusesIn(received.text).filter((status) => status === 201)
  expect((await rest.get('/v1/pets')).body).toHaveLength(created.length)
})

test('a request after a body that did not wait for 100 Continue runs after that body was read', async () => {
  const order: string[] = []
  const { url } = await startHttpServer((request, response) => {
    order.push('request')
    const read = () => {
      order.push('response')
      response.end('read')
    }
    setTimeout(() => request.resume().on('end', read), 50)
  })
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.write(createRequest(expectation) + createRequest(''))
  await expect.poll(() => statusesIn(received.text)).toEqual([100, 200, 200])
  expect(order).toEqual(['request', 'response', 'request', 'response'])
})

test('a request after a body that was refused without 100 Continue does not run', async () => {
  let calls = 0
  const { url } = await startHttpServer((_request, response) => {
    calls++
    response.end('refused')
  })
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.write(createRequest(expectation) + createRequest(''))
  await once(socket, 'end')
  expect(statusesIn(received.text)).toEqual([200])
  expect(calls).toBe(1)
})

test('requests after an unknown expectation are ignored, and the connection ends', async () => {
  const { url, authorization, rest } = await listen()
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.write(createRequest(`${authorization}Expect: tea\r\n`) + createRequest(authorization))
  await once(socket, 'end')
  expect(statusesIn(received.text)).toEqual([417])
  expect((await rest.get('/v1/pets')).body).toEqual([])
})

test('100 Continue is sent after the responses to earlier requests', async () => {
  const { url, authorization } = await listen(shared())
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.write(createRequest(authorization) + createRequest(authorization + expectation))
  await expect.poll(() => statusesIn(received.text)).toEqual([201, 100, 201])
})

const superjson = JSON.stringify({
  json: { name: 'Rex', categoryId: '7' },
  meta: { values: { categoryId: ['bigint'] } },
})

function twoCodings(head: string): string {
  return head.replace(/Content-Length: \d+/, 'Transfer-Encoding: gzip, chunked')
}
