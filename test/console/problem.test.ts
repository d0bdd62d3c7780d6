import { describe, expect, test } from 'vitest'
import { createPetstoreClient } from '../../client/index.ts'
import { isTransient, type Problem, problemOf, retryDelayAfter } from '../../engine/console/problem.ts'
import { parseId } from '../../engine/console/resource/view.ts'
import { fetchFrom } from '../../engine/test/support/transport.ts'
import { shareTestApi, startTestApi } from '../support/petstore.ts'

/** The error of a call that must fail. */
async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.unreachable('Expected the call to fail.'),
    (error: unknown) => error,
  )
}

describe('the issues of an invalid pet', () => {
  const api = shareTestApi()

  test.for([
    [{ name: '', categoryId: 7n }, ['name']],
    [{ name: 'a; categoryId: b\u0000', categoryId: 7n }, ['name']],
    [{ categoryId: 7n }, ['name']],
    [{ name: 'Rex', categoryId: 2n ** 63n }, ['categoryId']],
    [{ name: 'Rex', categoryId: 7n, status: 'lost' }, ['status']],
    [{ name: 7, status: null }, ['name', 'categoryId', 'status']],
  ] as const)('the fields with issues in %o are %o', async ([input, fields]) => {
    const { rpc } = api()
    // The inputs are invalid on purpose, so no type fits them.
    const problem = problemOf(await failureOf(rpc.pets.create.mutate(input as never)))
    expect(problem.issues?.map(({ path }) => path)).toEqual(fields)
    expect(problem.kind).toBe('permanent')
  })
})

test('queries of an unreachable service are retried every two seconds, of a busy one after pauses of up to 8 s', async () => {
  const { app, key } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 60 } } })
  const rpc = createPetstoreClient({ url: 'http://petstore.test', apiKey: key, retries: 0, fetch: fetchFrom(app) })
  await rpc.pets.list.query()
  const limited = problemOf(await failureOf(rpc.pets.list.query()))
  expect(limited).toMatchObject({ kind: 'busy', retryAfter: 60 })
  expect([0, 10].map((failures) => retryDelayAfter(failures, limited))).toEqual([60_000, 60_000])
  const busy: Problem = { kind: 'busy', message: 'The service is not available.' }
  expect([0, 1, 2, 10].map((failures) => retryDelayAfter(failures, busy))).toEqual([2_000, 4_000, 8_000, 8_000])
  await app.close()
  const away = problemOf(await failureOf(rpc.pets.list.query(undefined, { signal: AbortSignal.timeout(100) })))
  expect(away.kind).toBe('unreachable')
  expect([0, 10].map((failures) => retryDelayAfter(failures, away))).toEqual([2_000, 2_000])
  expect([limited, busy, away].every(isTransient)).toBe(true)
})

test.for([
  ['busy', 409, { error: { code: 'conflict', message: 'Conflict' } }],
  ['busy', 429, { error: 'Slow down' }],
  ['busy', 500, 'Error'],
  ['unreachable', 503, 'Bad gateway'],
  ['busy', 422, { error: { json: { message: 'Invalid', code: -32600, data: { code: 'unprocessable' } } } }],
  ['busy', 500, [{ error: {} }]],
] as const)(
  'after a response that is not one of the service, it is %s, and the call is tried again (status %i)',
  async ([expected, status, body]) => {
    const fetch = async () => Response.json(body, { status })
    const rpc = createPetstoreClient({ url: 'http://petstore.test', apiKey: 'pet_key', retries: 0, fetch })
    for (const call of [() => rpc.pets.list.query(), () => rpc.pets.create.mutate({ name: 'Rex', categoryId: 7n })]) {
      const problem = problemOf(await failureOf(call()))
      expect(problem.kind).toBe(expected)
      expect(isTransient(problem)).toBe(true)
    }
  },
)

test('an error in the page itself is not transient', () => {
  expect(isTransient(problemOf(new TypeError('pets is undefined')))).toBe(false)
})

test('an id is any positive 64-bit integer', () => {
  expect(['1', '9007199254740993', '9223372036854775807'].map(parseId)).toEqual([
    1n,
    9007199254740993n,
    9223372036854775807n,
  ])
  for (const text of [null, '', '0', '-1', '1.5', '0x1', ' 1', '9223372036854775808', '1'.repeat(20)]) {
    expect(parseId(text)).toBeUndefined()
  }
})
