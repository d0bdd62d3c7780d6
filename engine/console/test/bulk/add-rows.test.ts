import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  addNotes,
  createNotesClient,
  exportText,
  type NotesClient,
  startTestApi,
} from '../../../test/notes/fixtures.ts'
import { fetchFrom } from '../../../test/support/transport.ts'
import { exportItems, fileOf } from '../../bulk/export-items.ts'
import { addRows, keysOf, type Outcome } from '../../rows/add-rows.ts'
import type { Pause } from '../../rows/batches.ts'
import { addSent, matchSent, type Sent, type SentRows } from '../../rows/progress.ts'
import { readTable } from '../../rows/read-table.ts'
import { correct, isValid, type ValidRow } from '../../rows/table.ts'
import { notes } from '../notes/resources.ts'

test('equal rows have equal idempotency keys, and other rows have others', async () => {
  const keys = await keysOfRows('Ann,7\nTom,8')
  expect(new Set(keys).size).toBe(2)
  for (const same of [
    'Ann,7,open\nTom,8,',
    'Ann;07\nTom; 8',
    '{"body":"Ann","priority":7}\n{"body":"Tom","priority":8}',
  ]) {
    expect(await keysOfRows(same)).toEqual(keys)
  }
  for (const other of [
    'Ann,7',
    'Tom,8\nAnn,7',
    'Ann,7,done\nTom,8',
    'Ann,7,,1970-01-01T00:00:00.000Z\nTom,8',
    'Ann,7,,,1\nTom,8',
    'body,priority\nAnn,7\nTom,8',
    'Ann,78\nTom,8',
  ]) {
    expect((await keysOfRows(other))[0]).not.toBe(keys[0])
  }
})

test('a corrected row has a key of its own, and the other rows keep theirs', async () => {
  const keys = await keysOfRows('Ann,7\n,8\nTom,9')
  const [first, corrected, third] = await keysOfRows('Ann,7\n,8\nTom,9', 'Max')
  expect([first, third]).toEqual(keys)
  expect(corrected).toMatch(/^[0-9a-f]{64}:2$/)
  expect(await keysOfRows('Ann,7\n,8\nTom,9', 'Max')).toEqual([first, corrected, third])
  for (const [text, body] of [
    ['Ann,7\n,8\nTom,9', 'Mix'],
    ['Ann,7\n,8\nTim,9', 'Max'],
    ['Ann,7\n,7\nTom,9', 'Max'],
  ] as const) {
    expect((await keysOfRows(text, body))[1]).not.toBe(corrected)
  }
})

/** The keys of the valid rows. With a text, the row with a problem gets it first. */
async function keysOfRows(text: string, body?: string): Promise<string[]> {
  const table = readTable(notes, text)
  if (!table) return []
  const keyOf = keysOf(notes, table.rows.filter(isValid))
  const rows = table.rows.map((row) =>
    body === undefined || isValid(row) ? row : correct(notes, table, row, 'body', body),
  )
  return Promise.all(rows.filter(isValid).map(keyOf))
}

test('the ids follow the rows, which are sent in batches', async () => {
  const { app, key } = await startTestApi()
  const calls: number[] = []
  const rpc = clientOf(key, {
    fetch(url, init) {
      calls.push(String(url).split(',').length)
      return fetchFrom(app)(url, init)
    },
  })
  const outcomes = await add(rpc, rowsOf(Array.from({ length: 95 }, (_, index) => `note ${index},7`).join('\n')))
  expect(outcomes.map(idOf)).toEqual(Array.from({ length: 95 }, (_, index) => BigInt(index + 1)))
  expect(calls).toEqual([20, 20, 20, 20, 15])
})

test('a batch of long texts has fewer rows, so that the service takes it', async () => {
  const { rpc, store } = await startTestApi()
  const outcomes = await add(rpc, rowsOf(`${'𝄞'.repeat(255)},7\n`.repeat(50)))
  expect(outcomes.every((outcome) => outcome?.kind === 'added')).toBe(true)
  expect(await store.notes.list({ limit: 100, cursor: 0n })).toHaveLength(50)
})

test('of a batch, only the rows without a final response are sent again', async () => {
  const { app, key, store } = await startTestApi()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const calls: number[] = []
  const rpc = clientOf(key, {
    retries: 0,
    async fetch(url, init) {
      calls.push(String(url).split(',').length)
      const response = await fetchFrom(app)(url, init)
      if (calls.length > 1) return response
      // As if the second row had met a full queue, and the response to the third were lost after the note was added.
      const results: unknown[] = await response.json()
      const data = { code: 'unopen', message: '', status: 503, path: 'notes.create' }
      const error = { error: { json: { message: '', code: -32_603, data } } }
      return Response.json(results.with(1, error).with(2, error), { status: 207 })
    },
  })
  const pauses: (Pause | undefined)[] = []
  const adding = add(rpc, rowsOf('a,7\nb,7\nc,7\nd,7'), (pause) => pauses.push(pause))
  while (pauses.length === 0) await setImmediate()
  await vi.advanceTimersByTimeAsync(10_000)
  expect((await adding).map((outcome) => outcome?.kind)).toEqual(['added', 'existed', 'existed', 'added'])
  expect(calls).toEqual([4, 2])
  expect(await store.notes.list({ limit: 9, cursor: 0n })).toHaveLength(4)
})

test('a row that the service rejects does not stop the others', async () => {
  const { app, key, store } = await startTestApi()
  // A service with other rules, in place of the one whose rules the console knows.
  const rpc = clientOf(key, {
    fetch: (url, init) => fetchFrom(app)(url, { ...init, body: String(init?.body).replace('"Ann"', '""') }),
  })
  const outcomes = await add(rpc, rowsOf('Ann,7\nTom,8'))
  expect(outcomes).toMatchObject([
    { kind: 'failed', problem: { issues: [{ path: 'body', code: 'length' }] } },
    { kind: 'added', id: 1n },
  ])
  expect(await store.notes.list({ limit: 9, cursor: 0n })).toMatchObject([{ body: 'Tom' }])
})

test('a response that arrives after a stop is still an outcome', async () => {
  const { app, key } = await startTestApi()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const { promise: sent, resolve: send } = Promise.withResolvers<void>()
  const rpc = clientOf(key, {
    async fetch(url, init) {
      send()
      await held
      return fetchFrom(app)(url, init)
    },
  })
  const rows = rowsOf('Ann,7\n'.repeat(100))
  const controller = new AbortController()
  const outcomes: Outcome[] = []
  const adding = addRows(rpc.notes, rows, {
    keyOf: keysOf(notes, rows),
    signal: controller.signal,
    onOutcome: (_row, outcome) => outcomes.push(outcome),
    onPause: () => {},
  })
  await sent
  controller.abort()
  await expect(adding).rejects.toThrow('abort')
  expect(outcomes).toEqual([])
  release()
  // The three batches under way. No other row is sent.
  await expect.poll(() => outcomes.length, { timeout: 20_000 }).toBe(60)
  expect(outcomes.every(({ kind }) => kind === 'added')).toBe(true)
  for (let turn = 0; turn < 100; turn++) await setImmediate()
  expect(outcomes).toHaveLength(60)
})

test('a row is added again only if it occurs more often than it was added', () => {
  const sent: SentRows = new Map()
  const [first, second, other] = rowsOf('Ann,7\nAnn,7\nTom,8')
  if (!first || !second || !other) throw new Error('A row is missing.')
  const unconfirmed: Sent = { idempotencyKey: 'a', outcome: { kind: 'unconfirmed' } }
  const added: Sent = { idempotencyKey: 'b', outcome: { kind: 'added', id: 1n } }
  addSent(notes, first, sent, unconfirmed)
  addSent(notes, second, sent, added)
  addSent(notes, other, sent, added)
  const matched = (text: string) => [...matchSent(notes, rowsOf(text), sent)]
  expect(matched('Ann,7')).toEqual([[1, added]])
  expect(matched('Max,1\nAnn,7\nAnn,7\nAnn,7')).toEqual([
    [2, added],
    [3, unconfirmed],
  ])
  expect(matched('body,priority,state\nTom,08,open\nTom,8,done')).toEqual([[2, added]])
  expect(matched('Max,1')).toEqual([])
})

test('a rejected key ends the run', async () => {
  const { app } = await startTestApi()
  const rpc = clientOf('note_wrong', { fetch: fetchFrom(app) })
  await expect(add(rpc, rowsOf('Ann,7\nTom,8'))).rejects.toThrow('key')
})

test('a rate limit pauses all requests for the time that the service asks for', async () => {
  const { app, key, store } = await startTestApi({ config: { rateLimit: { requests: 40, seconds: 1 } } })
  // The time passes only where the test advances it, so the limit does not depend on the speed of the machine.
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let requests = 0
  let underWay = 0
  const rpc = clientOf(key, {
    retries: 0,
    fetch(url, init) {
      requests++
      underWay++
      return fetchFrom(app)(url, init).finally(() => underWay--)
    },
  })
  const pauses: (Pause | undefined)[] = []
  const start = Date.now()
  const adding = add(rpc, rowsOf('Ann,7\n'.repeat(100)), (pause) => pauses.push(pause))
  for (const end of [start + 1_000, start + 2_000]) {
    // `expect.poll` would advance the time.
    while (underWay > 0 || (pauses.at(-1)?.until ?? start) <= Date.now()) await setImmediate()
    expect(pauses.at(-1)).toEqual({ message: 'Too many requests.', until: end })
    const before = requests
    await vi.advanceTimersByTimeAsync(999)
    expect(requests).toBe(before)
    await vi.advanceTimersByTimeAsync(1)
  }
  await adding
  expect(pauses.at(-1)).toBeUndefined()
  // Three batches are under way when the service rejects the first, at the start of each pause.
  expect(requests).toBeLessThanOrEqual(5 + 2 * 3)
  expect(await store.notes.list({ limit: 100, cursor: 0n })).toHaveLength(100)
  expect(await store.notes.list({ limit: 100, cursor: 100n })).toEqual([])
})

test.for(['csv', 'ndjson'] as const)('an export has the same notes as notes export, as %s', async (format) => {
  const { rpc, store } = await startTestApi()
  await addNotes(store, 250)
  for (const body of [' Ann ', '"', 'a,b', 'ركس', "'", '=1+1', '\\']) {
    await store.notes.create({ body, priority: 2n ** 63n - 1n, state: 'done' })
  }
  const counts = { all: 257, done: 7, waiting: 0 }
  for (const state of [undefined, 'done', 'waiting'] as const) {
    const loaded: number[] = []
    const items = await exportItems(notes, rpc.notes, {
      filter: { state },
      signal: new AbortController().signal,
      onProgress: (count) => loaded.push(count),
      onPause: () => {},
    })
    const expected = await exportText(store, format, { state })
    const array = `[\n${expected.trimEnd().replaceAll('\n', ',\n')}\n]\n`
    const text = fileOf(notes, format === 'csv' ? 'csv' : 'json', items)
    expect(text).toBe(format === 'csv' ? expected : array)
    expect(loaded.at(-1)).toBe(counts[state ?? 'all'])
  }
})

test('an export of a search has what the search finds', async () => {
  const { rpc, store } = await startTestApi()
  await addNotes(store, 120)
  await store.notes.create({ body: 'Ann', priority: 7n, state: 'done' })
  await store.notes.create({ body: 'annika', priority: 120n, state: 'open' })
  const exported = async (search: string, filter = {}) => {
    const items = await exportItems(notes, rpc.notes, {
      filter,
      search,
      signal: new AbortController().signal,
      onProgress: () => {},
      onPause: () => {},
    })
    return items.map(({ id }) => Number(id))
  }
  expect(await exported('NN')).toEqual([121, 122])
  expect(await exported('ann', { state: 'done' })).toEqual([121])
  // An id and a priority.
  expect(await exported('120')).toEqual([120, 122])
  expect(await exported('1')).toHaveLength(120)
  expect(await exported('nobody')).toEqual([])
})

function clientOf(apiKey: string, options: Partial<Parameters<typeof createNotesClient>[0]>): NotesClient {
  return createNotesClient({ url: 'http://service.test', apiKey, ...options })
}

function rowsOf(text: string): ValidRow[] {
  return readTable(notes, text)?.rows.filter(isValid) ?? []
}

/** Adds the rows, and returns their outcomes in order. */
async function add(
  rpc: NotesClient,
  rows: ValidRow[],
  onPause: (pause: Pause | undefined) => void = () => {},
): Promise<(Outcome | undefined)[]> {
  const outcomes = new Map<number, Outcome>()
  await addRows(rpc.notes, rows, {
    keyOf: keysOf(notes, rows),
    signal: new AbortController().signal,
    onOutcome: (row, outcome) => outcomes.set(row, outcome),
    onPause,
  })
  return rows.map(({ number }) => outcomes.get(number))
}

function idOf(outcome: Outcome | undefined): bigint | undefined {
  return outcome && 'id' in outcome ? outcome.id : undefined
}
