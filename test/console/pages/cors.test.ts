import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openBrowser } from '../../../engine/console/test/browser/open-browser.ts'
import { share } from '../../../engine/test/support/share.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { startTestApi } from '../../support/petstore.ts'
import { serveFolder } from './serve-folder.ts'

/** The CORS protocol in a browser, on a page of another origin. */

const shop = share(async (atEnd) => {
  const site = temporaryFolder(atEnd)
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>shop</title>')
  const origin = await serveFolder(site, atEnd)
  const { app, key } = await startTestApi({ config: { corsOrigins: [origin] }, atEnd })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const page = await (await openBrowser(atEnd)).newPage()
  await page.goto(origin)
  return { page, url, key }
})

const requestHeaders = {
  ...{ baggage: 'a=1', traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01`, tracestate: 'a=1' },
  ...{ 'x-trpc-source': 'react', 'trpc-accept': 'application/json', 'last-event-id': '1' },
  ...{ 'idempotency-key': 'a', 'if-none-match': '"a"', 'x-request-id': 'a', 'x-own': 'a' },
  accept: `application/json, ${'text/x, '.repeat(30)}text/y`,
}

test.for(Object.entries(requestHeaders))('the page may send the header %s', async ([name, value]) => {
  const { page, url, key } = shop()
  const headers = JSON.stringify({ authorization: `Bearer ${key}`, [name]: value })
  const request = `fetch('${url}/trpc/pets.counts', { headers: ${headers} })`
  expect(await page.evaluate(`${request}.then(({ ok }) => ok)`)).toBe(true)
})
