import { TRPCError } from '@trpc/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ClosedStore, IdempotencyKeyReused, Refusal, StoreUnavailable } from '../../../store/collection/errors.ts'
import { ApiError, type ErrorCode, toApiError } from '../../api/errors.ts'

const cause = new Error('the cause')

describe('a thrown value becomes an ApiError:', () => {
  test.for<[string, unknown, ErrorCode, number]>([
    ['a store that may heal', new StoreUnavailable('full'), 'unavailable', 503],
    ['a key used for something else', new IdempotencyKeyReused('other'), 'unprocessable', 422],
    ['a refusal', new Refusal('The note is done.'), 'conflict', 409],
    ['a refusal of what is missing', new Refusal('There is no such shelf.', 'not_found'), 'not_found', 404],
    ['a refusal of an input', new Refusal('The amount is too high.', 'unprocessable'), 'unprocessable', 422],
    ['a failure that tRPC wraps', internal(new StoreUnavailable('full')), 'unavailable', 503],
    ['an unknown failure that tRPC wraps', internal(cause), 'internal_error', 500],
    ['a failure of tRPC without a cause', new TRPCError({ code: 'INTERNAL_SERVER_ERROR' }), 'internal_error', 500],
    ['a code of tRPC without an own code here', new TRPCError({ code: 'PAYMENT_REQUIRED' }), 'internal_error', 500],
    ['a procedure that does not exist', new TRPCError({ code: 'NOT_FOUND' }), 'not_found', 404],
    ['an unknown code', withCode('EWHATEVER'), 'internal_error', 500],
    ['any error', cause, 'internal_error', 500],
    ['a text', 'thrown', 'internal_error', 500],
    ['null', null, 'internal_error', 500],
    ['nothing', undefined, 'internal_error', 500],
  ])('%s', ([, thrown, code, status]) => {
    const error = toApiError(thrown)
    expect(error.body).toEqual({ code, message: expect.stringMatching(/^[A-Z].*\.$|^[A-Z_]+$/), status })
    expect(error.body.message).toBe(error.message)
  })

  test('an ApiError stays the same', () => {
    const error = new ApiError('not_found', 'There is nothing.', { headers: { link: 'x' }, cause })
    expect(toApiError(error)).toBe(error)
    expect(error).toMatchObject({ headers: { link: 'x' }, cause })
  })

  test('the cause is kept for the log', () => {
    for (const thrown of [new StoreUnavailable('x'), cause]) expect(toApiError(thrown).cause).toBe(thrown)
    for (const code of ['NOT_FOUND', 'PAYMENT_REQUIRED'] as const) {
      const thrown = new TRPCError({ code })
      expect(toApiError(thrown).cause).toBe(thrown)
    }
    expect(toApiError(internal(cause)).cause).toBe(cause)
  })

  test('a call after the store was closed has no cause, so that a stop logs no error', () => {
    const { body, cause } = toApiError(internal(new ClosedStore()))
    expect([body.code, cause]).toEqual(['unavailable', undefined])
  })

  test('the message names each field of a Zod error of the input, and none of one of the output', () => {
    const { error } = z.object({ name: z.string('wrong') }).safeParse({})
    const thrown = new TRPCError({ code: 'BAD_REQUEST', cause: error })
    expect(toApiError(thrown)).toMatchObject({
      body: { message: 'name: wrong', status: 400 },
      issues: [{ path: 'name' }],
      cause: thrown,
    })
    expect(toApiError(internal(error)).body).toMatchObject({ code: 'internal_error' })
    const other = new TRPCError({ code: 'BAD_REQUEST', message: 'The input is odd.', cause })
    expect(toApiError(other).body.message).toBe('The input is odd.')
  })

  test('Retry-After is set for a transient failure only', () => {
    const headers = (thrown: unknown) => toApiError(thrown).headers
    expect(headers(new StoreUnavailable('full'))).toEqual({ 'retry-after': '1' })
    expect(headers(new StoreUnavailable('corrupt', { isRetryable: false }))).toEqual({})
    expect(headers(cause)).toEqual({})
  })
})

function internal(thrown: unknown): TRPCError {
  return new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause: thrown })
}

function withCode(code: string): Error {
  return Object.assign(new Error('of Node'), { code })
}
