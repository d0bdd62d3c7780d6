import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testDatabase } from '../../../test/notes/database.ts'
import { addingRow, shareTestApi, startTestApi } from '../../../test/notes/fixtures.ts'
import { isOnPostgres } from '../../../test/support/database.ts'
import { cpuTimesOf } from '../../../test/support/fastest.ts'
import { maxInt64, minInt64 } from '../../api/int64.ts'
import { parseJson } from '../../api/literals.ts'

const int64 = fc.oneof(
  fc.bigInt({ min: minInt64, max: maxInt64 }),
  fc.constantFrom(minInt64, maxInt64, 0n, -1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 9007199254740993n),
)

test('a note may have the greatest 64-bit id, and a greater id is 404', async () => {
  const database = await testDatabase()
  const { rest, rpc } = await startTestApi({ store: await database.open() })
  await database.execute(addingRow(maxInt64))
  expect((await rest.get(`/v1/notes/${maxInt64}`)).text).toContain(`{"id":${maxInt64},`)
  expect(await rpc.notes.get.query({ noteId: maxInt64 })).toMatchObject({ id: maxInt64 })
  for (const noteId of [maxInt64 + 1n, minInt64 - 1n, 10n ** 30n]) {
    expect((await rest.get(`/v1/notes/${noteId}`)).status).toBe(404)
    await expect(rpc.notes.get.query({ noteId })).rejects.toMatchObject({ data: { status: 404 } })
  }
})

describe('when every id is used', () => {
  async function startWithIdsLeft(count: bigint) {
    const database = await testDatabase()
    const store = await database.open()
    const next = maxInt64 - count + 1n
    if (isOnPostgres) await database.execute(`SELECT setval('notes_id_seq', ${next - 1n})`)
    else await database.execute(addingRow(next - 1n))
    return startTestApi({ store })
  }
  const newNote = { body: 'Ann', priority: 7 }
  const noIdLeft = { code: 'internal_error', message: expect.stringMatching(/no ids left/), status: 500 }

  test('a create fails alone with 500 and without Retry-After, and a replay in the same transaction succeeds', async () => {
    const { rest, log } = await startWithIdsLeft(1n)
    const keyed = () => rest.post('/v1/notes', newNote, { 'idempotency-key': 'last' })
    expect((await keyed()).text).toContain(`{"id":${maxInt64},`)
    const create = () => rest.post('/v1/notes', newNote)
    const [first, second, replay, third] = await Promise.all([create(), create(), keyed(), create()])
    expect(replay).toMatchObject({ status: 201, headers: { 'idempotency-replayed': 'true' } })
    for (const response of [first, second, third]) {
      expect(response).toMatchObject({ status: 500, body: noIdLeft })
      expect(response?.headers).not.toHaveProperty('retry-after')
    }
    expect(log.some((line) => JSON.parse(line).err?.type === 'IdsExhausted')).toBe(true)
  })
})

describe('any 64-bit integer', () => {
  const api = shareTestApi()

  test('is the same in requests and responses of both adapters', async () => {
    const { rest, rpc } = api()
    await fc.assert(
      fc.asyncProperty(int64, async (priority) => {
        const created = await rest.post('/v1/notes', `{"body":"Ann","priority":${priority}}`)
        expect(created.text).toContain(`"priority":${priority},`)
        expect((await rest.get(String(created.headers.location))).text).toBe(created.text)
        const { id } = await rpc.notes.create.mutate({ body: 'Ann', priority })
        expect((await rpc.notes.get.query({ noteId: id })).priority).toBe(priority)
        expect((await rest.get(`/v1/notes?limit=1&cursor=${id - 1n}`)).text).toContain(`"priority":${priority},`)
      }),
    )
  })
})

/** These tests share a service, because each reads only the note that it created. */
describe('a number in a body', () => {
  const api = shareTestApi()

  test.for([
    ...['5.0', '50e-1', '0.5e1', '500E-2', '5e0', '5e+0', '5.000000000000000000000'].map((number) => [number, '5']),
    ['1e2', '100'],
    ['-0', '0'],
    ['-0.0e5', '0'],
    ['-0.00000000000000000000', '0'],
    [`0.${'0'.repeat(500)}5e501`, '5'],
    ['9.223372036854775807e18', '9223372036854775807'],
    ['92233720368547758070e-1', '9223372036854775807'],
    ['9007199254740993.0', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
  ])('priority %s is the integer %s', async ([number, integer]) => {
    expect((await api().rest.post('/v1/notes', `{"body":"Ann","priority":${number}}`)).text).toContain(
      `"priority":${integer},`,
    )
  })

  test.for([
    ...['9223372036854775808', '-9223372036854775809', '1e19', '1e400', '1e999999999', `1${'0'.repeat(10_000)}`, '5.5'],
    ...['1e-1', '0.99999999999999999999', '9007199254740993.5', '1e-400', '1e-999999999'],
  ])('priority %s is not a 64-bit integer: 400', async (number) => {
    expect(await api().rest.post('/v1/notes', `{"body":"Ann","priority":${number}}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', message: expect.stringMatching(/^priority: expected an? .*integer, got /) },
    })
  })
})

describe('parseJson', () => {
  test('agrees with JSON.parse where a double is exact', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        const inexact = (_key: string, each: unknown) =>
          typeof each === 'number' && Math.abs(each) > 2 ** 53 ? null : each
        expect(JSON.parse(JSON.stringify(parseJson(text), replaceBigInt), inexact)).toEqual(JSON.parse(text, inexact))
      }),
    )
  })

  test('keeps every digit of a 64-bit integer, wherever it stands', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: minInt64, max: maxInt64 }), (integer) => {
        const parsed = parseJson(`{"a":[${integer},"1e5"]}`)
        expect(parsed).toEqual({ a: [Number.isSafeInteger(Number(integer)) ? Number(integer) : integer, '1e5'] })
      }),
    )
  })

  test('keeps an integer that is out of range out of range, but not its digits beyond 20', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: maxInt64 + 2n, max: 10n ** 40n }), (integer) => {
        const [above, below] = parseJson(`[${integer},-${integer}]`) as bigint[]
        expect(above).toBeGreaterThan(maxInt64)
        expect(below).toBeLessThan(minInt64)
        expect(String(above).length).toBeLessThanOrEqual(20)
      }),
    )
  })

  // As many numbers of one spelling as a body may have, or one number as long as a body may be.
  test.for(
    [
      ...['1e400', '-1e400', '1e9', '1e17', '1e99999', '12e-1', '0e0', '1.5e3', '9007199254740993', '9'.repeat(400)],
      ...[`1${'0'.repeat(60_000)}1`, `1${'0'.repeat(60_000)}1e-60000`, `0.${'0'.repeat(60_000)}1`, '9'.repeat(60_000)],
      ...[`1e${'9'.repeat(60_000)}`, `1.${'0'.repeat(60_000)}`],
    ].map((number) => [number.length > 20 ? `${number.slice(0, 20)}… (${number.length})` : number, number] as const),
  )('takes little longer than a reviver that does nothing: %s', ([, number]) => {
    const numbers = Array<string>(Math.max(1, Math.floor(64_000 / (number.length + 1)))).fill(number)
    const text = `{"a":[1e1,${numbers}]}`
    const [idle, parsing] = cpuTimesOf(
      () => JSON.parse(text, (_key, value) => value),
      () => parseJson(text),
    )
    expect(parsing).toBeLessThan(idle * 12 + 1)
  })

  test('refuses what JSON.parse refuses', () => {
    expect(() => parseJson('{"a":12345678901234567890,}')).toThrow(SyntaxError)
  })
})

function replaceBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}
