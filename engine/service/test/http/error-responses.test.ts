import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { DatabaseError } from 'pg'
import { describe, expect, test } from 'vitest'
import { IdsExhausted, StoreUnavailable } from '../../../store/collection/errors.ts'
import { startTestApi } from '../../../test/notes/fixtures.ts'
import { logLinesIn } from '../../../test/support/log-lines.ts'
import { ApiError, type ErrorCode } from '../../api/errors.ts'
import { oncePerSecond, reportFault, toHttpError } from '../../http/error-responses.ts'

const cause = new Error('the cause')

describe('toHttpError maps', () => {
  test.for<[string, unknown, ErrorCode, number]>([
    ['a request that arrives too slowly', withCode('ERR_HTTP_REQUEST_TIMEOUT'), 'request_timeout', 408],
    ['an error of Fastify with status 400', withStatus(400), 'invalid_request', 400],
    ['an error of Fastify with status 499', withStatus(499), 'invalid_request', 400],
    ['an error with status 399', withStatus(399), 'internal_error', 500],
    ['an error with status 500', withStatus(500), 'internal_error', 500],
    ['an object with a status that is no error', { statusCode: 400 }, 'internal_error', 500],
  ])('%s', ([, thrown, code, status]) => {
    const error = toHttpError(thrown)
    expect(error.body).toEqual({ code, message: expect.stringMatching(/^[A-Z].*\.$/), status })
    if (thrown instanceof Error) expect(error.cause).toBe(thrown)
  })
})

const defect = 'A request failed because of a defect of the service. Report it with this line.'
const noIds = new IdsExhausted('No id is left. Renumber.', 'notes')

test.for<[string, ApiError, string | undefined]>([
  ['an error of the client is not logged', new ApiError('invalid_request', 'Wrong.', { cause }), undefined],
  ['overload is not logged', new ApiError('unavailable', 'Overloaded.'), undefined],
  ['a failing disk is logged with its message', new ApiError('unavailable', 'Try again.', { cause }), cause.message],
  [
    'a table without ids is logged with its message',
    new ApiError('internal_error', 'x', { cause: noIds }),
    noIds.message,
  ],
  ['a defect is logged as one', new ApiError('internal_error', 'Failed.', { cause }), defect],
  ['a defect without a cause is logged as one', new ApiError('internal_error', 'Failed.'), defect],
])('%s, and never with the message for clients', ([, error, logged]) => {
  const lines: unknown[] = []
  const causes: unknown[] = []
  const log = { error: (...line: unknown[]) => void lines.push(line) } satisfies Pick<FastifyBaseLogger, 'error'>
  reportFault(error, { log, server: { mayLogFault: oncePerSecond() }, recordFault: (cause) => causes.push(cause) })
  expect(lines).toEqual(logged === undefined ? [] : [[{ err: error.cause }, logged]])
  expect(causes).toEqual(logged === undefined ? [] : [error.cause])
})

function withCode(code: string): Error {
  return Object.assign(new Error('of Node'), { code })
}

function withStatus(statusCode: number): Error {
  return Object.assign(new Error('of Fastify'), { statusCode })
}

test('one line a second passes for each cause, with the number of the others', () => {
  let time = 5_000
  const mayLog = oncePerSecond(() => time)
  const results = (cause: string, count: number) => Array.from({ length: count }, () => mayLog(cause))
  expect(results('full', 3)).toEqual([0, undefined, undefined])
  expect(results('io', 2)).toEqual([0, undefined])
  time += 999
  expect(results('full', 1)).toEqual([undefined])
  time += 1
  expect(results('full', 2)).toEqual([3, undefined])
  expect(results('io', 1)).toEqual([1])
})

test('causes that differ each time do not fill the memory', () => {
  const mayLog = oncePerSecond(() => 0)
  for (let i = 0; i < 1_000; i++) mayLog(`cause ${i}`)
  expect(mayLog('cause 0')).toBeUndefined()
  mayLog('another')
  expect(mayLog('cause 0')).toBe(0)
})

test('an outage is logged with one line a second for the error and one for its requests', async () => {
  const { rest, store, log } = await startTestApi()
  store.notes.create = () => Promise.reject(new StoreUnavailable('The disk is full.', { failure: 'full' }))
  const fail = () => rest.post('/v1/notes', { body: 'Ann', priority: 1 })
  for (let i = 0; i < 50; i++) expect((await fail()).status).toBe(503)
  await wait(1_100)
  await fail()
  const lines = logLinesIn(log.join('')).map(({ level, msg, status, others }) => [level, msg, status, others])
  expect(lines.length).toBeLessThan(20)
  const errors = lines.filter(([level]) => level === 'error')
  const requests = lines.filter(([, msg]) => msg === 'request')
  expect([errors[0], requests[0]]).toEqual([
    ['error', 'The disk is full.', undefined, undefined],
    ['info', 'request', 503, undefined],
  ])
  const left = (found: unknown[][]) => found.reduce((sum, [, , , others]) => sum + Number(others ?? 0), found.length)
  expect([left(errors), left(requests)]).toEqual([51, 51])
})

test('the log has no value of a row or of a parameter, which the errors of PostgreSQL contain', async () => {
  const { rest, store, log } = await startTestApi()
  const leaking = Object.assign(new DatabaseError('new row violates a rule', 1, 'error'), {
    detail: 'Failing row contains (1, secret-value).',
    where: 'SQL statement "INSERT INTO notes VALUES (\'secret-value\')"',
    internalQuery: "INSERT INTO notes VALUES ('secret-value')",
  })
  store.notes.list = () => Promise.reject(leaking)
  expect((await rest.get('/v1/notes')).status).toBe(500)
  const [fault] = logLinesIn(log.join('')).filter(({ level }) => level === 'error')
  expect(fault).toMatchObject({ err: { message: 'new row violates a rule', stack: expect.any(String) } })
  expect(log.join('')).not.toContain('secret-value')
})
