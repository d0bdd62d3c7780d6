import { expect, test } from 'vitest'
import { createNotesClient, startTestApi } from '../../test/notes/fixtures.ts'
import { fetchFrom } from '../../test/support/transport.ts'
import { issueTexts } from '../issues.ts'
import { isTransient, type Problem, problemOf, retryDelayAfter } from '../problem.ts'
import { parseId } from '../resource/view.ts'
import { books } from './notes/resources.ts'

/** The error of a call that must fail. */
async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.unreachable('Expected the call to fail.'),
    (error: unknown) => error,
  )
}

test('queries of an unreachable service are retried every two seconds, of a busy one after pauses of up to 8 s', async () => {
  const { app, key } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 60 } } })
  const rpc = createNotesClient({ url: 'http://service.test', apiKey: key, retries: 0, fetch: fetchFrom(app) })
  await rpc.notes.list.query()
  const limited = problemOf(await failureOf(rpc.notes.list.query()))
  expect(limited).toMatchObject({ kind: 'busy', retryAfter: expect.any(Number) })
  const untilThen = 1_000 * Number(limited.retryAfter)
  expect([0, 10].map((failures) => retryDelayAfter(failures, limited))).toEqual([untilThen, untilThen])
  const busy: Problem = { kind: 'busy', message: 'The service is not available.' }
  expect([0, 1, 2, 10].map((failures) => retryDelayAfter(failures, busy))).toEqual([2_000, 4_000, 8_000, 8_000])
  await app.close()
  const away = problemOf(await failureOf(rpc.notes.list.query(undefined, { signal: AbortSignal.timeout(100) })))
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
    const rpc = createNotesClient({ url: 'http://service.test', apiKey: 'note_key', retries: 0, fetch })
    for (const call of [() => rpc.notes.list.query(), () => rpc.notes.create.mutate({ body: 'Ann', priority: 7n })]) {
      const problem = problemOf(await failureOf(call()))
      expect(problem.kind).toBe(expected)
      expect(isTransient(problem)).toBe(true)
    }
  },
)

test('a value that another one has is a problem of its field, and no conflict with a change', async () => {
  const { app, key } = await startTestApi()
  const rpc = createNotesClient({ url: 'http://service.test', apiKey: key, retries: 0, fetch: fetchFrom(app) })
  const add = () => rpc.books.create.mutate({ title: 'Faust', isLent: false })
  await add()
  const { kind, issues } = problemOf(await failureOf(add()))
  expect(kind).toBe('permanent')
  expect(issueTexts(books, issues)).toEqual({ title: 'Another one has the same title.' })
})

test('an error in the page itself is not transient', () => {
  expect(isTransient(problemOf(new TypeError('notes is undefined')))).toBe(false)
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
