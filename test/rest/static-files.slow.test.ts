import { createHook } from 'node:async_hooks'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConsolePage, serveFile } from '../../engine/service/http/static-files.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { consoleFolder, largestFile } from '../support/built-console.ts'
import { shareTestApi, startTestApi } from '../support/petstore.ts'

const api = shareTestApi({ consoleFolder })

test('the script of the API reference is the file of the build, and has at most 1.3 MB when compressed', async () => {
  const get = (headers: Record<string, string> = {}) => api().app.inject({ url: largestFile, headers })
  const file = readFileSync(join(consoleFolder, largestFile))
  const [plain, brotli, gzip] = [
    await get(),
    await get({ 'accept-encoding': 'gzip, deflate, br' }),
    await get({ 'accept-encoding': 'gzip' }),
  ]
  expect([plain, brotli, gzip].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'br', 'gzip'])
  for (const { rawPayload } of [brotli, gzip]) expect(rawPayload.length).toBeLessThan(1_300_000)
  for (const content of [plain.rawPayload, brotliDecompressSync(brotli.rawPayload), gunzipSync(gzip.rawPayload)]) {
    expect(content.equals(file)).toBe(true)
  }
})

describe('every static file', () => {
  test('is read once for requests that arrive together, which share its bytes, and again if that failed', async () => {
    const app = fastify()
    onTestFinished(() => app.close())
    const sent = new Set<unknown>()
    app.addHook('onSend', async (_request, { statusCode }, payload) => void (statusCode === 200 && sent.add(payload)))
    let reads = 0
    const read = async () => {
      reads++
      await wait(10)
      if (reads === 1) throw new Error('too many open files')
      return Buffer.from('pets')
    }
    serveFile(app, '/pets.js', read, { 'content-type': 'text/javascript' })
    const load = async () => {
      const responses = await Promise.all(Array.from({ length: 3 }, () => app.inject('/pets.js')))
      return responses.map(({ statusCode }) => statusCode)
    }
    expect([await load(), reads]).toEqual([[500, 500, 500], 1])
    for (let i = 0; i < 2; i++) expect([await load(), reads]).toEqual([[200, 200, 200], 2])
    expect(sent.size).toBe(1)
  })

  test('is compressed once for requests that arrive together, and not on the event loop', async () => {
    const { app } = await startTestApi({ consoleFolder })
    await app.ready()
    let [compressions, turns, isLoading] = [0, 0, true]
    const hook = createHook({
      init(_id, type) {
        if (type === 'ZLIB') compressions++
      },
    }).enable()
    onTestFinished(() => void hook.disable())
    function countTurn(): void {
      turns++
      if (isLoading) setImmediate(countTurn)
    }
    countTurn()
    const load = () => app.inject({ url: largestFile, headers: { 'accept-encoding': 'br' } })
    await Promise.all(Array.from({ length: 20 }, load))
    isLoading = false
    expect(compressions).toBe(1)
    expect(turns).toBeGreaterThan(1_000)
  })

  test('has its folder as its route in the log, and refuses other methods and similar names', async () => {
    const { app, log } = await startTestApi({ consoleFolder })
    const statusOf = async (url: string, method: 'GET' | 'POST' | 'OPTIONS' = 'GET') =>
      (await app.inject({ url, method })).statusCode
    expect(await statusOf(largestFile)).toBe(200)
    expect(log.join('')).toContain(`"route":"${dirname(largestFile)}/:name"`)
    expect(await statusOf(largestFile, 'POST')).toBe(405)
    expect(await statusOf(largestFile, 'OPTIONS')).toBe(204)
    const similar = [largestFile.replace('.', 'x'), `${largestFile}x`, `${largestFile}/x`, `${dirname(largestFile)}//`]
    for (const url of [...similar, '/docs/js/scalar.js', '/docs/scalar-0.js', '/docs/index.html'])
      expect(await statusOf(url), url).toBe(404)
  })
})

/** What browsers send when they navigate. */
const navigation = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

describe('an unknown path', () => {
  const withoutConsole = shareTestApi()

  test.for(['/nowhere', '/docs/nowhere', '/v1nowhere', '/pets/7?x=1'])(
    'a browser that navigates to %s gets the page of the console with status 404',
    async (url) => {
      const { app } = api()
      const page = await app.inject({ url, headers: { accept: navigation } })
      const { headers, body } = await app.inject('/')
      expect([page.statusCode, page.body]).toEqual([404, body])
      for (const name of ['content-type', 'content-security-policy']) expect(page.headers[name]).toBe(headers[name])
      expect(page.headers).toMatchObject({ vary: 'accept', 'cache-control': 'no-store' })
    },
  )

  test('HEAD gets the headers of that page', async () => {
    const { app } = api()
    const request = { url: '/nowhere', headers: { accept: navigation } }
    const [head, get] = [await app.inject({ ...request, method: 'HEAD' }), await app.inject(request)]
    expect([head.statusCode, head.body]).toEqual([404, ''])
    const changing = { date: undefined, 'x-request-id': undefined }
    expect({ ...head.headers, ...changing }).toEqual({ ...get.headers, ...changing })
  })

  test.for<[accept: string | undefined, method?: 'POST']>([
    [undefined],
    ['*/*'],
    ['application/json'],
    ['application/json, text/html'],
    ['application/json, text/html;q=0.9'],
    ['text/html;q=0'],
    ['image/avif,image/webp,*/*;q=0.8'],
    [navigation, 'POST'],
  ])('with "Accept: %s" the response is JSON: %s', async ([accept, method = 'GET']) => {
    const headers = accept === undefined ? {} : { accept }
    const response = await api().app.inject({ url: '/nowhere', method, headers })
    expect([response.statusCode, response.json().code]).toEqual([404, 'not_found'])
    expect(response.headers.vary).toBe('accept')
  })

  test.for(['/v1', '/v1/nowhere', '/trpc', '/trpc/nowhere', '/trpc/a/b'])('%s gives browsers JSON', async (url) => {
    const { app, key } = api()
    const unknown = await app.inject({ url, headers: { accept: navigation, authorization: `Bearer ${key}` } })
    expect([unknown.statusCode, unknown.headers['content-type']]).toEqual([404, expect.stringContaining('json')])
    expect((await app.inject({ url, headers: { accept: navigation } })).statusCode).toBe(401)
  })

  test('without a console, browsers get JSON', async () => {
    const response = await withoutConsole().app.inject({ url: '/nowhere', headers: { accept: navigation } })
    expect([response.statusCode, response.json().code]).toEqual([404, 'not_found'])
    expect(response.headers).not.toHaveProperty('vary')
  })
})

test('the page of the API reference runs no inline script and calls only the servers of the document', async () => {
  const servers = { publicUrl: 'https://pets.example/shop', stagingUrl: 'https://staging.example' }
  const { rest } = await startTestApi({ consoleFolder, config: servers })
  const { text, headers } = await rest.get('/docs/')
  expect(text).not.toMatch(/<style|<script[^>]*>[^<]|\son\w+=|\sstyle=/)
  expect(headers['content-security-policy']?.split('; ').toSorted()).toEqual([
    "base-uri 'none'",
    "connect-src 'self' https://pets.example https://staging.example",
    "default-src 'none'",
    "font-src 'self' data:",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self' data:",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
  ])
  expect(headers['cache-control']).toBe('no-store')
})

test.for(['<base href="/" />', '<base href="/"/>', '<base href="/">'])(
  'the links of a console with %s lead to the path of the service',
  (element) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'index.html'), `<head>${element}</head>`)
    const page = readConsolePage(folder, '/a&$&')
    expect(page?.content.toString()).toBe('<head><base href="/a&amp;$&amp;/" /></head>')
  },
)
