import type { TRPCBuiltRouter, TRPCMutationProcedure, TRPCQueryProcedure } from '@trpc/server'
import { expect, test } from 'vitest'
import { parseTexts } from '../../service/reader/fields.ts'
import { service } from '../../test/notes/service.ts'

import { commandOf, restRequestOf } from '../requests/curl.ts'
import { offersOf } from '../resource/list/other-filters.tsx'
import { loadPart, meaningsOf, pageCalls } from '../resource/search.ts'
import { identityOf, isSame, resourceOf, type Values } from '../resource.ts'
import { setProduct } from '../service.ts'
import { notes } from './notes/resources.ts'

type Toy = {
  id: bigint
  name: string
  price: bigint
  size: 'small' | 'large'
  note?: string
}
type NewToy = Omit<Toy, 'id' | 'size'> & { size?: Toy['size'] }

/** A router of such items. */
type RouterOf<Stored, New> = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: object; transformer: true },
  {
    toys: {
      list: TRPCQueryProcedure<{
        input: { cursor?: bigint; limit: number; size?: Toy['size'] }
        output: Stored[]
        meta: object
      }>
      get: TRPCQueryProcedure<{ input: { toyId: bigint }; output: Stored; meta: object }>
      create: TRPCMutationProcedure<{ input: New; output: Stored; meta: object }>
    }
  }
>

const names = { one: 'toy', idName: 'toyId', title: 'name' } as const
const id = { label: 'Id', kind: 'id', presence: 'generated' } as const
const text = { kind: 'text', maxLength: 20 } as const
const name = { ...text, label: 'Name', presence: 'required', samples: ['Ball', 'Bone'] } as const
const price = { label: 'Price', kind: 'integer', presence: 'required', samples: [5n, 7n] } as const
const size = {
  label: 'Size',
  kind: 'choice',
  presence: 'optional',
  choices: { small: 'Small', large: 'Large' },
  samples: ['small', 'large'],
} as const
const note = { ...text, label: 'Note', presence: 'optional', samples: ['Red', 'Blue'] } as const

const toys = resourceOf<RouterOf<Toy, NewToy>, 'toys'>('toys', { ...names, fields: { id, name, price, size, note } })

test('a definition of a resource that differs from the types of the API does not compile', () => {
  const of = resourceOf<RouterOf<Toy, NewToy>, 'toys'>
  // @ts-expect-error: a field is missing.
  of('toys', { ...names, fields: { id, name, price, size } })
  // @ts-expect-error: the API does not have this field.
  of('toys', { ...names, fields: { id, name, price, size, note, color: note } })
  // @ts-expect-error: the API has another type.
  of('toys', { ...names, fields: { id, name, price: note, size, note } })
  // @ts-expect-error: the API requires a value.
  of('toys', { ...names, fields: { id, name, price: { ...price, presence: 'optional' }, size, note } })
  // @ts-expect-error: the API does not require a value.
  of('toys', { ...names, fields: { id, name, price, size, note: { ...note, presence: 'required' } } })
  // @ts-expect-error: the API accepts another value.
  of('toys', { ...names, fields: { id, name, price, size: { ...size, choices: { small: 'Small' } }, note } })
  const weight = { label: 'Weight', kind: 'integer', presence: 'generated' } as const
  resourceOf<RouterOf<Toy & { weight: number }, NewToy>, 'toys'>('toys', {
    ...names,
    // @ts-expect-error: the console has no kind of field for a number.
    fields: { id, name, price, size, note, weight },
  })
  // @ts-expect-error: the API has no search.
  of('toys', { ...names, fields: { id, name: { ...name, isSearched: true }, price, size, note } })
  const state = { ...size, label: 'State', isFilter: true } as const
  resourceOf<RouterOf<Toy & { state: Toy['size'] }, NewToy & { state?: Toy['size'] }>, 'toys'>('toys', {
    ...names,
    // @ts-expect-error: the list of the API has no such parameter.
    fields: { id, name, price, size, note, state },
  })
  // @ts-expect-error: the URL of the list has another parameter of this name.
  of('toys', { ...names, fields: { id, name, price, size: { ...size, isFilter: true }, note } })
  // @ts-expect-error: a label is missing.
  of('toys', { ...names, fields: { id, name: { ...name, label: undefined }, price, size, note } })
  expect(toys.entered.map(({ label }) => label)).toEqual(['Name', 'Price', 'Size', 'Note'])
})

test('an optional field without an entry is absent, and changes no idempotency key', () => {
  const entries = { name: ' Ball ', price: ' 05 ', size: '', note: '' }
  const toy = parseTexts(toys.fields, entries)
  expect(toy).toStrictEqual({ name: ' Ball ', price: 5n })
  expect(identityOf(toys, toy)).toEqual([' Ball ', '5'])
  expect(identityOf(toys, parseTexts(toys.fields, { ...entries, note: ' ' }))).toEqual([' Ball ', '5', undefined, ' '])
  expect(parseTexts(toys.fields, { price: 'seven' })).toStrictEqual({ name: '', price: 'seven' })
})

test('equal items of two resources have different identities, from which idempotency keys are made', () => {
  const item = { name: 'Ball', price: 5n }
  expect(identityOf({ ...toys, page: 'toys' }, item)).not.toEqual(identityOf(toys, item))
  expect(identityOf({ ...toys, page: 'toys' }, item)).not.toEqual(identityOf({ ...toys, page: 'balls' }, item))
})

test('a request follows from the method and the path of its procedure', () => {
  const procedures = {
    'toys.get': { type: 'query', method: 'GET', path: '/shop/{shopId}/all-toys/{toyId}' },
    'toys.update': { type: 'mutation', method: 'PATCH', path: '/all-toys/{toyId}' },
    'toys.remove': { type: 'mutation', method: 'DELETE', path: '/all-toys/{toyId}' },
    'toys.wash': { type: 'mutation' },
  } as const
  setProduct(service.product)
  const call = (procedure: string, input: object, idempotencyKey?: string) => ({ procedure, input, idempotencyKey })
  const command = (...args: Parameters<typeof call>) => commandOf(procedures, call(...args))
  expect(restRequestOf(procedures, call('toys.get', { toyId: 7n, shopId: 'a/b', at: new Date(0) }))).toEqual({
    method: 'GET',
    path: '/v1/shop/a%2Fb/all-toys/7?at=1970-01-01T00%3A00%3A00.000Z',
    headers: [],
  })
  expect(restRequestOf(procedures, call('toys.update', { toyId: 7n, price: 2n ** 62n }, 'k'))).toEqual({
    method: 'PATCH',
    path: '/v1/all-toys/7',
    headers: ['Content-Type: application/json', 'Idempotency-Key: k'],
    body: '{"price":4611686018427387904}',
  })
  expect(command('toys.remove', { toyId: 7n }, 'k')).toMatch(/^curl --request DELETE '.+\/v1\/all-toys\/7' \\\n/)
  expect(command('toys.wash', { toyId: 7n })).toBe('await client.toys.wash.mutate({ toyId: 7n })')
  const expected = { price: 7n, lent: new Date(0), tags: ['a', null] }
  const washed = command('toys.wash', { toyId: 7n, expected })
  expect(new Function('client', `return ${washed.slice('await client.toys.wash.mutate('.length, -1)}`)()).toEqual({
    toyId: 7n,
    expected,
  })
  expect(restRequestOf(procedures, call('books.get', {}))).toBeUndefined()
})

test('equal times are the same value, and so are an empty one and none', () => {
  expect(isSame(new Date(5), new Date(5))).toBe(true)
  expect(isSame(new Date(5), new Date(6))).toBe(false)
  expect(isSame(undefined, null)).toBe(true)
  expect(isSame(7n, 8n)).toBe(false)
})

test('a text that is searched for is an id, an integer and a part of a text', () => {
  for (const [text, meanings] of [
    ['7', [{ id: 7n }, { body: '7' }, { priority: 7n }]],
    [' 007 ', [{ id: 7n }, { body: ' 007 ' }, { priority: 7n }]],
    ['-7', [{ body: '-7' }, { priority: -7n }]],
    ['#7', [{ id: 7n }, { body: '#7' }]],
    ['#7, 8;9 7', [{ id: 7n }, { id: 8n }, { id: 9n }, { body: '#7, 8;9 7' }]],
    ['7 Ann', [{ body: '7 Ann' }]],
    // Larger than an integer of 64 bits.
    ['9223372036854775808', [{ body: '9223372036854775808' }]],
    [' An', [{ body: ' An' }]],
    [' ', []],
    ['a\nb', []],
    ['\ud800', []],
    ['\u{1f408}'.repeat(255), [{ body: '\u{1f408}'.repeat(255) }]],
    ['\u{1f408}'.repeat(256), []],
  ] as const) {
    expect(meaningsOf(notes, text)).toEqual(meanings)
  }
  expect(meaningsOf(toys, '7')).toEqual([{ id: 7n }])
  expect(meaningsOf(toys, 'Ball')).toEqual([])
})

test('a filter by an integer is a search, and words of a search name filters', () => {
  const calls = (filter: Values, search?: string) => pageCalls(notes, { filter, search, cursor: 0n }, 20)
  const page = { limit: 20, order: 'oldest' }
  expect(calls({ state: 'done' })).toEqual([{ operation: 'list', input: { state: 'done', limit: 20 } }])
  expect(calls({ priority: 7n })).toEqual([{ operation: 'search', input: { ...page, priority: 7n } }])
  // The digits do not replace the filter.
  expect(calls({ priority: 7n }, '8').map(({ input }) => input)).toEqual([
    { ...page, priority: 7n, id: 8n },
    { ...page, priority: 7n, body: '8' },
  ])
  for (const [text, offers] of [
    ['done', [[{ state: 'done' }, undefined]]],
    [' big  DONE tea', [[{ state: 'done' }, 'big tea']]],
    ['priority -7', [[{ priority: -7n }, undefined]]],
    [
      'done priority 7',
      [
        [{ priority: 7n }, 'done'],
        [{ state: 'done' }, 'priority 7'],
      ],
    ],
    ['prioritys 7', [[{ priority: 7n }, 'prioritys']]],
    ['tea 7', [[{ priority: 7n }, 'tea']]],
    ['7', []],
    ['priority', []],
    ['7 priority', []],
    ['priority 9223372036854775808', []],
    ['undone', []],
    ['', []],
  ] as const) {
    expect([text, offersOf(notes, text).map(({ filter, rest }) => [filter, rest])]).toEqual([text, offers])
  }
  expect(offersOf(toys, 'price 7 small')).toEqual([])
})

test('what several calls find is joined as far as all of them have looked', async () => {
  const signal = new AbortController().signal
  const item = (id: bigint) => ({ id, body: 'Ann 7', priority: 7n, state: 'done' })
  const searched: Values[] = []
  const procedures = {
    list: { query: async () => [] },
    search: {
      async query(input: Values) {
        searched.push(input)
        if (input.id !== undefined) return { items: [item(7n)], searched: 1 }
        if (input.body !== undefined) return { items: [item(90n), item(80n)], searched: 15, next: 80n }
        return { items: [item(90n), item(85n), item(70n), item(7n)], searched: 100, next: 1n }
      },
    },
  }
  const load = (cursor: bigint) =>
    loadPart(notes, procedures, { filter: { state: 'done' }, search: '7', order: 'newest', cursor }, 2, {
      signal,
    })
  const first = await load(0n)
  expect(first).toEqual({ items: [7n, 90n, 85n, 80n].map(item), searched: 15, next: 80n })
  expect(searched).toHaveLength(3)
  // The note with the id is not found again.
  expect(await load(80n)).toMatchObject({ items: [{ id: 90n }, { id: 85n }, { id: 80n }] })
  expect(searched.slice(3)).toEqual([
    { state: 'done', cursor: 80n, limit: 2, order: 'newest', body: '7' },
    { state: 'done', cursor: 80n, limit: 2, order: 'newest', priority: 7n },
  ])
})
