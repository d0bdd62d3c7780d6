import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../../../engine/console/test/browser/open-browser.ts'
import type { Page } from '../../../engine/console/test/browser/visit.ts'
import { type AtEnd, temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { startTestApi } from '../../support/petstore.ts'
import { serveFolder } from './serve-folder.ts'
import { linkNames } from './trpc-links.ts'

/** The CORS protocol in a browser, on a page of another origin. */

let page: Page
let url: string
let key: string
const cleanings: Parameters<AtEnd>[0][] = []
const atEnd: AtEnd = (clean) => cleanings.push(clean)
beforeAll(async () => {
  const site = temporaryFolder(atEnd)
  await build({
    configFile: false,
    logLevel: 'error',
    build: {
      lib: { entry: join(import.meta.dirname, 'trpc-links.ts'), formats: ['es'], fileName: 'page' },
      outDir: site,
    },
  })
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>shop</title>')
  const shop = await serveFolder(site, atEnd)
  const api = await startTestApi({ config: { corsOrigins: [shop] }, atEnd })
  key = api.key
  url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  page = await (await openBrowser(atEnd)).newPage()
  await page.goto(shop)
})
afterAll(async () => {
  for (const clean of cleanings.toReversed()) await clean()
})

test.for(linkNames)('tRPC calls work through %s', async (name) => {
  const words = JSON.stringify([name, url, key])
  const results = await page.evaluate(`import('/page.js').then(({ callThrough }) => callThrough(...${words}))`)
  expect(results).toEqual(['9007199254740993', name, 'not_found', 'unauthorized'])
})

const requestHeaders = {
  ...{ baggage: 'a=1', traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01`, tracestate: 'a=1' },
  ...{ 'x-trpc-source': 'react', 'trpc-accept': 'application/json', 'last-event-id': '1' },
  ...{ 'idempotency-key': 'a', 'if-none-match': '"a"', 'x-request-id': 'a', 'x-own': 'a' },
  accept: `application/json, ${'text/x, '.repeat(30)}text/y`,
}

test.for(Object.entries(requestHeaders))('the page may send the header %s', async ([name, value]) => {
  const headers = JSON.stringify({ authorization: `Bearer ${key}`, [name]: value })
  expect(await page.evaluate(`fetch('${url}/trpc/pets.counts', { headers: ${headers} }).then(({ ok }) => ok)`)).toBe(
    true,
  )
})

test.for(['PUT', 'PATCH', 'DELETE', 'QUERY'])('the page can read that %s is not served: 405', async (method) => {
  const headers = JSON.stringify({ authorization: `Bearer ${key}` })
  const read = await page.evaluate(`fetch('${url}/v1/pets', { method: '${method}', headers: ${headers} })
    .then(async (response) => [response.headers.get('allow'), (await response.json()).code])`)
  expect(read).toEqual(['GET, HEAD, POST, OPTIONS', 'method_not_allowed'])
})

test('the page can read the challenge of a 401', async () => {
  const read = await page.evaluate(`fetch('${url}/v1/pets').then(({ headers }) => headers.get('www-authenticate'))`)
  expect(read).toBe('Bearer realm="petstore"')
})

test('the page can read the Error body of every error, also of a malformed URL', async () => {
  const requests = {
    '/v1/pets?limit=0': 400,
    '/v1/pets/%zz': 400,
    '/nowhere': 404,
    '/v1/nowhere': 404,
    [`/v1/pets?${'x'.repeat(9_000)}`]: 414,
  }
  const statuses = await page.evaluate(`Promise.all(${JSON.stringify(Object.keys(requests))}.map(async (path) => {
    const response = await fetch(${JSON.stringify(url)} + path, { headers: { authorization: ${JSON.stringify(`Bearer ${key}`)} } })
    return (await response.json()).status
  }))`)
  expect(statuses).toEqual(Object.values(requests))
})
