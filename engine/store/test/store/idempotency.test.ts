import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { notesDatabase, shareEmptiedStore } from '../../../test/notes/database.ts'
import { anyText } from '../../../test/support/any-text.ts'
import { newCaller } from '../../../test/support/caller.ts'
import { decodeResult, encodeResult, fingerprintOf } from '../../collection/idempotency.ts'

const shared = shareEmptiedStore()

test('a key of another collection is refused, although the values are equal', async () => {
  const { store } = shared()
  const caller = { owner: 1n, key: 'b' }
  await store.notes.create({ body: 'a', priority: 1n, state: 'open' }, caller)
  const sameValues = { title: 'a', shelf: '1', author: 'open' } as Parameters<typeof store.books.create>[0]
  await expect(store.books.create(sameValues, caller)).rejects.toMatchObject({ name: 'IdempotencyKeyReused' })
})

test('a create that is repeated later gets the time of the first one, which is not a part of the payload', async () => {
  const { books } = shared().store
  const [book, idempotency] = [{ title: 'Faust', isLent: true }, newCaller('a')]
  const earliest = Date.now()
  const first = await books.create(book, idempotency)
  expect(Number(first.addedAt)).toBeGreaterThanOrEqual(earliest)
  expect(Number(first.addedAt)).toBeLessThanOrEqual(Date.now())
  while (Date.now() <= Number(first.addedAt)) await wait(1)
  expect(await books.create(book, idempotency)).toStrictEqual(first)
  expect(idempotency.isReplay).toBe(true)
  expect(await books.list({ limit: 9, addedAt: first.addedAt })).toStrictEqual([first])
})

test('a stored result holds every value as it was', () => {
  const time = fc.date({ noInvalidDate: true })
  const value = fc.oneof(fc.bigInt(), anyText(), fc.boolean(), time, fc.constant(null))
  const list = fc.array(value, { maxLength: 3 })
  const result = fc.record({ id: value, time: value, source: value, 'a"b': value, list }, { requiredKeys: [] })
  for (const generated of fc.sample(result, 50)) expect(decodeResult(encodeResult(generated))).toEqual(generated)
  // As earlier releases have stored it.
  expect(encodeResult({ id: 2n ** 62n, previousName: 'Ann', note: undefined })).toBe(
    '{"id":4611686018427387904,"previousName":"Ann"}',
  )
})

describe('a fingerprint', () => {
  const time = new Date('2026-11-20T08:30:00.000Z')

  test('of values is that of earlier releases', () => {
    const values = ['Ann', 7n, null, true, time, null]
    expect(fingerprintOf(values)).toBe('28a30d31c916c4205f82bd4f279001de15e29848b1442e6ebde79aba3851f54d')
    expect(fingerprintOf(values.slice(0, -1))).toBe(fingerprintOf(values))
  })

  test('of lists and objects is equal for equal ones, in whatever order their members are', () => {
    const [lines, again] = [
      [{ name: 'a', count: 1n, more: undefined, to: { city: 'b', at: time } }, { name: 'c' }],
      [{ to: { at: new Date(time), city: 'b' }, count: 1n, name: 'a' }, { name: 'c' }],
    ]
    expect(fingerprintOf(['Ann', lines])).toBe(fingerprintOf(['Ann', again]))
  })

  test('of each other value is another one', () => {
    const scalars = ['', 'a', 'null', '1', '[]', '{}', '["a"]', `${time.toISOString()}`, 1n, true, null, time]
    const lists = [[], [[]], [{}], ['a', 'a'], ['a,a'], ['a"', '"a'], [['a'], 'a'], [['a', 'a']], [undefined]]
    const objects = [{}, { a: 'b' }, { a: null }, { a: 'b', c: 'd' }, { a: { b: 'c' } }, { 'a:b': 'c' }, { time: 'a' }]
    const parts = [...lists, ...objects, ...scalars.flatMap((value) => [[value], { value }])]
    const inputs = [...parts, ...['', 'a', '1', '[]', '{}', '["a"]', '[["a"]]', '{"a":"b"}']]
    expect(new Set(inputs.map((value) => fingerprintOf([value]))).size).toBe(inputs.length)
  })

  test('is not that of other objects', () => {
    for (const value of [new Map(), new Set(), [new Map()], { a: /b/ }]) {
      expect(() => fingerprintOf(['a', value])).toThrow(TypeError)
    }
  })
})

test('a result that was stored before an upgrade gets the fields that came with it', async () => {
  const database = await notesDatabase()
  const { books } = await database.open()
  const [creation, change] = ['a', 'b'].map((key) => ({ owner: 1n, key }))
  const create = () => books.create({ title: 'Faust', isLent: false }, creation)
  const update = () => books.update({ id: 1n, set: { isLent: true } }, change)
  const [created, updated] = [await create(), await update()]
  await database.execute(`UPDATE idempotency_keys SET result = '{"id":1}' WHERE key = 'a'`)
  await database.execute(
    `UPDATE idempotency_keys SET result = '{"id":1,"title":"Faust","isLent":true}' WHERE key = 'b'`,
  )
  expect([await create(), await update()]).toStrictEqual([created, updated])
})
