import { TRPCError } from '@trpc/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  ClosedStore,
  IdempotencyKeyReused,
  OtherRelease,
  Refusal,
  StoreUnavailable,
} from '../../../store/collection/errors.ts'
import { type ErrorCode, toApiError } from '../../api/errors.ts'

const cause = new Error('the cause')

describe('a thrown value becomes an ApiError:', () => {
  test.for<[string, unknown, ErrorCode, number]>([
    ['a store that may heal', new StoreUnavailable('full'), 'unavailable', 503],
    ['a key used for something else', new IdempotencyKeyReused('other'), 'unprocessable', 422],
    ['a refusal', new Refusal('The note is done.'), 'conflict', 409],
    ['a refusal of what is missing', new Refusal('There is no such shelf.', 'not_found'), 'not_found', 404],
    ['a refusal of an input', new Refusal('The amount is too high.', 'unprocessable'), 'unprocessable', 422],
    ['a refusal because of an outage', new Refusal('The bank does not respond.', 'unavailable'), 'unavailable', 503],
    ['a failure that tRPC wraps', internal(new StoreUnavailable('full')), 'unavailable', 503],
    ['an unknown failure that tRPC wraps', internal(cause), 'internal_error', 500],
    ['a failure of tRPC without a cause', new TRPCError({ code: 'INTERNAL_SERVER_ERROR' }), 'internal_error', 500],
    ['a code of tRPC without an own code here', new TRPCError({ code: 'PAYMENT_REQUIRED' }), 'internal_error', 500],
    ['a procedure that does not exist', new TRPCError({ code: 'NOT_FOUND' }), 'not_found', 404],
    ['a text', 'thrown', 'internal_error', 500],
    ['nothing', undefined, 'internal_error', 500],
  ])('%s', ([, thrown, code, status]) => {
    const error = toApiError(thrown)
    expect(error.body).toEqual({ code, message: expect.stringMatching(/^[A-Z].*\.$|^[A-Z_]+$/), status })
    expect(error.body.message).toBe(error.message)
  })

  test('a Zod error of the output is no error of the client', () => {
    const { error } = z.object({ name: z.string('wrong') }).safeParse({})
    expect(toApiError(internal(error)).body).toMatchObject({ code: 'internal_error' })
  })

  test.for([
    [new StoreUnavailable('busy'), 'Try again', '1'],
    [new StoreUnavailable('lacks', { failure: 'schema', isRetryable: false }), 'a newer release', undefined],
    [new StoreUnavailable('broken', { failure: 'corrupt', isRetryable: false }), 'an operator', undefined],
    [new OtherRelease(), 'A newer release', undefined],
    [new OtherRelease({ isRetryable: true }), 'A newer release', '1'],
  ] as const)('an outage has Retry-After only if a retry can succeed: %o', ([thrown, text, retryAfter]) => {
    const { body, headers } = toApiError(thrown)
    expect([body.message, headers['retry-after']]).toEqual([expect.stringContaining(text), retryAfter])
  })

  test('a call after the store was closed has no cause, so that a stop logs no error', () => {
    const { body, cause } = toApiError(internal(new ClosedStore()))
    expect([body.code, cause]).toEqual(['unavailable', undefined])
  })
})

function internal(thrown: unknown): TRPCError {
  return new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause: thrown })
}
