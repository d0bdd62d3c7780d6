import { expect, test } from 'vitest'
import { compressOnce, encodingFor } from '../../http/cache/negotiation.ts'

/** `Accept-Encoding` (RFC 9110, section 12.5.3). */
test.for([
  ['', undefined],
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['deflate, zstd', undefined],
  ['GZip', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['br;q=0, gzip;q=0, *', undefined],
  ['*;q=0', undefined],
  ['gzip, *;q=0', 'gzip'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br;q=0.5,gzip;q=0.500', 'br'],
  [' br ; q=1.000 ', 'br'],
  ['gzip;Q=0.001', 'gzip'],
  ['br;q=0, gzip;q=0.0', undefined],
  ['identity', undefined],
  ['identity;q=0.5, gzip;q=0.4', undefined],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['identity;q=0', undefined],
  ['br;q=2', undefined],
  ['br;q=1.5, gzip;q=0.1', 'gzip'],
  ['br;q=-1, gzip;q=x', undefined],
  ['br;level=5', undefined],
  [';q=1, ,,gzip', 'gzip'],
  ['x-br, gzipped', undefined],
] as const)('"%s" is %s', ([header, encoding]) => {
  expect(encodingFor({ 'accept-encoding': header })).toBe(encoding)
})

test('only the first 32 items and the first parameter of each are read, because a header may have 16 kB of separators', () => {
  expect(encodingFor({ 'accept-encoding': `${','.repeat(31)}gzip` })).toBe('gzip')
  expect(encodingFor({ 'accept-encoding': `${','.repeat(32)}gzip` })).toBeUndefined()
  expect(encodingFor({ 'accept-encoding': `gzip;q=0.5${';'.repeat(15_000)}` })).toBe('gzip')
})

test('without the header, content is sent as it is', () => {
  expect(encodingFor({})).toBeUndefined()
})

test('a failure is not kept', async () => {
  const compress = compressOnce('content', { br: { maxOutputLength: 1 }, gzip: {} })
  const failures = [await compress('br').catch((error) => error), await compress('br').catch((error) => error)]
  expect(failures.map(({ code }) => code)).toEqual(['ERR_BUFFER_TOO_LARGE', 'ERR_BUFFER_TOO_LARGE'])
  expect(failures[1]).not.toBe(failures[0])
})
