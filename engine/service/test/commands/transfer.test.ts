import { Readable } from 'node:stream'
import { initTRPC } from '@trpc/server'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { noteTransfer } from '../../../test/notes/notes.ts'
import { appRouter } from '../../../test/notes/router.ts'
import { service } from '../../../test/notes/service.ts'
import { Int64 } from '../../api/int64.ts'
import type { Item, ItemStore } from '../../api/transfer.ts'
import { createProgram } from '../../commands/program.ts'
import { exportItems } from '../../transfer/export.ts'
import { type Format, filtersOf, transferFields } from '../../transfer/fields.ts'
import { importItems } from '../../transfer/import.ts'

const NewToy = z.object({
  label: z.string().min(1),
  isLoud: z.boolean(),
  colour: z.enum(['red', 'blue']).default('red'),
  price: Int64.optional(),
  note: z.string().optional(),
})
type NewToy = z.infer<typeof NewToy>
const Toy = z.object({ id: Int64, ...NewToy.shape, colour: z.enum(['red', 'blue']) })
const toys = { name: 'toy', plural: 'toys', item: Toy, newItem: NewToy }

test('the columns, their values and the optional fields follow from the schemas of any resource', async () => {
  const store = openToys()
  const csv = 'note,isLoud,label,colour\n,true,Ball,\nold,false,Bone,blue\n,maybe,Rope,\n,true,,\n'
  const skipped = [
    'line 4: isLoud: Invalid input: expected boolean, received string',
    'line 5: label: Too small: expected string to have >=1 characters',
  ]
  expect(await importText(store, csv, 'csv')).toEqual({ created: 2, existing: 0, skipped })
  const ndjson =
    '{"label":"Mouse","isLoud":true,"price":9223372036854775807}\n{"label":"Mouse","isLoud":true,"price":null}'
  expect(await importText(store, ndjson, 'ndjson')).toMatchObject({ created: 1, skipped: [expect.any(String)] })
  const lines = [
    '{"id":1,"label":"Ball","isLoud":true,"colour":"red"}',
    '{"id":2,"label":"Bone","isLoud":false,"colour":"blue","note":"old"}',
    '{"id":3,"label":"Mouse","isLoud":true,"colour":"red","price":9223372036854775807}',
  ]
  expect(await exportText(store, 'ndjson')).toBe(`${lines.join('\n')}\n`)
  const records = [
    'id,label,isLoud,colour,price,note',
    '1,Ball,true,red,,',
    '2,Bone,false,blue,,old',
    '3,Mouse,true,red,9223372036854775807,',
  ]
  expect(await exportText(store, 'csv')).toBe(`${records.join('\r\n')}\r\n`)
  await expect(importText(store, 'price\n', 'csv')).rejects.toThrow(
    'the file: The columns are label, isLoud, colour, price, and note. An id is ignored. Missing: label, isLoud.',
  )
})

test('an export is the same after an import into an empty store, in both formats', async () => {
  const notes = ['old', 'two\nlines', 'two\rlines', 'two\r\nlines', '"quoted"', 'a, b', ' wide ', "'=1", '=1']
  const source = openToys()
  for (let number = 0; number < 300; number++) {
    await source.create({
      label: `Toy ${number}`,
      isLoud: number % 2 === 0,
      colour: number % 3 === 0 ? 'blue' : 'red',
      ...(number % 5 > 0 && { price: BigInt(number) }),
      ...(number % 7 > 0 && { note: notes[number % notes.length] ?? 'old' }),
    })
  }
  for (const format of ['csv', 'ndjson'] as const) {
    const [target, text] = [openToys(), await exportText(source, format)]
    expect(await importText(target, text, format)).toEqual({ created: 300, existing: 0, skipped: [] })
    expect(await exportText(target, format)).toBe(text)
  }
})

test('a kind of field that no file can hold is refused', () => {
  const Weighed = z.object({ id: Int64, weight: z.number() })
  expect(() => transferFields({ item: Weighed, newItem: Weighed.omit({ id: true }) })).toThrow(
    'The field weight cannot be exported, because its schema is a number.',
  )
})

test('an export has each filter of the list, with the values and the rules of the API', () => {
  const states = { name: 'state', option: '--state', values: ['open', 'waiting', 'done'] }
  expect(filtersOf(appRouter, 'notes')).toContainEqual(expect.objectContaining(states))
  const filters = Object.fromEntries(filtersOf(appRouter, 'books').map(({ option, parse }) => [option, parse]))
  expect(Object.keys(filters)).toEqual(['--shelf', '--pages', '--is-lent', '--added-at'])
  const time = '2026-11-20T08:30:00.000Z'
  expect([
    filters['--shelf']?.('North'),
    filters['--pages']?.('9007199254740993'),
    filters['--is-lent']?.('false'),
    filters['--added-at']?.(time),
  ]).toEqual(['North', 9007199254740993n, false, new Date(time)])
  expect(() => filters['--pages']?.('many')).toThrow(/^--pages: expected an integer, got a string\.$/)
  expect(() => filters['--shelf']?.('a'.repeat(301))).toThrow(/^--shelf: expected a length of at most 300/)
})

test('an export has the filters of a list without REST, too', () => {
  const { procedure, router } = initTRPC.create()
  const input = z
    .object({ cursor: z.bigint(), limit: z.int(), size: z.enum(['small', 'large']).optional() })
    .prefault({ cursor: 0n, limit: 20 })
  const toys = router({ list: procedure.input(input).query(() => []) })
  expect(filtersOf(router({ toys }), 'toys')).toMatchObject([{ option: '--size', values: ['small', 'large'] }])
})

test.for(['\r', '\r\n', '\n'])('a large file may have lines that end with %j', async (end) => {
  const lines = Array.from({ length: 8_000 }, (_, index) => `toy ${index},true${end}`)
  const text = `label,isLoud${end}${lines.join('')}`
  expect(await importText(openToys(), text, 'csv')).toEqual({ created: 8_000, existing: 0, skipped: [] })
})

test('a filter may have a name that begins with `no`', () => {
  const { procedure, router } = initTRPC.create()
  const notes = router({ list: procedure.input(z.object({ noShow: z.boolean().optional() })).query(() => []) })
  const named = (command: Command | undefined, name: string) => command?.commands.find((each) => each.name() === name)
  const program = createProgram({ ...service, router: router({ notes }), transfer: [noteTransfer] })
  const command = named(named(program, 'notes'), 'export')
  expect(command?.opts()).toEqual({})
  command?.parseOptions(['--no-show', 'true'])
  expect(command?.opts()).toEqual({ noShow: true })
})

/** The part of a store that any resource needs. */
function openToys(): ItemStore<NewToy> {
  const stored: Item[] = []
  return {
    list: async ({ limit, cursor }) => stored.filter(({ id }) => id > cursor).slice(0, limit),
    create: async (toy) => stored.push({ id: BigInt(stored.length + 1), ...toy }),
  }
}

async function exportText(store: ItemStore<NewToy>, format: Format): Promise<string> {
  const chunks: Uint8Array[] = []
  await exportItems(toys, store, async (bytes) => chunks.push(bytes), { format })
  return Buffer.concat(chunks).toString()
}

async function importText(store: ItemStore<NewToy>, text: string, format: Format) {
  const skipped: string[] = []
  const input = { name: 'the file', path: '/the/file', chunks: Readable.from([Buffer.from(text)]) }
  const onInvalid = (line: string) => void skipped.push(line)
  return { ...(await importItems(toys, store, input, { format, onInvalid })), skipped }
}
