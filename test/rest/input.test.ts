import { expect, test } from 'vitest'
import { z } from 'zod'
import { Int64 } from '../../engine/service/api/int64.ts'
import { Time } from '../../engine/service/api/time.ts'
import { mustBe } from '../../engine/service/api/validation.ts'
import { inputReader } from '../../engine/service/rest/input.ts'
import { operationsOf } from '../../engine/service/rest/operations.ts'
import { mutation, query, router } from '../../server/trpc.ts'
import { shareTestApi } from '../support/petstore.ts'

const Flag = z.boolean({ error: mustBe('true or false') })
const get = (path: `/${string}`) => query({ openapi: { method: 'GET', path } })
const Seen = z.object({ seen: z.string() })
const describeInput = ({ input }: { input: object }) => ({ seen: Object.values(input).map(nameOf).join() })
const Flags = z.object({ isOpen: Flag.optional(), isNew: Flag.default(false) })
const nextFlags = Flags.extend({ since: Time.optional(), limit: z.int().default(1), cursor: Int64.optional() })

const routes = router({
  flags: get('/flags').input(Flags).output(Seen).query(describeInput),
  flag: get('/flags/{isOpen}')
    .input(z.object({ isOpen: Flag, since: Time.optional() }))
    .output(Seen)
    .query(describeInput),
  page: get('/pages')
    .input(nextFlags)
    .output(z.array(z.object({ id: Int64 })))
    .query(() => [{ id: 7n }]),
  add: mutation({ openapi: { method: 'POST', path: '/flags' }, idempotencyKey: 'ignored' })
    .input(
      z
        .object({ one: Int64.nullable(), list: z.array(Int64), item: z.object({ id: Int64, at: Time }).optional() })
        .meta({ id: 'Nested' }),
    )
    .output(Seen)
    .mutation(describeInput),
})

const api = shareTestApi({ router: routes })

test.for([
  ['/flags', 'boolean false'],
  ['/flags?isOpen=true', 'boolean true,boolean false'],
  ['/flags?isOpen=false&isNew=true', 'boolean false,boolean true'],
  ['/flags/true?since=2026-11-20T08:30:00.000Z', 'boolean true,Date 2026-11-20T08:30:00.000Z'],
])('%s is read as %s', async ([url, seen]) => {
  expect(await api().rest.get(`/v1${url}`)).toMatchObject({ status: 200, body: { seen } })
})

test.for([
  ...['TRUE', 'True', '1', '0', 'yes', 'on', 'null', 'true%20', 'constructor'].map((text) => [text, 'a string']),
  ['', 'an empty string'],
  ['true&isOpen=true', 'an array'],
])('isOpen=%s is refused', async ([text, got]) => {
  const { status, body } = await api().rest.get(`/v1/flags?isOpen=${text}`)
  expect([status, body]).toMatchObject([400, { message: `isOpen: expected true or false, got ${got}` }])
})

test('the link to the next page keeps a flag and a time', async () => {
  const { headers } = await api().rest.get('/v1/pages?isOpen=false&since=2026-11-20T08:30:00.000Z')
  expect(headers.link).toBe('</v1/pages?isOpen=false&since=2026-11-20T08%3A30%3A00.000Z&cursor=7>; rel="next"')
  expect((await api().rest.get('/v1/pages?isOpen=false&since=2026-11-20T08%3A30%3A00.000Z&cursor=7')).status).toBe(200)
})

test('integers and times of a body are read also where they may be null, in lists and in objects', async () => {
  const whole = '{"one":1,"list":[2,9223372036854775807],"item":{"id":3,"at":"2026-11-20T08:30:00.000Z"}}'
  expect(await api().rest.post('/v1/flags', whole)).toMatchObject({
    body: { seen: 'bigint 1,[bigint 2;bigint 9223372036854775807],[bigint 3;Date 2026-11-20T08:30:00.000Z]' },
  })
  expect(await api().rest.post('/v1/flags', '{"one":null,"list":[]}')).toMatchObject({ body: { seen: 'null,[]' } })
  const { body } = await api().rest.post('/v1/flags', '{"one":"1","list":7,"item":[]}')
  expect(body).toMatchObject({ status: 400, message: expect.stringMatching(/^one: .*; list: .*; item: /) })
})

test.for<[what: string, schema: z.ZodType, type: string]>([
  ['a list', z.array(z.string()), 'array'],
  ['an object', z.object({}), 'object'],
  ['a number with a fraction', z.number(), 'number'],
])('%s as a parameter stops the start, because no text could be valid', ([, schema, type]) => {
  const query = get('/queries')
    .input(z.object({ tags: schema }))
    .output(Seen)
    .query(describeInput)
  const message = `The parameter tags of query cannot be served as REST, because its type is ${type}. Use POST, which has a body.`
  expect(() => operationsOf(router({ query })).map(inputReader)).toThrow(message)
})

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof Date) return `Date ${value.toISOString()}`
  return typeof value === 'object' ? `[${Object.values(value).map(nameOf).join(';')}]` : `${typeof value} ${value}`
}
