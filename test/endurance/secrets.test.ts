import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { hashApiKey } from '../../engine/service/auth/api-key.ts'
import { openDatabase } from '../../engine/test/support/database.ts'
import { closing, exchange, openSocket, parseResponses } from '../../engine/test/support/raw-http.ts'
import { mintApiKey, startOf, startWithKey } from '../support/petstore.ts'

/** No known request causes it. */
const unreachable = ['internal_error']

test('no error response and no line of the log contains a key, a path or a detail of the implementation', async () => {
  const env = { RATE_LIMIT: '60/h', LOG_LEVEL: 'trace', TRUST_PROXY: '127.0.0.1' }
  const { server, folder, key } = await startWithKey(env)
  const other = mintApiKey()
  const database = openDatabase(join(folder, 'data/petstore.db'))
  const responses: string[] = []

  const send = async (head: string, body = '') => {
    const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`
    const got = await exchange(server.url, `${head}\r\nHost: a\r\n${length}Connection: close\r\n\r\n${body}`)
    for (const response of got) responses.push(JSON.stringify([response.status, ...response.headers, response.body]))
  }
  const auth = `Authorization: Bearer ${key}`
  const post = `POST /v1/pets?key=${key} HTTP/1.1\r\n${auth}`
  const json = 'Content-Type: application/json'
  const slow = openSocket(server.url).then(async (socket) => {
    let text = ''
    socket.on('data', (chunk) => (text += chunk))
    socket.once('end', () => socket.end())
    socket.write(`GET /v1/pets?key=${key} HTTP/1.1\r\nAuthorization: Bearer ${key}\r\n`)
    await closing(socket)
    for (const response of parseResponses(text)) responses.push(response.body)
  })

  await send(`GET /v1/pets?access_token=${key} HTTP/1.1`)
  await send(`GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer ${other}`)
  await send(`GET /v1/pets HTTP/1.1\r\nAuthorization: Basic ${key}`)
  await send(`${post}\r\n${json}`, `{"name":"${key}"`)
  await send(`${post}\r\n${json}`, `{"name":"x","categoryId":"${key}","status":"${key}"}`)
  await send(`${post}\r\nContent-Type: ${key}`, '{}')
  await send(`${post}\r\n${json}\r\nContent-Length: 100000`)
  await send(`${post}\r\n${json}\r\nIdempotency-Key: "${key}`, '{"name":"x","categoryId":1}')
  await send(`${post}\r\n${json}\r\nIdempotency-Key: a`, '{"name":"x","categoryId":1}')
  await send(`${post}\r\n${json}\r\nIdempotency-Key: a`, '{"name":"y","categoryId":1}')
  const sale = `{"json":{"petId":"1","name":"${key}","expected":{"name":"${key}"}},"meta":{"values":{"petId":["bigint"]}}}`
  await send(`POST /trpc/pets.update HTTP/1.1\r\n${auth}\r\n${json}`, sale)
  const reader = mintApiKey()
  const columns = '(name, start, hash, created_at, access)'
  database
    .prepare(`INSERT INTO api_keys ${columns} VALUES ('reader', ?, ?, '2026-01-01T00:00:00.000Z', 'read')`)
    .run(startOf(reader), hashApiKey(reader))
  await send(`POST /v1/pets HTTP/1.1\r\nAuthorization: Bearer ${reader}\r\n${json}`, `{"name":"${reader}"}`)
  await send(`GET /v1/${key} HTTP/1.1\r\n${auth}`)
  await send(`GET /v1/pets/${key} HTTP/1.1\r\n${auth}`)
  await send(`DELETE /v1/pets HTTP/1.1\r\n${auth}`)
  await send(`GET /v1/pets HTTP/1.1\r\n${auth}\r\nExpect: ${key}`)
  await send(`GET /v1/pets?${'k'.repeat(9_000)} HTTP/1.1\r\n${auth}`)
  await send(`GET /v1/pets HTTP/1.1\r\n${auth}\r\nX: ${'k'.repeat(20_000)}`)
  await send(`GET /%zz${key} HTTP/1.1\r\n${auth}`)
  await send(`${key} ${key}\r\n${auth}`)
  await send(`GET /v1/pets HTTP/1.1\r\n${auth}`)
  await send(`GET /trpc/pets.list?input=${key} HTTP/1.1\r\n${auth}`)
  const kept = ['User-Agent', 'Referer', 'Cookie', 'X-Forwarded-For', 'X-Forwarded-Host', 'traceparent', 'tracestate']
  for (const name of kept) await send(`GET /nothing HTTP/1.1\r\n${name}: ${key}`)
  for (const id of [key, key.slice('pet_'.length), `Bearer:${key}`])
    await send(`GET /nothing HTTP/1.1\r\nX-Request-Id: ${id}`)
  for (const method of ['CONNECT', 'OPTIONS', 'PURGE']) await send(`${method} ${key}:80 HTTP/1.1\r\n${auth}`)
  // The response repeats the path to the client that sent it.
  await exchange(
    server.url,
    `GET /trpc/${key},pets.list?batch=1 HTTP/1.1\r\nHost: a\r\n${auth}\r\nConnection: close\r\n\r\n`,
  )
  for (const path of [`/v1/pets?key=${key}`, `/trpc/pets.create?key=${key}`, `/docs/${key}`]) {
    const socket = await openSocket(server.url)
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${auth}\r\n${json}\r\nContent-Length: 99\r\n\r\n{"${key}`)
    await wait(50)
    socket.resetAndDestroy()
  }
  await send(`GET /trpc/pets.none HTTP/1.1\r\n${auth}`)
  await send(`GET /trpc/pets.list HTTP/1.1\r\n${auth}`)
  database.exec('BEGIN IMMEDIATE')
  await send(`${post}\r\n${json}`, `{"name":"${key}","categoryId":1}`)
  database.exec('ROLLBACK; ALTER TABLE pets RENAME TO gone')
  await send(`GET /v1/pets HTTP/1.1\r\n${auth}`)
  for (let i = 0; i < 60; i++) await fetch(`${server.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })
  await send(`GET /v1/pets HTTP/1.1\r\n${auth}`)
  await slow
  await wait(100)

  const document = readFileSync(join(import.meta.dirname, '../../engine/service/api/errors.ts'), 'utf8')
  const codes = [...document.matchAll(/^ {2}(\w+): \{ status: /gm)].map(([, code]) => code)
  const seen = new Set(
    responses.flatMap((text) => [...text.matchAll(/\\?"code\\?":\\?"(\w+)/g)].map(([, code]) => code)),
  )
  expect(codes.filter((code) => !seen.has(code))).toEqual(unreachable)

  // One line shows the first key twice: by itself and in the curl line.
  const log = server.stdout.replace(key, '').replace(key, '')
  const keys = [key, other, reader]
  for (const secret of [...keys, key.slice('pet_'.length), ...keys.map(hashApiKey)]) {
    expect(log).not.toContain(secret)
    expect(server.stderr).not.toContain(secret)
  }
  expect(Math.max(...log.split('\n').map((line) => line.length))).toBeLessThan(8_000)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Control characters could change what a terminal shows.
  expect(log).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  for (const response of responses) expect(response).not.toMatch(/SQLITE|\bSELECT\b|node_modules|\.ts:\d|\n\s+at /)
  expect(responses.join('\n')).not.toContain(folder)
  expect(responses.filter((response) => response.includes(key))).toEqual([])
})
