import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPetstoreClient, type PetstoreClient } from '../../../client/index.ts'
import { addRows, keysOf, type Outcome } from '../../../engine/console/bulk/add-rows.ts'
import { exportItems } from '../../../engine/console/bulk/export-items.ts'
import { addSent, matchSent, type Sent, type SentRows } from '../../../engine/console/bulk/progress.ts'
import { readTable } from '../../../engine/console/bulk/read-table.ts'
import type { Pause } from '../../../engine/console/bulk/retry-while-away.ts'
import { correct, isValid, type ValidRow } from '../../../engine/console/bulk/table.ts'
import { fileOf } from '../../../engine/console/bulk/write-file.ts'
import { fetchFrom } from '../../../engine/test/support/transport.ts'
import { petResource } from '../../../web/pets/pet.ts'
import { addPets, exportText, startTestApi } from '../../support/petstore.ts'

test('equal rows have equal idempotency keys, and other rows have others', async () => {
  const keys = await keysOfRows('Rex,7\nTom,8')
  // The same as in each earlier version of the console, or rows that are added again after an update would be added twice.
  const text = '[[1,"Rex","7","available"],[2,"Tom","8","available"]]'
  const digest = createHash('sha256').update(text).digest('hex')
  expect(keys).toEqual([`${digest}:1`, `${digest}:2`])
  for (const same of [
    'Rex,7,available\nTom,8,',
    'Rex;07\nTom; 8',
    '{"name":"Rex","categoryId":7}\n{"name":"Tom","categoryId":8}',
  ]) {
    expect(await keysOfRows(same)).toEqual(keys)
  }
  for (const other of [
    'Rex,7',
    'Tom,8\nRex,7',
    'Rex,7,sold\nTom,8',
    'name,categoryId\nRex,7\nTom,8',
    'Rex,78\nTom,8',
  ]) {
    expect((await keysOfRows(other))[0]).not.toBe(keys[0])
  }
})

test('a corrected row has a key of its own, and the other rows keep theirs', async () => {
  const keys = await keysOfRows('Rex,7\n,8\nTom,9')
  const [first, corrected, third] = await keysOfRows('Rex,7\n,8\nTom,9', 'Max')
  expect([first, third]).toEqual(keys)
  expect(corrected).toMatch(/^[0-9a-f]{64}:2$/)
  expect(await keysOfRows('Rex,7\n,8\nTom,9', 'Max')).toEqual([first, corrected, third])
  for (const [text, name] of [
    ['Rex,7\n,8\nTom,9', 'Mix'],
    ['Rex,7\n,8\nTim,9', 'Max'],
    ['Rex,7\n,7\nTom,9', 'Max'],
  ] as const) {
    expect((await keysOfRows(text, name))[1]).not.toBe(corrected)
  }
})

/** The keys of the valid rows. With a name, the row with a problem gets it first. */
async function keysOfRows(text: string, name?: string): Promise<string[]> {
  const table = readTable(petResource, text)
  if (!table) return []
  const keyOf = keysOf(petResource, table.rows.filter(isValid))
  const rows = table.rows.map((row) =>
    name === undefined || isValid(row) ? row : correct(petResource, table, row, 'name', name),
  )
  return Promise.all(rows.filter(isValid).map(keyOf))
}

test('rows that are added twice are stored once', async () => {
  const { rpc, store } = await startTestApi()
  const rows = rowsOf(Array.from({ length: 50 }, (_, index) => `pet ${index},7`).join('\n'))
  const first = await add(rpc, rows)
  const second = await add(rpc, rows)
  expect(second.map(idOf)).toEqual(first.map(idOf))
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toHaveLength(50)
})

test('the ids follow the rows, which are sent in batches', async () => {
  const { app, key } = await startTestApi()
  const calls: number[] = []
  const rpc = createPetstoreClient({
    url: 'http://petstore.test',
    apiKey: key,
    fetch(url, init) {
      calls.push(String(url).split(',').length)
      return fetchFrom(app)(url, init)
    },
  })
  const outcomes = await add(rpc, rowsOf(Array.from({ length: 95 }, (_, index) => `pet ${index},7`).join('\n')))
  expect(outcomes.map(idOf)).toEqual(Array.from({ length: 95 }, (_, index) => BigInt(index + 1)))
  expect(calls).toEqual([20, 20, 20, 20, 15])
})

test('a batch of long texts has fewer rows, so that the service takes it', async () => {
  const { rpc, store } = await startTestApi()
  const outcomes = await add(rpc, rowsOf(`${'𝄞'.repeat(255)},7\n`.repeat(50)))
  expect(outcomes.every((outcome) => outcome?.kind === 'added')).toBe(true)
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toHaveLength(50)
})

test('of a batch, only the rows without a final response are sent again', async () => {
  const { app, key, store } = await startTestApi()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const calls: number[] = []
  const rpc = createPetstoreClient({
    url: 'http://petstore.test',
    apiKey: key,
    retries: 0,
    async fetch(url, init) {
      calls.push(String(url).split(',').length)
      const response = await fetchFrom(app)(url, init)
      if (calls.length > 1) return response
      // As if the second row had met a full queue, and the response to the third were lost after the pet was added.
      const results: unknown[] = await response.json()
      const data = { code: 'unavailable', message: '', status: 503, path: 'pets.create' }
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
  expect(await store.pets.list({ limit: 9, cursor: 0n })).toHaveLength(4)
})

test('a row that the service rejects does not stop the others', async () => {
  const { app, key, store } = await startTestApi()
  // A service with other rules, in place of the one whose rules the console knows.
  const rpc = createPetstoreClient({
    url: 'http://petstore.test',
    apiKey: key,
    fetch: (url, init) => fetchFrom(app)(url, { ...init, body: String(init?.body).replace('"Rex"', '""') }),
  })
  const outcomes = await add(rpc, rowsOf('Rex,7\nTom,8'))
  expect(outcomes).toMatchObject([
    { kind: 'failed', problem: { issues: [{ path: 'name', code: 'length' }] } },
    { kind: 'added', id: 1n },
  ])
  expect(await store.pets.list({ limit: 9, cursor: 0n })).toMatchObject([{ name: 'Tom' }])
})

test('a response that arrives after a stop is still an outcome', async () => {
  const { app, key } = await startTestApi()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const { promise: sent, resolve: send } = Promise.withResolvers<void>()
  const rpc = createPetstoreClient({
    url: 'http://petstore.test',
    apiKey: key,
    async fetch(url, init) {
      send()
      await held
      return fetchFrom(app)(url, init)
    },
  })
  const rows = rowsOf('Rex,7\n'.repeat(100))
  const controller = new AbortController()
  const outcomes: Outcome[] = []
  const adding = addRows(rpc.pets, rows, {
    keyOf: keysOf(petResource, rows),
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
  const [first, second, other] = rowsOf('Rex,7\nRex,7\nTom,8')
  if (!first || !second || !other) throw new Error('A row is missing.')
  const unconfirmed: Sent = { idempotencyKey: 'a', outcome: { kind: 'unconfirmed' } }
  const added: Sent = { idempotencyKey: 'b', outcome: { kind: 'added', id: 1n } }
  addSent(petResource, first, sent, unconfirmed)
  addSent(petResource, second, sent, added)
  addSent(petResource, other, sent, added)
  const matched = (text: string) => [...matchSent(petResource, rowsOf(text), sent)]
  expect(matched('Rex,7')).toEqual([[1, added]])
  expect(matched('Max,1\nRex,7\nRex,7\nRex,7')).toEqual([
    [2, added],
    [3, unconfirmed],
  ])
  expect(matched('name,categoryId,status\nTom,08,available\nTom,8,sold')).toEqual([[2, added]])
  expect(matched('Max,1')).toEqual([])
})

test('a rejected key ends the run', async () => {
  const { app } = await startTestApi()
  const rpc = createPetstoreClient({ url: 'http://petstore.test', apiKey: 'pet_wrong', fetch: fetchFrom(app) })
  await expect(add(rpc, rowsOf('Rex,7\nTom,8'))).rejects.toThrow('key')
})

test('a rate limit pauses all requests for the time that the service asks for', async () => {
  const { app, key, store } = await startTestApi({ config: { rateLimit: { requests: 40, seconds: 1 } } })
  // The time passes only where the test advances it, so the limit does not depend on the speed of the machine.
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let requests = 0
  let underWay = 0
  const rpc = createPetstoreClient({
    url: 'http://petstore.test',
    apiKey: key,
    retries: 0,
    fetch(url, init) {
      requests++
      underWay++
      return fetchFrom(app)(url, init).finally(() => underWay--)
    },
  })
  const pauses: (Pause | undefined)[] = []
  const start = Date.now()
  const adding = add(rpc, rowsOf('Rex,7\n'.repeat(100)), (pause) => pauses.push(pause))
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
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toHaveLength(100)
  expect(await store.pets.list({ limit: 100, cursor: 100n })).toEqual([])
})

test.for(['csv', 'ndjson'] as const)('an export has the same pets as petstore pets export, as %s', async (format) => {
  const { rpc, store } = await startTestApi()
  await addPets(store, 250)
  for (const name of [' Rex ', '"', 'a,b', 'ركس', "'", '=1+1', '\\']) {
    await store.pets.create({ name, categoryId: 2n ** 63n - 1n, status: 'sold' })
  }
  const counts = { all: 257, sold: 7, pending: 0 }
  for (const status of [undefined, 'sold', 'pending'] as const) {
    const loaded: number[] = []
    const items = await exportItems(petResource, rpc.pets, {
      filter: { status },
      signal: new AbortController().signal,
      onProgress: (pets) => loaded.push(pets),
      onPause: () => {},
    })
    const expected = await exportText(store, format, { status })
    const array = `[\n${expected.trimEnd().replaceAll('\n', ',\n')}\n]\n`
    const text = fileOf(petResource, format === 'csv' ? 'csv' : 'json', items)
    expect(text).toBe(format === 'csv' ? expected : array)
    expect(loaded.at(-1)).toBe(counts[status ?? 'all'])
  }
})

test('an export of a search has what the search finds', async () => {
  const { rpc, store } = await startTestApi()
  await addPets(store, 120)
  await store.pets.create({ name: 'Rex', categoryId: 7n, status: 'sold' })
  await store.pets.create({ name: 'rexi', categoryId: 120n, status: 'available' })
  const exported = async (search: string, filter = {}) => {
    const items = await exportItems(petResource, rpc.pets, {
      filter,
      search,
      signal: new AbortController().signal,
      onProgress: () => {},
      onPause: () => {},
    })
    return items.map(({ id }) => Number(id))
  }
  expect(await exported('EX')).toEqual([121, 122])
  expect(await exported('rex', { status: 'sold' })).toEqual([121])
  // An id and a category.
  expect(await exported('120')).toEqual([120, 122])
  expect(await exported('1')).toHaveLength(120)
  expect(await exported('nobody')).toEqual([])
})

function rowsOf(text: string): ValidRow[] {
  return readTable(petResource, text)?.rows.filter(isValid) ?? []
}

/** Adds the rows, and returns their outcomes in order. */
async function add(
  rpc: PetstoreClient,
  rows: ValidRow[],
  onPause: (pause: Pause | undefined) => void = () => {},
): Promise<(Outcome | undefined)[]> {
  const outcomes = new Map<number, Outcome>()
  await addRows(rpc.pets, rows, {
    keyOf: keysOf(petResource, rows),
    signal: new AbortController().signal,
    onOutcome: (row, outcome) => outcomes.set(row, outcome),
    onPause,
  })
  return rows.map(({ number }) => outcomes.get(number))
}

function idOf(outcome: Outcome | undefined): bigint | undefined {
  return outcome && 'id' in outcome ? outcome.id : undefined
}
