import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxRows, readTable } from '../../../engine/console/bulk/read-table.ts'
import { checkItem, correct, isValid } from '../../../engine/console/bulk/table.ts'
import { fileOf } from '../../../engine/console/bulk/write-file.ts'
import { issueTexts } from '../../../engine/console/issues.ts'
import { issuesOf } from '../../../engine/service/api/validation.ts'
import { csvLine } from '../../../engine/service/reader/fields.ts'
import { textsOfAllCharacters } from '../../../engine/test/support/all-characters.ts'
import { anyText } from '../../../engine/test/support/any-text.ts'
import { NewPet } from '../../../server/pets/pets.ts'
import { petResource } from '../../../web/pets/pet.ts'
import { checkText, exportText, importText, openTestStore } from '../../support/petstore.ts'

describe('a row is valid if and only if the service accepts its pet', () => {
  const names = [
    'Rex',
    '',
    ' ',
    ' Rex ',
    '\u00a0',
    '\u200b',
    'a\nb',
    'a\u0085b',
    '\ud800',
    '🐕'.repeat(255),
    'x'.repeat(256),
  ]
  const others = [undefined, null, 7, 1.5, Number.NaN, true, {}, [], 'sold', 'Sold', '7', 7n, -(2n ** 63n), 2n ** 63n]

  test.for([...names, ...others].map((value) => [value]))('%o as each value', ([value]) => {
    expectSame({ name: value, categoryId: 7n, status: 'sold' })
    expectSame({ name: 'Rex', categoryId: value, status: undefined })
    expectSame({ name: 'Rex', categoryId: 7n, status: value })
  })

  test('each character in a name', () => {
    for (const name of textsOfAllCharacters()) expectSame({ name, categoryId: 7n, status: 'sold' })
  })

  test('random values', () => {
    const values = fc.record({
      name: fc.oneof(anyText({ maxLength: 300 }), fc.string({ unit: 'grapheme', size: '+1' })),
      categoryId: fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }),
      status: fc.constantFrom('available', 'pending', 'sold', 'lost', undefined),
    })
    fc.assert(fc.property(values, expectSame), { numRuns: 2_000 })
  })
})

function expectSame(values: Parameters<typeof checkItem>[1]): void {
  const { data, error } = NewPet.safeParse(values)
  const checked = checkItem(petResource, values)
  expect('item' in checked ? checked.item : undefined, JSON.stringify(String(values.name))).toEqual(data)
  if (!error || 'item' in checked) return
  // Both describe the same rule. Of an integer that JSON has rounded, the service knows only that it is not one.
  const described = Object.values(issueTexts(petResource, issuesOf(error)) ?? {}).join(' ')
  const normalize = (text: string) =>
    text
      .replace(/ is too large to be read exactly.*?CSV\./, ' is not an integer.')
      .replace('name is missing', 'name needs 1 to 255 characters')
  expect(normalize(checked.problem)).toBe(normalize(described))
}

test.for([
  ['comma', true, 'name,categoryId,status\nRex,7,sold'],
  ['comma', true, '\ufeffStatus, CategoryID ,id,name\r\nsold,7,1,Rex\r\n'],
  ['comma', false, 'Rex,7,sold'],
  ['comma', false, '\n\n"Rex", 7 ,sold \n,,\n'],
  ['semicolon', true, 'name;categoryId;status\rRex;7;sold'],
  ['semicolon', false, 'Rex;7;sold'],
  ['tab', true, 'categoryId\tname\tstatus\n7\tRex\tsold'],
  ['tab', false, 'Rex\t7\tsold'],
  ['json', false, '[{"id":1,"name":"Rex","categoryId":7,"status":"sold"}]'],
  ['json', false, ' {\n "name": "Rex", "categoryId": 7e0, "status": "sold" }'],
  ['ndjson', false, '{"name":"Rex","categoryId":7.0,"status":"sold"}\n\n{"name":""}'],
] as const)('%s is detected, and a header row: %o', ([format, hasHeader, text]) => {
  const table = readTable(petResource, text)
  expect(table).toMatchObject({ format, hasHeader })
  expect(petsOf(text)[0]).toEqual({ name: 'Rex', categoryId: 7n, status: 'sold' })
})

test('the delimiter is the one that makes the most pets, whatever a name contains', () => {
  expect(petsOf('"Rex; the dog",7\nTom;Jerry,8')).toMatchObject([{ name: 'Rex; the dog' }, { name: 'Tom;Jerry' }])
  expect(petsOf('Rex, the dog;7\nTom, Jerry, Spike;8')).toMatchObject([
    { name: 'Rex, the dog' },
    { name: 'Tom, Jerry, Spike' },
  ])
  expect(readTable(petResource, 'Rex\nTom')?.format).toBe('comma')
  expect(petsOf('[Rex],7\n{,8')).toMatchObject([{ name: '[Rex]' }, { name: '{' }])
})

test('a name is kept exactly, with quotes, delimiters, leading spaces and other scripts', () => {
  const names = ['"', 'a "quoted" name', ',', ';', '\t', ' Rex ', 'ركس', '🐕‍🦺', '=1+1', "'"]
  const csv = `name,categoryId\n${names.map((name) => `"${name.replaceAll('"', '""')}",7\n`).join('')}`
  const expected = names.map((name) => (name === '\t' ? undefined : name))
  expect(readTable(petResource, csv)?.rows.map((row) => (isValid(row) ? row.item.name : undefined))).toEqual(expected)
  const json = JSON.stringify(names.map((name) => ({ name, categoryId: 7 })))
  expect(readTable(petResource, json)?.rows.map((row) => (isValid(row) ? row.item.name : undefined))).toEqual(expected)
})

test.for([
  ['Rex,7\n"Rex\nthe dog",7\nTom,8', 2, 'The name has a line break, a tab or another control character.'],
  ['Rex,7\n\nRex,seven\nTom,8', 3, 'The category is not an integer.'],
  ['Rex,7\nRex, \nTom,8', 2, 'The category is missing.'],
  ['Rex,7\nRex,9223372036854775808\nTom,8', 2, 'The category does not fit into 64 bits.'],
  ['Rex,7\nRex,7,sold,1\nTom,8', 2, '3 values are expected, not 4. Too many: 1.'],
  ['Rex,7\nRex\nTom,8', 2, '3 values are expected, not 1.'],
  ['name,categoryId\nRex,7\nRex,7,sold\nTom,8', 3, '2 values are expected, not 3. Too many: sold.'],
  [
    'Rex,7\n,x,lost\nTom,8',
    2,
    'The name is missing. The category is not an integer. The status is not one of available, pending, sold.',
  ],
  ['{"name":"Rex","categoryId":7}\n{"name"}\n{"name":"Tom","categoryId":8}', 2, 'This is not a JSON object.'],
  ['[{"name":"Rex","categoryId":7},[],{"name":"Tom","categoryId":8}]', 2, 'This is not a JSON object.'],
  [
    '[{"name":"Rex","categoryId":7},{"name":"Rex","categoryId":"7"},{"name":"Tom","categoryId":8}]',
    2,
    'The category is not an integer.',
  ],
  [
    '[{"name":"Rex","categoryId":7},{"name":"Rex","categoryId":7,"__proto__":{}},{"name":"Tom","categoryId":8}]',
    2,
    'Unknown fields: __proto__.',
  ],
  [
    '[{"name":"Rex","categoryId":7},{"name":"Rex","categoryId":1e300},{"name":"Tom","categoryId":8}]',
    2,
    'The category does not fit into 64 bits.',
  ],
] as const)('only the row with a problem is refused: %j', ([text, number, problem]) => {
  const rows = readTable(petResource, text)?.rows ?? []
  const invalid = rows.flatMap((row) => (isValid(row) ? [] : [[row.number, row.problem]]))
  expect(invalid).toEqual([[number, problem]])
  expect(petsOf(text).map(({ name }) => name)).toEqual(['Rex', 'Tom'])
})

test.for([
  ['name,,kind,\nRex,7,x,', 'Unknown: 2, kind, 4. Missing: categoryId.'],
  ['name,kind\nRex,7', 'Unknown: kind. Missing: categoryId.'],
  ['name,Category,categoryId\nRex,7,7', 'Repeated: categoryId.'],
  ['name,name,categoryId\nRex,Rex,7', 'Repeated: name.'],
  ['id\n7', 'Missing: name, categoryId.'],
  ['Rex,7\n"Rex"x,7\nTom,8', 'The quotes do not match from line 2 on.'],
  ['Rex,7\nTom,8\n"Rex,7', 'The quotes do not match from line 3 on.'],
  ['[{"name":"Rex"', 'The text is not valid JSON: '],
  ['[{name: "Rex"}]', 'The text is not valid JSON: '],
  ['Rex\ud800,7', 'The text is not UTF-8 text.'],
] as const)('the whole text is refused: %j', ([text, problem]) => {
  const table = readTable(petResource, text)
  expect(table?.rows).toEqual([])
  expect(table?.problem).toContain(problem)
})

test.for([
  ['with a header row', 'NAME,Category,Status\nRex,7,Available\nTom,8, SOLD '],
  ['without a header row', 'Rex,7,Available\nTom,8,Sold'],
] as const)('columns and choices may have the names that the console shows, %s', ([, text]) => {
  const rows = readTable(petResource, text)?.rows ?? []
  expect(rows.map((row) => isValid(row) && row.item)).toEqual([
    { name: 'Rex', categoryId: 7n, status: 'available' },
    { name: 'Tom', categoryId: 8n, status: 'sold' },
  ])
})

test('a column that is no field is reported and not used', () => {
  const table = readTable(petResource, 'notes,name,,categoryId,\n"nice, old",Rex,,7,\n,,,8,')
  expect(table).toMatchObject({ unused: ['notes', '3', '5'] })
  expect(table).not.toHaveProperty('problem')
  expect(table?.rows).toMatchObject([
    { item: { name: 'Rex', categoryId: 7n, status: 'available' }, cells: ['nice, old', 'Rex', '', '7', ''] },
    { number: 3, invalid: ['name'] },
  ])
})

test('a text without content is no table', () => {
  for (const text of ['', ' \n\t', '\ufeff']) expect(readTable(petResource, text)).toBeUndefined()
  expect(readTable(petResource, '[]')).toEqual({
    format: 'json',
    hasHeader: false,
    columns: expect.any(Array),
    unused: [],
    rows: [],
  })
})

test('every digit of a category is kept', () => {
  for (const digits of ['9007199254740993', '9223372036854775807', '-9223372036854775808', '007', '-0']) {
    const expected = [{ name: 'Rex', categoryId: BigInt(digits), status: 'available' }]
    expect(petsOf(`Rex,${digits}`)).toEqual(expected)
    if (digits !== '007') expect(petsOf(`[{"name":"Rex","categoryId":${digits}}]`)).toEqual(expected)
  }
})

test('at most 10,000 rows are accepted', () => {
  expect(readTable(petResource, 'Rex,7\n'.repeat(maxRows))?.rows).toHaveLength(maxRows)
  const table = readTable(petResource, 'Rex,7\n'.repeat(maxRows + 1))
  expect(table?.rows).toEqual([])
  expect(table?.problem).toBe('10,001 rows are too many. Add at most 10,000 at a time.')
})

test.for([
  ['Rex,seven,sold', 'categoryId', ' 7 ', 'Rex, 7 ,sold', { name: 'Rex', categoryId: 7n, status: 'sold' }],
  ['name\tcategoryId\nRex\t', 'categoryId', '7', 'Rex,7', { name: 'Rex', categoryId: 7n, status: 'available' }],
  ['Rex,7\nRex', 'categoryId', '7', 'Rex,7,', { name: 'Rex', categoryId: 7n, status: 'available' }],
  ['[{"name":7,"categoryId":7}]', 'name', '7', '7,7,', { name: '7', categoryId: 7n, status: 'available' }],
  // The other values stay what they are: a number is no name, and a rounded integer is no category.
  ['[{"name":7,"categoryId":"x"}]', 'categoryId', '7', '7,7,', 'The name is not text.'],
  ['[{"name":{},"categoryId":1e300}]', 'name', 'Rex', 'Rex,10000000000000000000,', 'The category does not fit'],
  ['Rex,7\nRex,seven,sold,1', 'categoryId', 'eight', 'Rex,eight,sold', 'The category is not an integer.'],
  ['{"name":"Rex","categoryId":7}\n[', 'name', 'Rex', 'Rex,,', 'The category is missing.'],
] as const)('a corrected row is checked again: %j', ([text, name, changed, cells, expected]) => {
  const table = readTable(petResource, text)
  const row = table?.rows.at(-1)
  if (!table || !row) throw new Error('The text has no row.')
  const corrected = correct(petResource, table, row, name, changed)
  expect(corrected.cells.join()).toBe(cells)
  if (typeof expected !== 'string') expect(corrected).toMatchObject({ number: row.number, item: expected })
  else expect(isValid(corrected) || corrected.problem).toContain(expected)
})

test('a row with a field that no column shows cannot be corrected in the table', () => {
  const [row] = readTable(petResource, '[{"name":"Rex","categoryId":"x","color":"red"}]')?.rows ?? []
  expect(row && (isValid(row) || row.problem)).toBe('Unknown fields: color.')
  expect(row?.values).toBeUndefined()
})

test.for([
  'name,categoryId,status\r\nRex,7,\r\n\r\n ,7,sold\r\nRex,7\r\nRex,,sold\r\n"a ""b""",+7,sold\r\n"a, b",-7,sold',
  'status,id,categoryId,name\n,77,9223372036854775807,"a\nb"\nsold,,9223372036854775808,Rex\nlost,1,1,Rex\n,,0,Tom',
  'Name;Category;Status\nRex;7;Sold\nTom;7.0;\nZoe;9.00E+15;',
  'name\tcategoryId\na "b"\t 7 \n"c, d"\t8',
  'Rex,7\nTom;Jerry,8,Pending\nZoe,8,sold,1',
  '{"name":"Rex","categoryId":1}\n\n{"name":"Rex","categoryId":1.5}\r\n{"name":"Rex","categoryId":5.0}\n[1]\n{}\n{"name":"Rex"',
  '[{"name":"Rex","categoryId":9007199254740993},{"name":"Rex","categoryId":"7"},{"name":"Rex","categoryId":7,"x":1},7]',
  '{\n"name": "Rex",\n"categoryId": 7\n}',
])('petstore pets import reads the same pets: %j', async (text) => {
  const { found } = await checkText(text)
  expect(petsOf(text)).toEqual(found)
  expect(found).not.toEqual([])
})

test.for(['name,kind\nRex,7', 'name,categoryId\nok,1\nx"y,2', '[{name: "Rex"}]'])(
  'petstore pets import refuses the same text with the same sentence: %j',
  async (text) => {
    await expect(checkText(text)).rejects.toThrow(readTable(petResource, text)?.problem)
  },
)

test('an export is read back as the same pets', async () => {
  const store = await openTestStore()
  const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', "'=1", "''@", "'Rex'", "'"]
  const pets = [' Rex ', '"', 'a,b', 'ركس', '🐕‍🦺', '[', '{}', ...formulas].map((name, index) => ({
    name,
    categoryId: 2n ** 53n + BigInt(index) * 2n + 1n,
    status: (['available', 'pending', 'sold'] as const)[index % 3] ?? 'sold',
  }))
  for (const pet of pets) await store.pets.create(pet)
  const csv = await exportText(store, 'csv')
  expect(csv).toContain(",'=1+1,")
  expect(csv).toContain(",''=1,")
  expect(csv).not.toMatch(/(^|,)"?[=+@＝＋－＠]/m)
  expect(csv).toBe(fileOf(petResource, 'csv', await store.pets.list({ limit: 100, cursor: 0n })))
  const copy = await openTestStore()
  await importText(copy, csv, { format: 'csv' })
  expect(await copy.pets.list({ limit: 100, cursor: 0n })).toMatchObject(pets)
  expect(petsOf(csv)).toEqual(pets)
  expect(petsOf(await exportText(store, 'ndjson'))).toEqual(pets)
})

test('rows that are copied as CSV are read back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary-ascii' }), (name, other) => {
      const [row] = readTable(petResource, `name,categoryId,status\n${csvLine([name, other, 'lost'])}`)?.rows ?? []
      expect(row?.cells).toEqual([name, other, 'lost'])
    }),
  )
})

test('a text that a spreadsheet would compute has an apostrophe before it (OWASP, CSV Injection)', () => {
  for (const start of ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']) {
    const line = csvLine([`${start}1+1`])
    expect(line).toMatch(/^"?'/)
    expect(readTable(petResource, `name,categoryId\n${line.trimEnd()},7`)?.rows[0]?.cells[0]).toBe(`${start}1+1`)
  }
})

function petsOf(text: string): NewPet[] {
  // Safe: a checked pet has a status.
  return (readTable(petResource, text)?.rows ?? []).flatMap((row) => (isValid(row) ? [row.item as NewPet] : []))
}
