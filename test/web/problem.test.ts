import { describe, expect, test } from 'vitest'
import { createPetstoreClient } from '../../client/index.ts'
import { fieldErrorsOf, mayPass, pauseAfter, problemOf } from '../../web/problem.ts'
import { parseId } from '../../web/view.ts'
import { fetchFrom, startTestApi } from '../support/helpers.ts'

/** What a call of the service, or of none, fails with. */
async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.unreachable('The call should fail.'),
    (error: unknown) => error,
  )
}

describe('what is wrong is told by its field', () => {
  test.for([
    [{ name: '', categoryId: 7n }, ['name']],
    [{ name: 'a; categoryId: b\u0000', categoryId: 7n }, ['name']],
    [{ name: '\ud800', categoryId: 7n }, ['name']],
    [{ categoryId: 7n }, ['name']],
    [{ name: 'Rex' }, ['categoryId']],
    [{ name: 'Rex', categoryId: 'seven; name: x' }, ['categoryId']],
    [{ name: 'Rex', categoryId: 2n ** 63n }, ['categoryId']],
    [{ name: 'Rex', categoryId: 7n, status: 'lost' }, ['status']],
    [{ name: 7, status: null }, ['name', 'categoryId', 'status']],
  ] as const)('%o', async ([input, fields]) => {
    const { rpc } = await startTestApi()
    const problem = problemOf(await failureOf(rpc.pets.create.mutate(input as never)))
    const errors = fieldErrorsOf(problem)
    expect(Object.keys(errors ?? {})).toEqual(fields)
    for (const message of Object.values(errors ?? {})) expect(message).toMatch(/^(?!.*, got )[A-Z].*\.$/)
    expect(problem.kind).toBe('lasting')
  })

  test('but not what is about something else', () => {
    expect(fieldErrorsOf({ kind: 'lasting', message: 'input: expected an object, got null' })).toBeUndefined()
    expect(fieldErrorsOf({ kind: 'lasting', message: 'name: required; the disk is full' })).toBeUndefined()
  })
})

test('a service that is away is asked again every two seconds, and one with too much to do ever more rarely', async () => {
  const { app, key } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 60 } } })
  const rpc = createPetstoreClient({ url: 'http://petstore.test', apiKey: key, retries: 0, fetch: fetchFrom(app) })
  await rpc.pets.list.query()
  const busy = problemOf(await failureOf(rpc.pets.list.query()))
  expect(busy.kind).toBe('busy')
  expect([0, 1, 2, 10].map((failures) => pauseAfter(failures, busy))).toEqual([2_000, 4_000, 8_000, 60_000])
  await app.close()
  const away = problemOf(await failureOf(rpc.pets.list.query(undefined, { signal: AbortSignal.timeout(100) })))
  expect(away.kind).toBe('unreachable')
  expect([0, 10].map((failures) => pauseAfter(failures, away))).toEqual([2_000, 2_000])
  expect([busy, away].every(mayPass)).toBe(true)
})

test('what is not of the service is not taken for its fault', () => {
  expect(mayPass(problemOf(new TypeError('pets is undefined')))).toBe(false)
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
