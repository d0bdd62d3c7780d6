import type { FastifyBaseLogger } from 'fastify'
import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../db/store.ts'
import { ApiError, type ErrorCode } from '../../server/api/errors.ts'
import { logFault, toHttpError } from '../../server/http/error-responses.ts'

const cause = new Error('the cause')

describe('toHttpError maps', () => {
  test.for<[string, unknown, ErrorCode, number]>([
    ['an error of Node’s HTTP parser', withCode('HPE_INVALID_METHOD'), 'invalid_request', 400],
    ['headers that are too large', withCode('HPE_HEADER_OVERFLOW'), 'headers_too_large', 431],
    ['a request that arrives too slowly', withCode('ERR_HTTP_REQUEST_TIMEOUT'), 'request_timeout', 408],
    ['an error of Fastify with status 400', withStatus(400), 'invalid_request', 400],
    ['an error of Fastify with status 499', withStatus(499), 'invalid_request', 400],
    ['an error with status 399', withStatus(399), 'internal_error', 500],
    ['an error with status 500', withStatus(500), 'internal_error', 500],
    ['an object with a status that is no error', { statusCode: 400 }, 'internal_error', 500],
    ['an error of the store', new StoreUnavailable('full'), 'unavailable', 503],
    ['any other error', cause, 'internal_error', 500],
    ['null', null, 'internal_error', 500],
  ])('%s', ([, thrown, code, status]) => {
    const error = toHttpError(thrown)
    expect(error.body).toEqual({ code, message: expect.stringMatching(/^[A-Z].*\.$/), status })
    if (thrown instanceof Error) expect(error.cause).toBe(thrown)
  })
})

test.for<[string, ApiError, boolean]>([
  ['an error of the client is not logged', new ApiError('invalid_request', 'Wrong.', { cause }), false],
  ['overload is not logged', new ApiError('unavailable', 'Overloaded.'), false],
  ['a failing disk is logged', new ApiError('unavailable', 'Try again.', { cause }), true],
  ['an internal error is logged', new ApiError('internal_error', 'Failed.'), true],
])('%s', ([, error, isLogged]) => {
  const lines: unknown[] = []
  logFault(error, { error: (...line: unknown[]) => void lines.push(line) } satisfies Pick<FastifyBaseLogger, 'error'>)
  expect(lines).toEqual(isLogged ? [[{ err: error.cause }, error.message]] : [])
})

function withCode(code: string): Error {
  return Object.assign(new Error('of Node'), { code })
}

function withStatus(statusCode: number): Error {
  return Object.assign(new Error('of Fastify'), { statusCode })
}
