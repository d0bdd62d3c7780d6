import { expect, onTestFinished, test, vi } from 'vitest'
import { createKey, listen, startTestApi } from '../../../test/notes/fixtures.ts'
import { collect, host, openSocket, statusesIn } from '../../../test/support/raw-http.ts'

test('requests that start together after a commit share a read of their key', async () => {
  const { app, store, key } = await startTestApi()
  const other = await createKey(store, 'other')
  const { find } = store.apiKeys
  const found: string[] = []
  store.apiKeys.find = (hash) => {
    found.push(hash)
    return find(hash)
  }
  const statusWith = async (sent: string) => {
    const { statusCode } = await app.inject({ url: '/v1/notes', headers: { authorization: `Bearer ${sent}` } })
    return statusCode
  }
  const unknown = key.replace(/.{12}$/, '000000000000')
  expect(await Promise.all([key, key, key, unknown, other, other].map(statusWith))).toEqual([
    200, 200, 200, 401, 200, 200,
  ])
  expect(found).toHaveLength(2)
})

test('a key is remembered however its header is spelled', async () => {
  // Otherwise PostgreSQL would read it again after a second.
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { app, store, key } = await startTestApi()
  // The first request would record the use of the key, after which it is read again.
  for (const each of await store.apiKeys.list()) await store.apiKeys.touch(each, new Date())
  const { find } = store.apiKeys
  let reads = 0
  store.apiKeys.find = (hash) => {
    reads++
    return find(hash)
  }
  for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER ${key}`, `Bearer  ${key}`, `Bearer ${key} `])
    expect((await app.inject({ url: '/v1/notes', headers: { authorization } })).statusCode).toBe(200)
  expect(reads).toBe(1)
})

test('two Authorization headers get 401, whichever of them is valid', async () => {
  const { url, authorization } = await listen()
  for (const headers of [`${authorization}Authorization: Bearer x\r\n`, `authorization: Basic x\r\n${authorization}`]) {
    const socket = await openSocket(url)
    const received = collect(socket)
    socket.write(`GET /v1/notes HTTP/1.1\r\n${host}${headers}\r\n`)
    await expect.poll(() => statusesIn(received.text)).toEqual([401])
  }
})
