import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createRequest, listen, startHttpServer } from '../../../test/notes/fixtures.ts'
import { closing, collect, openSocket, statusesIn } from '../../../test/support/raw-http.ts'

/** Pipelining (RFC 9112, section 9.3.2): requests that a client sends before it has received the previous response. */

test('responses to pipelined requests arrive in the order of the requests, which run one after the other', async () => {
  const { url, authorization, rest } = await listen()
  const socket = await openSocket(url)
  const received = collect(socket)
  const bodies = Array.from({ length: 100 }, (_, index) => `note ${index}`)
  const create = (body: string) => createRequest(authorization, JSON.stringify({ body, priority: 1 }))
  socket.end(bodies.map(create).join(''))
  await closing(socket)
  expect(statusesIn(received.text)).toEqual(bodies.map(() => 201))
  expect([...received.text.matchAll(/"body":"(.*?)"/g)].map(([, body]) => body)).toEqual(bodies)
  expect((await rest.get('/v1/notes?limit=2')).body).toEqual([
    expect.objectContaining({ id: 1, body: 'note 0' }),
    expect.objectContaining({ id: 2, body: 'note 1' }),
  ])
})

test('while 1,000 requests wait for the previous response, a connection that adds one is closed, and others are served', async () => {
  const { url, sockets: served } = await startHttpServer((request, response) => {
    if (request.url === '/') setImmediate(() => response.end())
  })
  const client = await openSocket(url)
  const received = collect(client)
  for (let i = 1; i <= 5; i++) {
    const socket = await openSocket(url)
    socket.write('GET /wait HTTP/1.1\r\n\r\n'.repeat(400))
    await expect.poll(() => served[i]?.bytesRead || served[i]?.destroyed, { interval: 1 }).toBeTruthy()
    client.write('GET / HTTP/1.1\r\n\r\n')
    await expect.poll(() => statusesIn(received.text).length, { interval: 1 }).toBe(i)
  }
  expect(served.map(({ destroyed }) => destroyed)).toEqual([false, false, false, true, true, true])
  served[1]?.destroy()
  await closing(served[1] as Socket)
  client.write('GET / HTTP/1.1\r\n\r\n'.repeat(400))
  await expect.poll(() => statusesIn(received.text).length).toBe(405)
})
