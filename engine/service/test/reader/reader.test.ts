import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Field } from '../../reader/fields.ts'
import { itemReader, maxJson } from '../../reader/reader.ts'

const fields: Field[] = [
  { name: 'id', kind: 'id', presence: 'generated' },
  { name: 'label', kind: 'text', presence: 'required' },
  { name: 'shelfId', kind: 'integer', presence: 'required' },
  { name: 'colour', kind: 'choice', presence: 'optional', choices: { red: 'Dark red', blue: 'blue' } },
  { name: 'isLoud', kind: 'boolean', presence: 'optional' },
  { name: 'madeAt', kind: 'time', presence: 'optional' },
]
const ball = { label: 'Ball', shelfId: 7n, colour: 'red' }

test.for([
  ['comma', 'label,shelfId,colour\nBall,7,red\n'],
  ['semicolon', 'label;shelfId;colour\r\nBall;7;red\r\n'],
  ['semicolon', 'Ball;7;red'],
  ['tab', 'label\tshelfId\tcolour\rBall\t7\tred\r'],
  ['comma', ' Colour ,SHELF,Id,Label\n\nDARK RED, 7 ,1,Ball\n,,,\n'],
  ['comma', 'label,shelf_id,colour\nBall,7.0,Red'],
  ['ndjson', '\n{"label":"Ball","shelfId":7,"colour":"red"}\n'],
  ['json', '[{"label":"Ball","shelfId":7.0,"colour":"red"}]'],
  ['json', '{\n"label":"Ball","shelfId":7e0,\n"colour":"red","id":1}'],
])('reads %s: %j', ([format, text = '']) => {
  const { table, rows } = read(text)
  expect(table.format).toBe(format)
  expect(rows.map(({ values, problem }) => problem ?? values)).toEqual([ball])
})

test.for([
  ['Ball, the red;7\nBone, the old, blue;8', ['Ball, the red', 'Bone, the old, blue']],
  ['"Ball; the red",7\nBone;old,8', ['Ball; the red', 'Bone;old']],
  ['label\tshelfId\n5" nail\t7\n', ['5" nail']],
] as const)('the dialect is the one that gives the most items: %j', ([text, labels]) => {
  expect(read(text).rows.map(({ values }) => values?.label)).toEqual(labels)
})

test('a header row decides about the dialect also where each line could be the only text that an item needs', () => {
  const notes: Field[] = [
    { name: 'id', kind: 'id', presence: 'generated' },
    { name: 'body', kind: 'text', presence: 'required' },
    { name: 'shelf', kind: 'text', presence: 'optional' },
  ]
  const bodies = (text: string) => read(text, [], notes).rows.map(({ values }) => values?.body)
  for (const end of [',', ';', '\t'])
    expect(bodies(`id,body,shelf\n1,Call Ann,\n2,"a;b",N\n`.replaceAll(',', end))).toEqual(['Call Ann', 'a;b'])
  expect(() => bodies('id,shelf\n1,N\n')).toThrow('Missing: body.')
})

test('an integer may be written as in JSON, but not as a spreadsheet rounds it', () => {
  const texts = ['7.0', '70e-1', '9007199254740993', '9.00E+15', '9,0E+15', '7.5', '+7', '0x7']
  const rows = texts.map((text) => read(`label;shelfId\nBall;${text}`).rows[0]?.values?.shelfId)
  expect(rows).toEqual([7n, 7n, 9007199254740993n, ...texts.slice(3)])
})

test('a boolean and a time are read in the format of an export', () => {
  const { rows } = read('label,shelfId,isLoud,madeAt\nBall,7,TRUE,2026-11-20T08:30:00.000Z\nBone,8,yes,yesterday')
  expect(rows.map(({ values }) => [values?.isLoud, values?.madeAt])).toEqual([
    [true, new Date('2026-11-20T08:30:00Z')],
    ['yes', 'yesterday'],
  ])
})

test('a row has the line on which it begins, whatever the line breaks before it', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const { rows } = read(['label,shelfId', '"Ball', 'the red",7', '', 'Bone,8', '"A', 'B', 'C",1', 'Rope,9'].join(end))
    expect(rows.map(({ line, number }) => [line, number])).toEqual([
      [2, 2],
      [5, 4],
      [6, 5],
      [9, 6],
    ])
  }
})

test.for([
  ['label,shelfId\nBall,7\nx"y,2', 'The quotes do not match from line 3 on.'],
  ['label,shelfId\r\n"A\r\nB",7\r\nx"y,2', 'The quotes do not match from line 4 on.'],
  ['label,shelfId\n"Ball,7', 'The quotes do not match from line 2 on.'],
  ['label,kind\nBall,7', 'Unknown: kind. Missing: shelfId.'],
  ['label,shelf,shelfId\nBall,7,7', 'Repeated: shelfId.'],
  ['[{"label":', 'The text is not valid JSON: '],
])('refuses the text %j', ([text = '', message]) => {
  expect(() => read(text)).toThrow(message)
})

test('parts of a text give the same rows as the whole', () => {
  const label = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\n', '\r\n', ' ', "'", '=') })
  fc.assert(
    fc.property(fc.array(label), fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(200)), (labels, end, cuts) => {
      const records = labels.map((each) => `"${each.replaceAll('"', '""')}",7,${end}`)
      const text = `label,shelfId,colour${end}${records.join('')}`
      expect(read(text, cuts).rows).toEqual(read(text).rows)
    }),
  )
})

test('a large file of lines of which the first is not valid is read line by line', () => {
  const line = '{"label":"Ball","shelfId":7}\n'
  const { rows } = read(`{"label":"cut off\n${line.repeat(maxJson / 20)}`, [0, 3_000_000, 4_000_000])
  expect(rows).toHaveLength(1 + maxJson / 20)
  expect(rows.map(({ problem }) => problem).filter(Boolean)).toEqual(['This is not a JSON object.'])
  expect(rows.at(-1)).toMatchObject({ line: 1 + maxJson / 20, values: { label: 'Ball', shelfId: 7n } })
})

/** @param cuts where parts of the text end: at the end of the line */
function read(text: string, cuts: number[] = [], of = fields) {
  const ends = cuts.map((cut) => text.indexOf('\n', cut) + 1).filter((end) => end > 0)
  const places = [0, ...[...new Set(ends)].sort((a, b) => a - b), text.length]
  const parts = places.slice(1).map((end, index) => new TextEncoder().encode(text.slice(places[index], end)))
  const reader = itemReader(of, parts[0] ?? new Uint8Array())
  return { rows: parts.flatMap((part, index) => reader.read(part, index === parts.length - 1)), table: reader.table }
}
