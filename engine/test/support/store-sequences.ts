import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { sqliteDatabase, testDatabase } from '../notes/database.ts'
import { type NewNote, states } from '../notes/tables.ts'
import { newCaller } from './caller.ts'
import { type ModelledStore, openStoreModel } from './store-model.ts'
import { temporaryFolder } from './temporary.ts'

/** Runs random sequences of calls on SQLite, PostgreSQL and the model of the store, and compares every result. */
export async function compareStores(sequences: number): Promise<void> {
  const databases = [sqliteDatabase(join(temporaryFolder(), 'notes.db')), await testDatabase()]
  const stores = await Promise.all(databases.map((database) => database.open()))
  await fc.assert(
    fc
      .asyncProperty(fc.commands(calls, { maxCommands: 50, size: 'max' }), (sequence) =>
        fc.asyncModelRun(() => ({ model: openStoreModel(), real: stores }), sequence),
      )
      .beforeEach(async () => {
        await Promise.all(databases.map((database) => database.empty()))
      }),
    { numRuns: sequences },
  )
}

/** Compares errors by name, because only the name is part of the port. */
function outcomeOf(subject: ModelledStore, ask: (subject: ModelledStore) => Promise<unknown>): Promise<unknown> {
  return ask(subject).catch((error: Error) => error.name)
}

/** Calls of the Store port. Every store and the model must return the same result. */
function call<T>(name: string, input: fc.Arbitrary<T>, ask: (subject: ModelledStore, input: T) => Promise<unknown>) {
  return input.map(
    (value): fc.AsyncCommand<ModelledStore, ModelledStore[]> => ({
      check: () => true,
      async run(model, real) {
        const outcomes = [model, ...real].map((subject) => outcomeOf(subject, (each) => ask(each, value)))
        const [expected, ...seen] = await Promise.all(outcomes)
        for (const outcome of seen) expect(outcome).toEqual(expected)
      },
      toString: () => `${name}(${fc.stringify(value)})`,
    }),
  )
}

const [minInt64, maxInt64] = [-(2n ** 63n), 2n ** 63n - 1n]
const int64 = fc.oneof(fc.bigInt({ min: minInt64, max: maxInt64 }), fc.constantFrom(minInt64, maxInt64, 0n))
const state = fc.constantFrom(...states)
const note: fc.Arbitrary<NewNote> = fc.record({ body: fc.constantFrom('Ann', '𝒳'), priority: int64, state })
const fewNotes: fc.Arbitrary<NewNote> = fc.record({
  body: fc.constantFrom('Ann', 'Bea'),
  priority: fc.constant(7n),
  state: fc.constant('done'),
})
const cursor = fc.oneof(fc.bigInt({ min: 0n, max: 20n }), int64)
const query = fc.record({
  limit: fc.integer({ min: 1, max: 100 }),
  cursor,
  state: fc.option(state, { nil: undefined }),
})
const noteId = fc.bigInt({ min: 1n, max: 5n })
const some = fc.record(
  {
    body: fc.constantFrom('Ann', 'Bea', '𝒳'),
    priority: fc.constantFrom(7n, maxInt64),
    state: fc.option(state, { nil: undefined }),
  },
  { requiredKeys: [] },
)
const seen = fc.record({ id: noteId, expected: fc.oneof(fc.constant({}), some) })
const change = fc.tuple(seen, some).map(([row, set]) => ({ ...row, set }))
/** The caller of a call, some with an idempotency key. */
const use = fc.option(fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom(1n, 2n)), { freq: 2, nil: undefined })

function callerOf(use: [key: string, owner: bigint] | undefined) {
  return use && newCaller(...use)
}

const calls = [
  call('update', fc.tuple(change, use), async (subject, [input, use]) => {
    const caller = callerOf(use)
    return { note: await subject.notes.update(input, caller), isReplay: caller?.isReplay }
  }),
  call('remove', fc.tuple(seen, use), async (subject, [input, use]) => {
    const caller = callerOf(use)
    return { removed: await subject.notes.remove(input, caller), isReplay: caller?.isReplay }
  }),
  // Calls that arrive together may share a batch, in which they take effect in their order.
  call('together', fc.array(fc.tuple(fc.boolean(), change, use), { maxLength: 6 }), async (subject, inputs) => {
    const settled = await Promise.allSettled(
      inputs.map(([isRemoval, { id, expected, set }, use]) =>
        isRemoval
          ? subject.notes.remove({ id, expected }, callerOf(use))
          : subject.notes.update({ id, expected, set }, callerOf(use)),
      ),
    )
    return settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.name))
  }),
  call('create', note, ({ notes }, input) => notes.create(input)),
  call('createWithKey', fc.tuple(fewNotes, use), async (subject, [input, use]) => {
    const caller = callerOf(use)
    return { note: await subject.notes.create(input, caller), isReplay: caller?.isReplay }
  }),
  call('get', cursor, ({ notes }, id) => notes.get(id)),
  call('list', query, ({ notes }, input) => notes.list(input)),
  call('counts', fc.constant(undefined), ({ notes }) => notes.counts()),
]
