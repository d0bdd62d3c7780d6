import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { issuesOf } from '../../../service/api/validation.ts'
import { csvLine } from '../../../service/reader/fields.ts'
import { openTestStore } from '../../../test/notes/database.ts'
import { checkText, exportText, importText } from '../../../test/notes/fixtures.ts'
import { NewNote } from '../../../test/notes/notes.ts'
import { textsOfAllCharacters } from '../../../test/support/all-characters.ts'
import { anyText } from '../../../test/support/any-text.ts'
import { fileOf } from '../../bulk/export-items.ts'
import { issueTexts } from '../../issues.ts'
import { maxRows, readTable } from '../../rows/read-table.ts'
import { checkItem, correct, isValid } from '../../rows/table.ts'
import { notes } from '../notes/resources.ts'

describe('a row is valid if and only if the service accepts its note', () => {
  const bodies = [
    'Ann',
    '',
    ' ',
    ' Ann ',
    '\u00a0',
    '\u200b',
    'a\nb',
    'a\u0085b',
    '\ud800',
    '🐕'.repeat(255),
    'x'.repeat(256),
  ]
  const others = [
    new Date(0),
    undefined,
    null,
    7,
    1.5,
    Number.NaN,
    true,
    {},
    [],
    'done',
    'Done',
    '7',
    7n,
    -(2n ** 63n),
    2n ** 63n,
  ]

  test.for([...bodies, ...others].map((value) => [value]))('%o as each value', ([value]) => {
    expectSame({ body: value, priority: 7n, state: 'done' })
    expectSame({ body: 'Ann', priority: value, state: undefined })
    expectSame({ body: 'Ann', priority: 7n, state: value })
    // A row has no value in place of null.
    expectSame({ body: 'Ann', priority: 7n, dueAt: value ?? undefined, bookId: value ?? undefined })
  })

  test('each character in a body', () => {
    for (const body of textsOfAllCharacters()) expectSame({ body, priority: 7n, state: 'done' })
  })

  test('random values', () => {
    const values = fc.record({
      body: fc.oneof(anyText({ maxLength: 300 }), fc.string({ unit: 'grapheme', size: '+1' })),
      priority: fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }),
      state: fc.constantFrom('open', 'waiting', 'done', 'lost', undefined),
      dueAt: fc.constantFrom(new Date(0), '1970-01-01T00:00:00.000Z', undefined),
      bookId: fc.option(fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }), { nil: undefined }),
    })
    fc.assert(fc.property(values, expectSame), { numRuns: 2_000 })
  })
})

function expectSame(values: Parameters<typeof checkItem>[1]): void {
  const { data, error } = NewNote.safeParse(values)
  const checked = checkItem(notes, values)
  expect('item' in checked ? checked.item : undefined, JSON.stringify(String(values.body))).toEqual(data)
  if (!error || 'item' in checked) return
  // Both describe the same rule. Of an integer that JSON has rounded, the service knows only that it is not one.
  const described = Object.values(issueTexts(notes, issuesOf(error)) ?? {}).join(' ')
  const normalize = (text: string) =>
    text
      .replace(/ is too large to be read exactly.*?CSV\./, ' is not a whole number.')
      .replace(/has \d+ characters\. It can have at most/, 'needs 1 to')
      .replace(/(needs 1 to 255)\.$/, '$1 characters.')
      .replace('text is missing', 'text needs 1 to 255 characters')
  expect(normalize(checked.problem)).toBe(normalize(described))
}

test.for([
  ['comma', true, 'body,priority,state\nAnn,7,done'],
  ['comma', true, '\ufeffState, PRIORITY ,id,body\r\ndone,7,1,Ann\r\n'],
  ['comma', false, 'Ann,7,done'],
  ['comma', false, '\n\n"Ann", 7 ,done \n,,\n'],
  ['semicolon', true, 'body;priority;state\rAnn;7;done'],
  ['semicolon', false, 'Ann;7;done'],
  ['tab', true, 'priority\tbody\tstate\n7\tAnn\tdone'],
  ['tab', false, 'Ann\t7\tdone'],
  ['json', false, '[{"id":1,"body":"Ann","priority":7,"state":"done"}]'],
  ['json', false, ' {\n "body": "Ann", "priority": 7e0, "state": "done" }'],
  ['ndjson', false, '{"body":"Ann","priority":7.0,"state":"done"}\n\n{"body":""}'],
] as const)('%s is detected, and a header row: %o', ([format, hasHeader, text]) => {
  const table = readTable(notes, text)
  expect(table).toMatchObject({ format, hasHeader })
  expect(notesOf(text)[0]).toEqual({ body: 'Ann', priority: 7n, state: 'done' })
})

test('a text without a delimiter is CSV, also if it begins as JSON does', () => {
  expect(readTable(notes, 'Ann\nTom')?.format).toBe('comma')
  expect(notesOf('[Ann],7\n{,8')).toMatchObject([{ body: '[Ann]' }, { body: '{' }])
})

test('a text is kept exactly, with quotes, delimiters, leading spaces and other scripts', () => {
  const bodies = ['"', 'a "quoted" body', ',', ';', '\t', ' Ann ', 'ركس', '🐕‍🦺', '=1+1', "'"]
  const csv = `body,priority\n${bodies.map((body) => `"${body.replaceAll('"', '""')}",7\n`).join('')}`
  const expected = bodies.map((body) => (body === '\t' ? undefined : body))
  expect(readTable(notes, csv)?.rows.map((row) => (isValid(row) ? row.item.body : undefined))).toEqual(expected)
  const json = JSON.stringify(bodies.map((body) => ({ body, priority: 7 })))
  expect(readTable(notes, json)?.rows.map((row) => (isValid(row) ? row.item.body : undefined))).toEqual(expected)
})

test.for([
  ['Ann,7\n"Ann\nthe dog",7\nTom,8', 2, 'The text has a line break, a tab or another control character.'],
  ['Ann,7\n\nAnn,seven\nTom,8', 3, 'The priority is not a whole number.'],
  ['Ann,7\nAnn, \nTom,8', 2, 'The priority is missing.'],
  ['Ann,7\nAnn,9223372036854775808\nTom,8', 2, 'The priority has too many digits.'],
  ['Ann,7\nAnn,7,done,,1,,2,\nTom,8', 2, '5 values are expected, not 8. Too many: 2.'],
  ['Ann,7\nAnn\nTom,8', 2, '5 values are expected, not 1.'],
  ['body,priority\nAnn,7\nAnn,7,done\nTom,8', 3, '2 values are expected, not 3. Too many: done.'],
  [
    'Ann,7\n,x,lost,soon,1.5\nTom,8',
    2,
    'The text is missing. The priority is not a whole number. The state is not one of open, waiting, done. ' +
      'The due is not a time such as 2026-11-20T08:30:00.000Z. The book is not a whole number.',
  ],
  ['{"body":"Ann","priority":7}\n{"body"}\n{"body":"Tom","priority":8}', 2, 'This is not a JSON object.'],
  ['[{"body":"Ann","priority":7},[],{"body":"Tom","priority":8}]', 2, 'This is not a JSON object.'],
  [
    '[{"body":"Ann","priority":7},{"body":"Ann","priority":"7"},{"body":"Tom","priority":8}]',
    2,
    'The priority is not a whole number.',
  ],
  [
    '[{"body":"Ann","priority":7},{"body":"Ann","priority":7,"__proto__":{}},{"body":"Tom","priority":8}]',
    2,
    'Unknown fields: __proto__. Remove or rename them.',
  ],
  [
    '[{"body":"Ann","priority":7},{"body":"Ann","priority":1e300},{"body":"Tom","priority":8}]',
    2,
    'The priority has too many digits.',
  ],
] as const)('only the row with a problem is refused: %j', ([text, number, problem]) => {
  const rows = readTable(notes, text)?.rows ?? []
  const invalid = rows.flatMap((row) => (isValid(row) ? [] : [[row.number, row.problem]]))
  expect(invalid).toEqual([[number, problem]])
  expect(notesOf(text).map(({ body }) => body)).toEqual(['Ann', 'Tom'])
})

test.for([
  [
    'body,,kind,\nAnn,7,x,',
    'The columns are body, priority, state, dueAt, and bookId. An id is ignored. Unknown: 2, kind, 4. Missing: priority.',
  ],
  ['body,priority,Book,book_id\nAnn,7,1,1', 'Repeated: bookId.'],
  ['id\n7', 'Missing: body, priority.'],
  ['Ann,7\n"Ann"x,7\nTom,8', 'The quotes do not match from line 2 on.'],
  ['[{"body":"Ann"', 'The text is not valid JSON: '],
  ['body,priority\n\n', 'There is no note in it. Add a row for each note.'],
  ['[]', 'There is no note in it. Add a row for each note.'],
  ['Ann\ud800,7', 'The text is not UTF-8 text.'],
] as const)('the whole text is refused: %j', ([text, problem]) => {
  const table = readTable(notes, text)
  expect(table?.rows).toEqual([])
  expect(table?.problem).toContain(problem)
})

test.for([
  ['with a header row', 'TEXT,Priority,State,Book,due_at\nAnn,7,Open,1,\nTom,8, DONE ,,1970-01-01T00:00:00.000Z'],
  ['without a header row', 'Ann,7,Open,,1\nTom,8,Done,1970-01-01T00:00:00.000Z'],
] as const)('columns and choices may have the names that the console shows, %s', ([, text]) => {
  expect(notesOf(text)).toEqual([
    { body: 'Ann', priority: 7n, state: 'open', bookId: 1n },
    { body: 'Tom', priority: 8n, state: 'done', dueAt: new Date(0) },
  ])
})

test('a column that is no field is reported and not used', () => {
  const table = readTable(notes, 'notes,body,,priority,\n"nice, old",Ann,,7,\n,,,8,')
  expect(table).toMatchObject({ unused: ['notes', '3', '5'] })
  expect(table).not.toHaveProperty('problem')
  expect(table?.rows).toMatchObject([
    { item: { body: 'Ann', priority: 7n, state: 'open' }, cells: ['nice, old', 'Ann', '', '7', ''] },
    { number: 3, invalid: ['body'] },
  ])
})

test('a text without content is no table', () => {
  for (const text of ['', ' \n\t', '\ufeff']) expect(readTable(notes, text)).toBeUndefined()
})

test('empty cells after the last column are ignored', () => {
  for (const text of ['body,priority\nAnn,7,, ', 'body,priority,,\nAnn,7,,', 'Ann,7,,,,,\n'])
    expect(notesOf(text)).toEqual([{ body: 'Ann', priority: 7n, state: 'open' }])
})

test('every digit of a priority is kept', () => {
  for (const digits of ['9007199254740993', '9223372036854775807', '-9223372036854775808', '007', '-0']) {
    const expected = [{ body: 'Ann', priority: BigInt(digits), state: 'open' }]
    expect(notesOf(`Ann,${digits}`)).toEqual(expected)
    if (digits !== '007') expect(notesOf(`[{"body":"Ann","priority":${digits}}]`)).toEqual(expected)
  }
})

test('at most 10,000 rows are accepted', () => {
  expect(readTable(notes, 'Ann,7\n'.repeat(maxRows))?.rows).toHaveLength(maxRows)
  const table = readTable(notes, 'Ann,7\n'.repeat(maxRows + 1))
  expect(table?.rows).toEqual([])
  expect(table?.problem).toBe('10,001 rows are too many. Add at most 10,000 at a time.')
})

const ann = { body: 'Ann', priority: 7n, state: 'open' }

test.for([
  ['Ann,seven,done', 'priority', ' 7 ', 'Ann, 7 ,done,,', { body: 'Ann', priority: 7n, state: 'done' }],
  ['body\tpriority\nAnn\t', 'priority', '7', 'Ann,7', ann],
  ['Ann,7\nAnn', 'priority', '7', 'Ann,7,,,', ann],
  ['[{"body":7,"priority":7}]', 'body', '7', '7,7,,,', { body: '7', priority: 7n, state: 'open' }],
  // The other values stay what they are: a number is no text, and a rounded integer is no priority.
  ['[{"body":7,"priority":"x"}]', 'priority', '7', '7,7,,,', 'The text is not text.'],
  ['[{"body":{},"priority":1e300}]', 'body', 'Ann', 'Ann,10000000000000000000,,,', 'The priority has too many digits'],
  ['Ann,7\nAnn,seven,done,,1,2', 'priority', 'eight', 'Ann,eight,done,,1', 'The priority is not a whole number.'],
  ['{"body":"Ann","priority":7}\n[', 'body', 'Ann', 'Ann,,,,', 'The priority is missing.'],
  [
    'Ann,7,,soon,1',
    'dueAt',
    '1970-01-01T00:00:00.000Z',
    'Ann,7,,1970-01-01T00:00:00.000Z,1',
    { ...ann, dueAt: new Date(0), bookId: 1n },
  ],
] as const)('a corrected row is checked again: %j', ([text, name, changed, cells, expected]) => {
  const table = readTable(notes, text)
  const row = table?.rows.at(-1)
  if (!table || !row) throw new Error('The text has no row.')
  const corrected = correct(notes, table, row, name, changed)
  expect(corrected.cells.join()).toBe(cells)
  if (typeof expected !== 'string') expect(corrected).toMatchObject({ number: row.number, item: expected })
  else expect(isValid(corrected) || corrected.problem).toContain(expected)
})

test('a row with a field that no column shows cannot be corrected in the table', () => {
  const [row] = readTable(notes, '[{"body":"Ann","priority":"x","color":"red"}]')?.rows ?? []
  expect(row && (isValid(row) || row.problem)).toBe('Unknown fields: color. Remove or rename them.')
  expect(row?.values).toBeUndefined()
})

test.for([
  'body,priority,state\r\nAnn,7,\r\n\r\n ,7,done\r\nAnn,7\r\nAnn,,done\r\n"a ""b""",+7,done\r\n"a, b",-7,done',
  'state,id,priority,body\n,77,9223372036854775807,"a\nb"\ndone,,9223372036854775808,Ann\nlost,1,1,Ann\n,,0,Tom',
  'Body;Priority;State\nAnn;7;Done\nTom;7.0;\nZoe;9.00E+15;',
  'body\tpriority\na "b"\t 7 \n"c, d"\t8',
  'Ann,7\nTom;Jerry,8,Waiting\nZoe,8,done,,1,2',
  'due_at,book,BODY,priority\n1970-01-01T00:00:00.000Z,1,Ann,7\nsoon,1,Tom,8\n,x,Zoe,9\n,,Max,9',
  '{"body":"Ann","priority":1}\n\n{"body":"Ann","priority":1.5}\r\n{"body":"Ann","priority":5.0}\n[1]\n{}\n{"body":"Ann"',
  '[{"body":"Ann","priority":9007199254740993},{"body":"Ann","priority":"7"},{"body":"Ann","priority":7,"x":1},7]',
  '{\n"body": "Ann",\n"priority": 7\n}',
])('notes import reads the same notes: %j', async (text) => {
  const { found } = await checkText(text)
  expect(notesOf(text)).toEqual(found)
  expect(found).not.toEqual([])
})

test.for(['body,kind\nAnn,7', 'body,priority\nok,1\nx"y,2', '[{body: "Ann"}]'])(
  'notes import refuses the same text with the same sentence: %j',
  async (text) => {
    await expect(checkText(text)).rejects.toThrow(readTable(notes, text)?.problem)
  },
)

test('an export is read back as the same notes', async () => {
  const store = await openTestStore()
  const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', "'=1", "''@", "'Ann'", "'"]
  const added = [' Ann ', '"', 'a,b', 'ركس', '🐕‍🦺', '[', '{}', ...formulas].map((body, index) => ({
    body,
    priority: 2n ** 53n + BigInt(index) * 2n + 1n,
    state: (['open', 'waiting', 'done'] as const)[index % 3] ?? 'done',
    ...(index % 2 > 0 && { dueAt: new Date(index) }),
  }))
  for (const each of added) await store.notes.create(each)
  const csv = await exportText(store, 'csv')
  expect(csv).toContain(",'=1+1,")
  expect(csv).toContain(",''=1,")
  expect(csv).not.toMatch(/(^|,)"?[=+@＝＋－＠]/m)
  expect(csv).toBe(fileOf(notes, 'csv', await store.notes.list({ limit: 100, cursor: 0n })))
  const copy = await openTestStore()
  await importText(copy, csv, { format: 'csv' })
  expect(await copy.notes.list({ limit: 100, cursor: 0n })).toMatchObject(added)
  expect(notesOf(csv)).toEqual(added)
  expect(notesOf(await exportText(store, 'ndjson'))).toEqual(added)
})

test('rows that are copied as CSV are read back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary-ascii' }), (body, other) => {
      const [row] = readTable(notes, `body,priority,state\n${csvLine([body, other, 'lost'])}`)?.rows ?? []
      expect(row?.cells).toEqual([body, other, 'lost'])
    }),
  )
})

test('a text that a spreadsheet would compute has an apostrophe before it (OWASP, CSV Injection)', () => {
  for (const start of ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']) {
    const line = csvLine([`${start}1+1`])
    expect(line).toMatch(/^"?'/)
    expect(readTable(notes, `body,priority\n${line.trimEnd()},7`)?.rows[0]?.cells[0]).toBe(`${start}1+1`)
  }
})

function notesOf(text: string): NewNote[] {
  // Safe: a checked note has a state.
  return (readTable(notes, text)?.rows ?? []).flatMap((row) => (isValid(row) ? [row.item as NewNote] : []))
}
