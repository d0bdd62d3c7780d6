import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createRequest, listen, shareTestApi, validBody } from '../../../test/notes/fixtures.ts'
import { collect, host, json, openSocket, statusesIn } from '../../../test/support/raw-http.ts'

/** Expect (RFC 9110, section 10.1.1). Node responds to `100-continue` before the application sees the request. */

/** For tests that do not depend on an empty database. */
const shared = shareTestApi()

const expectation = 'Expect: 100-continue\r\n'
const superjson = JSON.stringify({
  json: { body: 'Ann', priority: '7' },
  meta: { values: { priority: ['bigint'] } },
})

describe.for([
  ['/v1/notes', validBody, 201],
  ['/trpc/notes.create', superjson, 200],
] as const)('Expect: 100-continue on POST %s', ([path, body, status]) => {
  const head = (headers: string) =>
    `POST ${path} HTTP/1.1\r\n${host}${expectation}${headers}Content-Length: ${body.length}\r\n\r\n`

  test.for([
    ['a valid request', status, (authorization: string) => json + authorization],
    ['a body of another type', 415, (authorization: string) => `Content-Type: text/plain\r\n${authorization}`],
  ] as const)('%s receives 100 Continue and %i, and the connection may be reused', async ([, expected, headers]) => {
    const { url, authorization } = await listen(shared())
    const socket = await openSocket(url)
    for (const _ of [1, 2]) {
      const received = collect(socket)
      socket.write(head(headers(authorization)))
      await expect.poll(() => statusesIn(received.text)[0]).toBe(100)
      socket.write(body)
      await expect.poll(() => statusesIn(received.text)).toEqual([100, expected])
      socket.removeAllListeners('data')
    }
  })
})

test('requests after an unknown expectation are ignored, and the connection ends', async () => {
  const { url, authorization, rest } = await listen()
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.write(createRequest(`${authorization}Expect: tea\r\n`) + createRequest(authorization))
  await once(socket, 'end')
  expect(statusesIn(received.text)).toEqual([417])
  expect((await rest.get('/v1/notes')).body).toEqual([])
})

test('a request without a key receives 401 at once, without 100 Continue, and the connection ends', async () => {
  const { url } = await listen(shared())
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.write(`POST /v1/notes HTTP/1.1\r\n${host}${expectation}${json}Content-Length: 1000\r\n\r\n`)
  await once(socket, 'end')
  expect(statusesIn(received.text)).toEqual([401])
})

test('100 Continue is sent after the responses to earlier requests', async () => {
  const { url, authorization } = await listen(shared())
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.write(createRequest(authorization) + createRequest(authorization + expectation))
  await expect.poll(() => statusesIn(received.text)).toEqual([201, 100, 201])
})
