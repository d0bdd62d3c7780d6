import { expect, test } from 'vitest'
import { startTestApi } from '../../../test/notes/fixtures.ts'

const names = [
  ...['accept', 'accept-encoding', 'accept-language', 'authorization', 'baggage', 'cache-control', 'connection'],
  ...['content-type', 'cookie', 'forwarded', 'idempotency-key', 'if-match', 'if-none-match', 'origin', 'prefer'],
  'range',
  ...['te', 'traceparent', 'tracestate', 'trpc-accept', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-request-id'],
]
const separators = [',', ';', ' ', '127.0.0.1,', 'a;q=0,', '"a",']

const paths = ['/nothing', '/openapi.json', '/metrics', '/v1/notes', '/trpc/notes.list']

/** Milliseconds of CPU time for the bytes of a header would let a client without a key block the service. */
test.for(paths)('15 kB of separators take about as long in any header as in one that is not read: %s', async (url) => {
  const config = { trustProxy: ['127.0.0.1'], rateLimit: { requests: 1, seconds: 1 } }
  const { app, key } = await startTestApi({ config })
  const authorization = `Bearer ${key}`
  const send = async (name: string, value: string) => {
    const start = performance.now()
    await app.inject({ url, headers: { authorization, [name]: value } })
    return performance.now() - start
  }
  /** The median of quotients, of which each compares two requests in a row: both are as slow on a busy machine. */
  const timesLonger = async (name: string, value: string) => {
    const quotients: number[] = []
    const median = () => quotients.toSorted((a, b) => a - b)[quotients.length >> 1] ?? Number.NaN
    while (quotients.length < 5 || (quotients.length < 199 && median() >= 5)) {
      const usual = await send('x', value)
      quotients.push((await send(name, value)) / usual)
    }
    return median()
  }
  for (let i = 0; i < 200; i++) await send('accept', '*/*')
  for (const separator of separators) {
    const value = separator.repeat(15_000 / separator.length)
    for (const name of names) expect(await timesLonger(name, value), `${name}: ${separator}`).toBeLessThan(5)
  }
})
