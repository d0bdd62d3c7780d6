import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import type { RestClient } from './rest-client.ts'
import type { SampleRow } from './tested.ts'

/** Callers that create, change and remove rows, and the comparison of what was acknowledged with what is stored. */

/** The number of changes of a row, or that it was removed. */
export type State = number | 'removed'

export interface Row {
  text: string
  /** Both columns are set by each change, so that half of one would show. */
  integer: number
  choice: string
}

/** Every third row is changed once, every third one twice, and every fourth one is removed at last. Its text says what. */
function textOf(writer: number, index: number, padding: number): string {
  const plan = `${index % 3}${index % 4 === 3 ? 'r' : ''}`
  return `${writer}-${index}:${plan}`.padEnd(padding, '.')
}

/** What may be stored if the row has been acknowledged in a state: this one, or the next one, which was not acknowledged yet. */
function nextStates(text: string, state: State): State[] {
  const [, changes = '', isRemoved] = /:(\d)(r?)/.exec(text) ?? []
  if (state === 'removed') return ['removed']
  const next = state < Number(changes) ? state + 1 : isRemoved ? 'removed' : state
  return [state, next]
}

export type Caller = Pick<RestClient, 'post'>

interface LoadOptions {
  writers: number
  connect: () => Caller
  /** Whether each call has an idempotency key. Otherwise a call that failed must not have taken effect. */
  hasKeys: boolean
  /** The length of a text. */
  padding?: number
  /** Total number of rows, after which the load ends. */
  rows?: number
}

export function changesFixtures({ table, word, text, integer, choice }: SampleRow) {
  const choiceOf = (state: number) => choice.values[state % choice.values.length]
  const fieldsOf = (state: number) => ({ [integer.field]: state, [choice.field]: choiceOf(state) })

  /**
   * Counts the rows that are not stored as they were acknowledged.
   *
   * @param isEnded whether every call was acknowledged
   */
  function compareChanges(acknowledged: Map<string, State>, rows: Row[], isEnded: boolean) {
    const stored = new Map(rows.map((row) => [row.text, row]))
    const result = { lost: 0, undone: 0, half: 0, doubled: rows.length - stored.size }
    for (const [text, state] of acknowledged) {
      const row = stored.get(text)
      const allowed = isEnded ? [state] : nextStates(text, state)
      if (!row) result.lost += allowed.includes('removed') ? 0 : 1
      else if (row.choice !== choiceOf(row.integer)) result.half++
      else if (!allowed.includes(row.integer)) result.undone++
    }
    return result
  }

  /** Expects that each row is stored as it was acknowledged, exactly once. Returns figures for a report. */
  function expectAsAcknowledged({ acknowledged, calls, replayed }: ReturnType<typeof startChanges>, found: object[]) {
    // Safe: the statement selects these columns.
    const compared = compareChanges(acknowledged, found as Row[], true)
    expect(compared).toEqual({ lost: 0, undone: 0, half: 0, doubled: 0 })
    const kept = [...acknowledged.values()].filter((state) => state !== 'removed')
    expect(found).toHaveLength(kept.length)
    return { rows: acknowledged.size, stored: kept.length, calls, replayed, ...compared }
  }

  /** Starts callers. Each repeats a call that fails with 503 or without a response until it succeeds. Another failure ends the load. */
  function startChanges({ writers, connect, hasKeys, padding = 0, rows = Number.POSITIVE_INFINITY }: LoadOptions) {
    const acknowledged = new Map<string, State>()
    const statuses = new Map<number, number>()
    const load = { acknowledged, statuses, calls: 0, replayed: 0, withoutRetryAfter: 0, stop, ended: Promise.resolve() }
    let [isStopping, started] = [false, 0]

    async function send(caller: Caller, path: string, body: object, key: string): Promise<string> {
      for (;;) {
        const headers: Record<string, string> = hasKeys ? { 'idempotency-key': key } : {}
        const response = await caller.post(path, body, headers).catch(() => undefined)
        const { status = 0, text = '' } = response ?? {}
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (response && status < 300) {
          load.calls++
          if (response.headers['idempotency-replayed']) load.replayed++
          return text
        }
        if (response && status !== 503) throw new Error(`${path} ${key}: ${status} ${text}`)
        if (response && response.headers['retry-after'] === undefined) load.withoutRetryAfter++
        await wait(10)
      }
    }

    async function live(caller: Caller, own: string): Promise<void> {
      const created = await send(caller, `/v1/${table}`, { [text]: own, ...fieldsOf(0) }, own)
      const [, id = ''] = /"id":(\d+)/.exec(created) ?? []
      acknowledged.set(own, 0)
      for (let state: State = 0; ; ) {
        const next: State = nextStates(own, state).at(-1) ?? state
        if (next === state) return
        await send(caller, ...callTo(id, state, next), `${own}/${next}`)
        acknowledged.set(own, next)
        if (next === 'removed') return
        state = next
      }
    }

    async function write(writer: number): Promise<void> {
      const caller = connect()
      for (let index = 0; !isStopping && started++ < rows; index++) await live(caller, textOf(writer, index, padding))
    }
    load.ended = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).then(() => {})

    async function stop(): Promise<void> {
      isStopping = true
      await load.ended
    }
    return load
  }

  /** The path and the body of the RPC call that leads a row from one state to the next one. */
  function callTo(id: string, state: number, next: State): [path: string, body: object] {
    const textsOf = (of: number) => ({ ...fieldsOf(of), [integer.field]: String(of) })
    const annotations = { [`${word}Id`]: ['bigint'], [`expected.${integer.field}`]: ['bigint'] }
    const named = { [`${word}Id`]: id, expected: textsOf(state) }
    if (next === 'removed') return [`/trpc/${table}.remove`, { json: named, meta: { values: annotations } }]
    const values = { ...annotations, [integer.field]: ['bigint'] }
    return [`/trpc/${table}.update`, { json: { ...named, ...textsOf(next) }, meta: { values } }]
  }

  return {
    compareChanges,
    expectAsAcknowledged,
    startChanges,
    /** Selects the rows of these callers, without those of others. */
    changedRows: `
      SELECT ${text} AS text, CAST(${integer.column} AS integer) AS integer, ${choice.field} AS choice
      FROM ${table} WHERE ${text} LIKE '%:%'`,
  }
}
