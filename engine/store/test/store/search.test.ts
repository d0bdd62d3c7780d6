import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openTestStore, testDatabase } from '../../../test/notes/database.ts'
import { type NewNote, type Note, states } from '../../../test/notes/tables.ts'
import { type NoteSearch, openStoreModel } from '../../../test/support/store-model.ts'
import type { Searcher } from '../../collection/base-store.ts'
import { maxRead, scanQueue, searchWith } from '../../collection/search.ts'

/** Letters whose case only some rules know, letters with marks, wildcards of LIKE, and the ends of ranges of code points. */
const characters = [..."aAbZzéÉßẞİıKΣς%_\\'@[`{ ΐᾳﬁŁøæ"]
const ends = ['\u{7e}', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10ffff}', 'e\u0301', '\u0301', '\u0345']
const text = (maxLength: number) =>
  fc.array(fc.constantFrom(...characters, ...ends), { minLength: 1, maxLength }).map((all) => all.join(''))
const newNote = fc.record({
  body: text(4).filter((body) => body.trim() !== ''),
  priority: fc.constantFrom(-(2n ** 63n), 0n, 2n ** 53n + 1n, 2n ** 63n - 1n),
  state: fc.constantFrom(...states),
}) satisfies fc.Arbitrary<NewNote>
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const search = fc
  .record({
    limit: fc.constantFrom(1, 3, 100),
    order: fc.constantFrom('newest', 'oldest'),
    state: some(fc.constantFrom(...states)),
    cursor: some(fc.constantFrom(0n, 1n, 7n, 20n, 41n, 2n ** 63n - 1n)),
    by: fc.oneof(
      fc.constant({}),
      fc.record({ body: text(2) }),
      fc.record({ priority: newNote.map(({ priority }) => priority) }),
      fc.record({ body: text(1), priority: newNote.map(({ priority }) => priority) }),
      fc.record({ id: fc.constantFrom(1n, 9n, 99n, -1n) }),
    ),
  })
  .map(({ by, ...rest }): NoteSearch => ({ ...rest, ...by }))

test('a search finds the same notes in the same order on both databases, whatever bodies and texts hold', async () => {
  const [store, model] = [await openTestStore(), openStoreModel()]
  for (const note of fc.sample(newNote, { numRuns: 60, seed: 1 })) {
    expect(await store.notes.create(note)).toEqual(await model.notes.create(note))
  }
  await fc.assert(
    fc.asyncProperty(search, async (query) => {
      const { items } = await store.notes.search(query)
      expect(items).toEqual((await model.notes.search(query)).items)
    }),
    { numRuns: 400 },
  )
})

describe('a search of many notes', () => {
  const rows = 2 * maxRead.text + 500

  async function manyNotes() {
    const database = await testDatabase()
    const store = await database.open()
    const numbers = `WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${rows})`
    await database.execute(`${numbers} INSERT INTO notes (body, priority, state)
      SELECT CASE WHEN n % 5000 = 7 THEN 'Miss Molly' ELSE 'Ann' END, n % 5000,
        CASE WHEN n % 2 = 0 THEN 'done' ELSE 'open' END FROM counter ORDER BY n`)
    return store.notes
  }

  test.for([
    [{ body: 'molly', order: 'newest' }, [15_007n, 10_007n, 5_007n, 7n]],
    [{ body: 'molly', order: 'oldest' }, [7n, 5_007n, 10_007n, 15_007n]],
    [{ priority: 6n, order: 'oldest' }, [6n, 5_006n, 10_006n, 15_006n]],
    [{ body: 'molly', state: 'open', order: 'newest' }, [15_007n, 10_007n, 5_007n, 7n]],
    [{ body: 'molly', state: 'done', order: 'newest' }, []],
  ] as const)('finds %o in calls that compare a bounded number of them', async ([query, expected]) => {
    const notes = await manyNotes()
    const [ids, calls]: [bigint[], number[]] = [[], []]
    let cursor: bigint | undefined
    do {
      const { items, searched, next } = await notes.search({ ...query, limit: 100, cursor })
      ids.push(...items.map(({ id }) => id))
      calls.push(searched)
      cursor = next
    } while (cursor !== undefined)
    expect(ids).toEqual(expected)
    // By the body alone, it compares all notes. By an indexed field, too, it compares those with its value.
    const compared = 'state' in query ? [maxRead.text, rows / 2 - maxRead.text] : [maxRead.text, maxRead.text, 500]
    expect(calls).toEqual('body' in query ? compared : [rows])
  })

  test('returns as soon as the page is full', async () => {
    const notes = await manyNotes()
    const first = await notes.search({ body: 'ann', limit: 2, order: 'newest' })
    expect(first).toMatchObject({ items: [{ id: 15_500n }, { id: 15_499n }], searched: 2, next: 15_499n })
    expect(await notes.search({ limit: 2, order: 'oldest', cursor: first.next })).toEqual({
      items: [expect.objectContaining({ id: 15_500n })],
      searched: 1,
    })
    expect(await notes.search({ id: 99_999n, limit: 2, order: 'oldest' })).toEqual({ items: [], searched: 0 })
  })
})

describe('scans', () => {
  const note: Note = { id: 1n, body: 'Ann', priority: 1n, state: 'done' }

  /** Searches of a table without an end. Notes the search and the turn of the event loop of each read. */
  function endless(onRead: () => unknown = () => {}) {
    const reads: { search: number; turn: number }[] = []
    let turn = 0
    const count = () => {
      turn++
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    const page = async ({ cursor, limit }: { cursor: bigint; limit: number }) => {
      reads.push({ search: Number(cursor / 1_000_000n), turn })
      onRead()
      return Array.from({ length: limit }, (_, index): Note => ({ ...note, id: cursor + BigInt(index) + 1n }))
    }
    const search = searchWith(
      [],
      { body: 'text' },
      { get: async () => undefined, oldest: page, newest: page, step: 500, inTurn: scanQueue() },
    )
    const query = { body: 'molly', order: 'oldest', limit: 1 } as const
    return {
      reads,
      start: (number: number, { id = 1, signal = new AbortController().signal }: Partial<Searcher> = {}) =>
        search({ ...query, cursor: BigInt(number) * 1_000_000n }, { id, signal }),
      stop: () => clearImmediate(counting),
    }
  }

  test('run one after the other, and each read has a turn of the event loop of its own', async () => {
    const { reads, start, stop } = endless()
    await Promise.all([1, 2, 3].map((number) => start(number)))
    stop()
    expect(reads.map(({ search }) => search)).toEqual([1, 2, 3].flatMap((each) => Array(maxRead.text / 500).fill(each)))
    expect(new Set(reads.map(({ turn }) => turn)).size).toBe(reads.length)
  })

  test('of different callers take turns', async () => {
    const { reads, start, stop } = endless()
    await Promise.all([1, 2, 3, 11, 12].map((number) => start(number, { id: number > 10 ? 'second' : 'first' })))
    stop()
    expect([...new Set(reads.map(({ search }) => search))]).toEqual([1, 2, 11, 3, 12])
  })

  test('of a caller of whom too many wait are refused, and those of others are not', async () => {
    const { start, stop } = endless()
    const gone = new AbortController()
    const results = Array.from({ length: 150 }, () => start(1, { signal: gone.signal }))
    const other = start(2, { id: 'other' })
    gone.abort(new Error('gone'))
    const outcomes = (await Promise.allSettled(results)).map((result) => 'reason' in result && String(result.reason))
    expect(outcomes.filter((outcome) => outcome !== 'Error: gone')).toEqual(
      Array(49).fill(expect.stringContaining('TooManySearches: Too many searches of this caller wait.')),
    )
    expect(await other).toMatchObject({ searched: maxRead.text })
    stop()
  })

  test('of another store wait in a queue of its own', async () => {
    const [one, other] = [await openTestStore(), await openTestStore()]
    const search = ({ notes }: typeof one) =>
      notes.search({ body: 'ann', order: 'oldest', limit: 1 }, { id: 1n, signal: new AbortController().signal })
    const many = Promise.allSettled(Array.from({ length: 150 }, () => search(one)))
    expect(await search(other)).toEqual({ items: [], searched: 0 })
    expect((await many).filter(({ status }) => status === 'rejected')).toHaveLength(49)
  })

  test('that have waited for too long are refused', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let reads = 0
    const { start, stop } = endless(() => ++reads === 1 && vi.advanceTimersByTime(15_000))
    const searches = [start(1), start(2), start(3, { id: 'other' })]
    const outcomes = await Promise.allSettled(searches)
    const refused = { name: 'TooManySearches', message: 'The searches before this one take too long. Try again later.' }
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { reason: refused }, { reason: refused }])
    expect(await start(4)).toMatchObject({ searched: maxRead.text })
    stop()
  })

  test('that began in time are neither refused nor take the place of those that wait', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let [reads, third]: [number, unknown] = [0, undefined]
    const { start, stop } = endless(() => {
      reads++
      const ofSecond = reads - maxRead.text / 500
      if (reads === 1) vi.advanceTimersByTime(10_000)
      if (reads === 1) third = start(3)
      if (ofSecond === 1) vi.advanceTimersByTime(5_000)
    })
    const outcomes: unknown[] = await Promise.all([start(1), start(2)])
    await nextTurn()
    // It runs by now, or else is refused here.
    vi.advanceTimersByTime(15_000)
    outcomes.push(await third)
    stop()
    expect(outcomes).toMatchObject(outcomes.map(() => ({ searched: maxRead.text })))
  })

  test('stop when their clients have gone, and the others go on', async () => {
    const clients = [new AbortController(), new AbortController()]
    const { reads, start, stop } = endless(() => clients.map((client) => client.abort(new Error('gone'))))
    const searches = clients.map(({ signal }, index) => start(index + 1, { signal }))
    const last = start(3)
    const gone = { status: 'rejected', reason: { message: 'gone' } }
    expect(await Promise.allSettled(searches)).toMatchObject([gone, gone])
    expect(await last).toMatchObject({ items: [], searched: maxRead.text })
    stop()
    expect(reads.map(({ search }) => search)).toEqual([1, ...Array(maxRead.text / 500).fill(3)])
  })
})

test('a list or an object as a value is refused, also by a filter that is an object', async () => {
  const { notes } = await openTestStore()
  await notes.create({ body: 'a', priority: 1n, state: 'open' })
  for (const value of [[1n], { value: 1n }]) {
    const priority = value as unknown as bigint
    await expect(notes.search({ limit: 9, order: 'oldest', priority })).rejects.toThrow('got an object as a value')
  }
  await expect(notes.list({ limit: 9, state: { value: 'open' } as unknown as 'open' })).rejects.toThrow()
})
