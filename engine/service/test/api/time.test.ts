import { expect, test } from 'vitest'
import { z } from 'zod'
import { shareTestApi } from '../../../test/notes/fixtures.ts'
import { mutation, router } from '../../../test/notes/trpc.ts'
import { isTime } from '../../api/literals.ts'
import { keepsValues } from '../../api/output.ts'
import { Time } from '../../api/time.ts'

const at = new Date('2026-11-20T08:30:00.070Z')
const Event = z.object({ at: Time, until: Time.optional(), past: z.array(Time) }).meta({ id: 'Event' })
const event = { at, past: [new Date(0), new Date('9999-12-31T23:59:59.999Z')] }
const json = '{"at":"2026-11-20T08:30:00.070Z","past":["1970-01-01T00:00:00.000Z","9999-12-31T23:59:59.999Z"]}'
const seen: unknown[] = []
const routes = router({
  add: mutation({ openapi: { method: 'POST', path: '/events' }, idempotencyKey: 'ignored' })
    .input(Event)
    .output(Event)
    .mutation(({ input }) => {
      seen.push(input)
      return input
    }),
})

const api = shareTestApi({ router: routes })

test('a time is text with milliseconds in REST, and a Date for the resolver', async () => {
  expect(await api().rest.post('/v1/events', json)).toMatchObject({ status: 200, text: json })
  expect(seen.pop()).toStrictEqual(event)
})

test('a time is a Date for an RPC client, in inputs and in outputs', async () => {
  const superjson = `{"json":${json},"meta":{"values":{"at":["Date"],"past.0":["Date"],"past.1":["Date"]},"v":1}}`
  const { text } = await api().rest.post('/trpc/add', superjson)
  expect(text).toBe(`{"result":{"data":${superjson}}}`)
  expect(seen.pop()).toStrictEqual(event)
  expect(keepsValues(Event)).toBe(true)
})

test.for([
  ...['2026-11-20T08:30:00Z', '2026-11-20T08:30:00.07Z', '2026-11-20T08:30:00.0700Z', '2026-11-20T09:30:00.070+01:00'],
  ...['2026-11-20 08:30:00.070Z', '2026-11-20t08:30:00.070z', '2026-11-20', '2026-02-30T08:30:00.070Z'],
  ...['2026-11-20T24:00:00.000Z', '2026-11-20T23:59:60.000Z', '+010000-01-01T00:00:00.000Z'],
  ...['0000-12-31T23:59:59.999Z', '1763627400000', '', 'now'],
])('another spelling of a time is refused: %j', async (text) => {
  expect(isTime(text)).toBe(false)
  const body = JSON.stringify({ at: text, past: [] })
  const format = 'expected a time in UTC with milliseconds, such as 2026-11-20T08:30:00.000Z'
  const got = text === '' ? 'an empty string' : 'a string'
  expect((await api().rest.post('/v1/events', body)).body).toMatchObject({
    status: 400,
    message: `at: ${format}, got ${got}`,
  })
  const { status, text: sent } = await api().rest.post(
    '/trpc/add',
    `{"json":${body},"meta":{"values":{"at":["Date"]}}}`,
  )
  expect([status, sent]).toEqual([400, expect.stringContaining(`at: ${format}, because it is annotated as Date`)])
})

test('the document describes a time, with an example', async () => {
  const { schemas } = Object((await api().rest.get('/openapi.json')).body).components
  const time = { type: 'string', format: 'date-time', examples: ['2026-11-20T08:30:00.000Z'] }
  const { pattern } = schemas.Event.properties.at
  expect(schemas.Event).toMatchObject({ properties: { at: time, until: time, past: { items: time } } })
  expect(new RegExp(pattern).test(at.toISOString())).toBe(true)
  expect(new RegExp(pattern).test('2026-11-20T08:30:00Z')).toBe(false)
})
