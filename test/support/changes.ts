import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { petStatuses } from '../../db/pets/rules.ts'
import type { RestClient } from '../../engine/test/support/rest-client.ts'

/** Callers that create, change and remove pets, and the comparison of what was acknowledged with what is stored. */

/** The number of changes of a pet, or that it was removed. */
export type State = number | 'removed'

export interface Row {
  name: string
  categoryId: number
  status: string
}

/** Every third pet is changed once, every third one twice, and every fourth one is removed at last. Its name says what. */
function nameOf(writer: number, index: number, padding: number): string {
  const plan = `${index % 3}${index % 4 === 3 ? 'r' : ''}`
  return `${writer}-${index}:${plan}`.padEnd(padding, '.')
}

/** What may be stored if the pet has been acknowledged in a state: this one, or the next one, which was not acknowledged yet. */
function nextStates(name: string, state: State): State[] {
  const [, changes = '', isRemoved] = /:(\d)(r?)/.exec(name) ?? []
  if (state === 'removed') return ['removed']
  const next = state < Number(changes) ? state + 1 : isRemoved ? 'removed' : state
  return [state, next]
}

/** A change sets both fields, so that half of one would show. */
function fieldsOf(state: number) {
  return { categoryId: state, status: petStatuses[state % petStatuses.length] }
}

/**
 * Counts the pets that are not stored as they were acknowledged.
 *
 * @param isEnded whether every call was acknowledged
 */
export function compareChanges(acknowledged: Map<string, State>, rows: Row[], isEnded: boolean) {
  const stored = new Map(rows.map((row) => [row.name, row]))
  const result = { lost: 0, undone: 0, half: 0, doubled: rows.length - stored.size }
  for (const [name, state] of acknowledged) {
    const row = stored.get(name)
    const allowed = isEnded ? [state] : nextStates(name, state)
    if (!row) result.lost += allowed.includes('removed') ? 0 : 1
    else if (row.status !== fieldsOf(row.categoryId).status) result.half++
    else if (!allowed.includes(row.categoryId)) result.undone++
  }
  return result
}

/** Selects the rows of these callers from a table of pets, without those of others. */
export const changedRows = `SELECT name, CAST(category_id AS integer) AS "categoryId", status FROM pets WHERE name LIKE '%:%'`

/** Expects that each pet is stored as it was acknowledged, exactly once. Returns figures for a report. */
export function expectAsAcknowledged(
  { acknowledged, calls, replayed }: ReturnType<typeof startChanges>,
  found: object[],
) {
  // Safe: the statement selects these columns.
  const compared = compareChanges(acknowledged, found as Row[], true)
  expect(compared).toEqual({ lost: 0, undone: 0, half: 0, doubled: 0 })
  const kept = [...acknowledged.values()].filter((state) => state !== 'removed')
  expect(found).toHaveLength(kept.length)
  return { pets: acknowledged.size, stored: kept.length, calls, replayed, ...compared }
}

export type Caller = Pick<RestClient, 'post'>

interface LoadOptions {
  writers: number
  connect: () => Caller
  /** Whether each call has an idempotency key. Otherwise a call that failed must not have taken effect. */
  hasKeys: boolean
  /** The length of a name. */
  padding?: number
  /** Total number of pets, after which the load ends. */
  pets?: number
}

/** Starts callers. Each repeats a call that fails with 503 or without a response until it succeeds. Another failure ends the load. */
export function startChanges({ writers, connect, hasKeys, padding = 0, pets = Number.POSITIVE_INFINITY }: LoadOptions) {
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

  async function live(caller: Caller, name: string): Promise<void> {
    const [, id = ''] = /"id":(\d+)/.exec(await send(caller, '/v1/pets', { name, ...fieldsOf(0) }, name)) ?? []
    acknowledged.set(name, 0)
    for (let state: State = 0; ; ) {
      const next: State = nextStates(name, state).at(-1) ?? state
      if (next === state) return
      await send(caller, ...callTo(id, state, next), `${name}/${next}`)
      acknowledged.set(name, next)
      if (next === 'removed') return
      state = next
    }
  }

  async function write(writer: number): Promise<void> {
    const caller = connect()
    for (let index = 0; !isStopping && started++ < pets; index++) await live(caller, nameOf(writer, index, padding))
  }
  load.ended = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).then(() => {})

  async function stop(): Promise<void> {
    isStopping = true
    await load.ended
  }
  return load
}

/** The path and the body of the RPC call that leads a pet from one state to the next one. */
function callTo(petId: string, state: number, next: State): [path: string, body: object] {
  const seen = fieldsOf(state)
  const expected = { ...seen, categoryId: String(seen.categoryId) }
  const annotations = { petId: ['bigint'], 'expected.categoryId': ['bigint'] }
  if (next === 'removed') return ['/trpc/pets.remove', { json: { petId, expected }, meta: { values: annotations } }]
  const { status, categoryId } = fieldsOf(next)
  const json = { petId, status, categoryId: String(categoryId), expected }
  return ['/trpc/pets.update', { json, meta: { values: { ...annotations, categoryId: ['bigint'] } } }]
}
