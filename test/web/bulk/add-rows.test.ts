import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPetstoreClient, type PetstoreClient } from '../../../client/index.ts'
import { addRows, keyPrefixOf, type Outcome } from '../../../web/bulk/add-rows.ts'
import { exportItems } from '../../../web/bulk/export-items.ts'
import { advance, noProgress, rateOf } from '../../../web/bulk/progress.ts'
import { readTable } from '../../../web/bulk/read-table.ts'
import type { Pause } from '../../../web/bulk/retry-while-away.ts'
import { isValid, type ValidRow } from '../../../web/bulk/table.ts'
import { petResource } from '../../../web/pets/pet.ts'
import { addPets } from '../../support/database.ts'
import { startTestApi } from '../../support/test-api.ts'
import { exportText } from '../../support/transfer.ts'
import { fetchFrom } from '../../support/transport.ts'

test('equal rows have equal idempotency keys, and other rows have others', async () => {
  const prefix = await keyPrefixOf(petResource, rowsOf('Rex,7\nTom,8'))
  // The same as in each earlier version of the console, or rows that are added again after an update would be added twice.
  const text = '[[1,"Rex","7","available"],[2,"Tom","8","available"]]'
  expect(prefix).toBe(createHash('sha256').update(text).digest('hex'))
  for (const same of [
    'Rex,7,available\nTom,8,',
    'Rex;07\nTom; 8',
    '{"name":"Rex","categoryId":7}\n{"name":"Tom","categoryId":8}',
  ]) {
    expect(await keyPrefixOf(petResource, rowsOf(same))).toBe(prefix)
  }
  for (const other of [
    'Rex,7',
    'Tom,8\nRex,7',
    'Rex,7,sold\nTom,8',
    'name,categoryId\nRex,7\nTom,8',
    'Rex,78\nTom,8',
  ]) {
    expect(await keyPrefixOf(petResource, rowsOf(other))).not.toBe(prefix)
  }
})

test('rows that are added twice are stored once', async () => {
  const { rpc, store } = await startTestApi()
  const rows = rowsOf(Array.from({ length: 50 }, (_, index) => `pet ${index},7`).join('\n'))
  const first = await add(rpc, rows)
  const second = await add(rpc, rows)
  expect(second.map(idOf)).toEqual(first.map(idOf))
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toHaveLength(50)
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
  expect(outcomes).toEqual([
    { kind: 'failed', message: expect.stringContaining('name: expected 1 to 255 characters') },
    { kind: 'added', id: 1n },
  ])
  expect(await store.pets.list({ limit: 9, cursor: 0n })).toMatchObject([{ name: 'Tom' }])
})

test('a rejected key ends the run', async () => {
  const { app } = await startTestApi()
  const rpc = createPetstoreClient({ url: 'http://petstore.test', apiKey: 'pet_wrong', fetch: fetchFrom(app) })
  await expect(add(rpc, rowsOf('Rex,7\nTom,8'))).rejects.toThrow('key')
})

test('a rate limit pauses all requests for the time that the service asks for', async () => {
  const { app, key, store } = await startTestApi({ config: { rateLimit: { requests: 10, seconds: 1 } } })
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
  const adding = add(rpc, rowsOf('Rex,7\n'.repeat(25)), (pause) => pauses.push(pause))
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
  // Eight requests are under way when the service rejects the first, at the start of each pause.
  expect(requests).toBeLessThanOrEqual(25 + 2 * 8)
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toHaveLength(25)
})

test('the rate is that of the last seconds', () => {
  const outcome: Outcome = { kind: 'added', id: 1n }
  const batch = (start: number, count: number) =>
    Array.from({ length: count }, (_, index): [number, Outcome] => [start + index, outcome])
  let progress = advance(noProgress, [], 0)
  expect(rateOf(progress)).toBeUndefined()
  progress = advance(progress, batch(0, 100), 1_000)
  expect(rateOf(progress)).toBe(100)
  progress = advance(progress, batch(100, 1_000), 5_000)
  progress = advance(progress, batch(1_100, 100), 10_000)
  expect(rateOf(progress)).toBe(20)
})

test.for(['csv', 'ndjson'] as const)('an export has the same pets as petstore pets export, as %s', async (format) => {
  const { rpc, store } = await startTestApi()
  await addPets(store, 250)
  for (const name of [' Rex ', '"', 'a,b', 'ركس', "'", '=1+1', '\\']) {
    await store.pets.create({ name, categoryId: 2n ** 63n - 1n, status: 'sold' })
  }
  const counts = { all: 257, sold: 7, pending: undefined }
  for (const status of [undefined, 'sold', 'pending'] as const) {
    const loaded: number[] = []
    const file = await exportItems(petResource, rpc.pets, {
      format: format === 'csv' ? 'csv' : 'json',
      filter: { status },
      signal: new AbortController().signal,
      onProgress: (pets) => loaded.push(pets),
      onPause: () => {},
    })
    const expected = await exportText(store, format, status)
    const array = `[\n${expected.trimEnd().replaceAll('\n', ',\n')}\n]\n`
    expect(await file.text()).toBe(format === 'csv' ? expected : array)
    expect(loaded.at(-1)).toBe(counts[status ?? 'all'])
  }
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
    keyPrefix: await keyPrefixOf(petResource, rows),
    signal: new AbortController().signal,
    onOutcome: (row, outcome) => outcomes.set(row, outcome),
    onPause,
  })
  return rows.map(({ number }) => outcomes.get(number))
}

function idOf(outcome: Outcome | undefined): bigint | undefined {
  return outcome && 'id' in outcome ? outcome.id : undefined
}
