import { setImmediate } from 'node:timers/promises'
import type { Table } from 'drizzle-orm'
import { hasWords, wordsOf } from '../words.ts'
import type { Searcher } from './base-store.ts'
import { TooManySearches } from './errors.ts'
import type { Found, Names, SearchFields, SearchQuery } from './query.ts'
import { type Entity, idOf, maxId, textOfValue } from './row.ts'

/**
 * Searches. No index finds a text inside another one, so a search reads rows in the order of their ids and compares them
 * here, in the same way for both databases. A call reads a part of the table and returns where the next one continues.
 */

/** The maximum number of rows that a call reads. Comparing values is faster than looking for words in a text. */
export const maxRead = { text: 7_500, value: 30_000 }
/** How many scans of one caller may wait, and for how many milliseconds. */
const [maxWaiting, maxWait] = [100, 15_000]

export interface Reads<T extends Table = Table> {
  get(id: bigint): Promise<Entity<T> | undefined>
  /** Each reads pages in one order, by any filters. */
  newest(query: { limit: number; cursor: bigint }): Promise<Entity<T>[]>
  oldest: Reads<T>['newest']
  /** The maximum number of rows that a search reads in one turn of the event loop. */
  step: number
  inTurn: ReturnType<typeof scanQueue>
}

/** Makes the method that searches a collection. The filters are the fields with an index. */
export function searchWith<T extends Table, F extends Names, S extends SearchFields>(
  filters: F,
  fields: SearchFields = {},
  reads: Reads<T>,
): (query: SearchQuery<T, F, S>, searcher?: Searcher) => Promise<Found<T>> {
  return async (query, searcher) => {
    const { id, order, cursor, limit } = query
    const given: Record<string, unknown> = query
    const wanted = [...new Set([...filters, ...Object.keys(fields)])].filter((name) => given[name] !== undefined)
    // The database filters by one field only: with two, it could read any number of rows until it finds a page of them.
    const indexed = wanted.find((name) => filters.includes(name) && fields[name] !== 'text')
    const tests = wanted.map((name) => testOf(name, given[name], fields[name] === 'text'))
    const matches = (row: object) => tests.every((test) => test(row))
    const isScan = wanted.some((name) => name !== indexed)
    const limitOfCall = maxRead[wanted.some((name) => fields[name] === 'text') ? 'text' : 'value']
    const filter = indexed === undefined ? {} : { [indexed]: given[indexed] }

    async function read(step: number): Promise<Found<T>> {
      const items: Entity<T>[] = []
      let [searched, next] = [0, cursor]
      while (searched < limitOfCall) {
        // Lets the event loop run the lists and gets that have arrived.
        if (isScan) await setImmediate()
        searcher?.signal.throwIfAborted()
        const size = Math.min(step, limitOfCall - searched)
        const from = order === 'newest' ? (next ?? maxId + 1n) - 1n : (next ?? 0n)
        const rows = await reads[order]({ ...filter, cursor: from, limit: size })
        for (const row of rows) {
          searched++
          if (matches(row)) items.push(row)
          if (items.length === limit) return { items, searched, next: idOf(row) }
        }
        const last = rows.at(-1)
        if (!last || rows.length < size) return { items, searched }
        next = idOf(last)
      }
      return { items, searched, next }
    }

    if (id === undefined) return isScan ? reads.inTurn(searcher?.id, () => read(reads.step)) : read(limit)
    const isOnPage = cursor === undefined || (order === 'newest' ? id < cursor : id > cursor)
    const row = isOnPage ? await reads.get(id) : undefined
    return { items: row && matches(row) ? [row] : [], searched: row ? 1 : 0 }
  }
}

/** Makes the queue of a store. Scans run one after the other, so that many take no more of the event loop than one does. */
export function scanQueue() {
  /** The waiting scans of each caller. Callers take turns (round-robin), and the first one is next. */
  const waiting = new Map<unknown, (() => Promise<unknown>)[]>()
  let isScanning = false

  async function inTurn<T>(caller: unknown, scan: () => Promise<T>): Promise<T> {
    const queue = waiting.get(caller) ?? []
    if (queue.length >= maxWaiting)
      throw new TooManySearches('Too many searches of this caller wait. Await their results before you search again.')
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    function run() {
      clearTimeout(timer)
      const result = scan()
      resolve(result)
      return result.catch(() => {})
    }
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(run), 1)
      reject(new TooManySearches('The searches before this one take too long. Try again later.'))
    }, maxWait)
    queue.push(run)
    waiting.set(caller, queue)
    if (!isScanning) void scanAll()
    return promise
  }

  async function scanAll(): Promise<void> {
    isScanning = true
    for (let [next] = waiting; next; [next] = waiting) {
      const [caller, queue] = next
      const scan = queue.shift()
      // The caller moves to the end of the round.
      waiting.delete(caller)
      if (queue.length > 0) waiting.set(caller, queue)
      await scan?.()
    }
    isScanning = false
  }

  return inTurn
}

/** Makes the test of a field: a text must contain the words, and any other field must have the value. */
function testOf(field: string, value: unknown, isText: boolean): (row: object) => boolean {
  const words = isText ? wordsOf(String(value)) : []
  const wanted = textOfValue(value)
  return (row) => {
    const actual: unknown = Reflect.get(row, field)
    return isText ? actual !== undefined && hasWords(String(actual), words) : textOfValue(actual) === wanted
  }
}
