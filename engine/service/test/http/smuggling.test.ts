import { expect, test } from 'vitest'
import { shareTestApi } from '../../../test/notes/fixtures.ts'
import { exchange, expectError } from '../../../test/support/raw-http.ts'

const api = shareTestApi()

/** Headers and bodies that two HTTP parsers may read differently (RFC 9112, sections 5.1, 5.2, 6.1, 6.3 and 7.1). */
const ambiguous = {
  'a length beside a coding': ['Content-Length: 6\r\nTransfer-Encoding: chunked', '0\r\n\r\nG'],
  'a coding beside a length': ['Transfer-Encoding: chunked\r\nContent-Length: 5', '0\r\n\r\n'],
  'two lengths that differ': ['Content-Length: 0\r\nContent-Length: 5', 'hello'],
  'two lengths that agree': ['Content-Length: 5\r\nContent-Length: 5', 'hello'],
  'a list of lengths': ['Content-Length: 5, 5', 'hello'],
  'a signed length': ['Content-Length: +5', 'hello'],
  'a negative length': ['Content-Length: -5', 'hello'],
  'a length in hexadecimal': ['Content-Length: 0x5', 'hello'],
  'a length that is no number': ['Content-Length: 5x', 'hello'],
  'a coding that is not chunked': ['Transfer-Encoding: xchunked', '0\r\n\r\n'],
  'a coding of its own': ['Transfer-Encoding: gzip', '0\r\n\r\n'],
  'the coding identity': ['Transfer-Encoding: identity', '0\r\n\r\n'],
  'a coding before chunked': ['Transfer-Encoding: gzip, chunked', '0\r\n\r\n'],
  'chunked before another coding': ['Transfer-Encoding: chunked, identity', '0\r\n\r\n'],
  'chunked twice': ['Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
  'chunked and an unknown coding': ['Transfer-Encoding: chunked\r\nTransfer-Encoding: cow', '0\r\n\r\n'],
  'a coding behind a vertical tab': ['Transfer-Encoding: \x0bchunked', '0\r\n\r\n'],
  'a space before the colon': ['Transfer-Encoding : chunked', '0\r\n\r\n'],
  'a folded coding': ['Transfer-Encoding:\r\n chunked', '0\r\n\r\n'],
  'a folded header': ['X: 1\r\n 2', ''],
  'a space in the name of a header': ['X A: 1', ''],
  'a line that ends without a return': ['X: a\nTransfer-Encoding: chunked', '0\r\n\r\n'],
  'a return in a header': ['X: a\rTransfer-Encoding: chunked', '0\r\n\r\n'],
  'a NUL in a header': ['X: a\0b\r\nContent-Length: 5', 'hello'],
  'a chunk longer than any': ['Transfer-Encoding: chunked', 'fffffffffffffffff\r\nhello'],
  'a chunk with a signed size': ['Transfer-Encoding: chunked', '+5\r\nhello\r\n0\r\n\r\n'],
  'a chunk with a size in hexadecimal notation': ['Transfer-Encoding: chunked', '0x5\r\nhello\r\n0\r\n\r\n'],
  'a chunk without its end': ['Transfer-Encoding: chunked', '5\r\nhelloX0\r\n\r\n'],
  'a chunk that ends without a return': ['Transfer-Encoding: chunked', '5\nhello\n0\n\n'],
} satisfies Record<string, [string, string]>

test.for(Object.entries(ambiguous))(
  '%s ends the connection, and the bytes that follow are not read as a request',
  async ([, parts]) => {
    const { app, key } = api()
    const url = app.server.listening ? app.listeningOrigin : await app.listen({ host: '127.0.0.1', port: 0 })
    const [headers, body] = parts
    const start = `POST /v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
    const responses = await exchange(url, `${start}${headers}\r\n\r\n${body}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`)
    expect(responses).toHaveLength(1)
    expectError(responses[0], 400, 'invalid_request')
    expect(responses[0]?.headers.get('connection')).toBe('close')
  },
)
