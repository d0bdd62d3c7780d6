import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { maxInt64, minInt64 } from '../../service/api/int64.ts'
import type { NewApiKey } from '../../store/keys.ts'
import { type NewNote, states } from '../notes/tables.ts'
import { sqliteDatabase, testDatabase } from '../notes/tests.ts'
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
async function outcomeOf(subject: ModelledStore, ask: (subject: ModelledStore) => Promise<unknown>): Promise<unknown> {
  const result = await ask(subject).catch((error: Error) => error.name)
  return { result, keys: (await subject.apiKeys.list()).map(withoutId) }
}

/** PostgreSQL leaves gaps between the ids of API keys, so they are compared only by their order. */
function withoutId<T extends { id: bigint }>({ id: _, ...rest }: T): Omit<T, 'id'> {
  return rest
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

/** Returns the API key at this position, or undefined if there are no keys. */
async function keyAt({ apiKeys }: ModelledStore, place: number) {
  const keys = await apiKeys.list()
  return keys[place % keys.length]
}

const place = fc.nat(5)
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
const time = fc.date({ noInvalidDate: true, min: new Date('2000-01-01'), max: new Date('2100-01-01') })
const hash = fc.constantFrom(...'0123456789abcdef').map((digit) => digit.repeat(64))
const newKey: fc.Arbitrary<NewApiKey> = fc.record({
  name: fc.constantFrom('shop', 'till', 'vet'),
  start: fc.constant('note_ABCDEF'),
  hash: fc.stringMatching(/^[0-9a-f]{64}$/),
  createdAt: time,
  expiresAt: fc.option(time, { nil: undefined }),
  access: fc.constantFrom('read', 'write'),
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
const use = fc.tuple(fc.constantFrom('a', 'b', undefined), place)

/** The caller with its idempotency key, if the call has one. */
async function callerOf(subject: ModelledStore, [key, place]: [key: string | undefined, place: number]) {
  const owner = await keyAt(subject, place)
  return owner === undefined || key === undefined ? undefined : newCaller(key, owner.id)
}

const calls = [
  call('update', fc.tuple(change, use), async (subject, [input, use]) => {
    const caller = await callerOf(subject, use)
    return { note: await subject.notes.update(input, caller), isReplay: caller?.isReplay }
  }),
  call('remove', fc.tuple(seen, use), async (subject, [input, use]) => {
    const caller = await callerOf(subject, use)
    return { removed: await subject.notes.remove(input, caller), isReplay: caller?.isReplay }
  }),
  // Calls that arrive together may share a batch, in which they take effect in their order.
  call('together', fc.array(fc.tuple(fc.boolean(), change, use), { maxLength: 6 }), async (subject, inputs) => {
    const keys = await Promise.all(inputs.map(([, , use]) => callerOf(subject, use)))
    const settled = await Promise.allSettled(
      inputs.map(([isRemoval, { id, expected, set }], index) =>
        isRemoval
          ? subject.notes.remove({ id, expected }, keys[index])
          : subject.notes.update({ id, expected, set }, keys[index]),
      ),
    )
    return settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.name))
  }),
  call('create', note, ({ notes }, input) => notes.create(input)),
  call('createWithKey', fc.tuple(fewNotes, fc.constantFrom('a', 'b'), place), async (subject, [input, key, place]) => {
    const caller = await callerOf(subject, [key, place])
    if (!caller) return undefined
    return { note: await subject.notes.create(input, caller), isReplay: caller.isReplay }
  }),
  call('get', cursor, ({ notes }, id) => notes.get(id)),
  call('list', query, ({ notes }, input) => notes.list(input)),
  call('counts', fc.constant(undefined), ({ notes }) => notes.counts()),
  call('find', hash, async ({ apiKeys }, input) => (await apiKeys.find(input))?.name),
  call('createKey', newKey, async ({ apiKeys }, key) => withoutId(await apiKeys.create(key))),
  call('createFirst', newKey, ({ apiKeys }, key) => apiKeys.createFirst(key)),
  call('register', fc.tuple(newKey, hash), ({ apiKeys }, [key, hash]) => apiKeys.register({ ...key, hash })),
  call('revoke', fc.tuple(place, time), async (subject, [place, at]) => {
    const key = await keyAt(subject, place)
    return key && subject.apiKeys.revoke(key, at)
  }),
  call('rotate', fc.tuple(place, newKey), async (subject, [place, successor]) => {
    const key = await keyAt(subject, place)
    return key && subject.apiKeys.rotate(key, successor)
  }),
  call('touch', fc.tuple(place, time), async (subject, [place, at]) => {
    const key = await keyAt(subject, place)
    return key && subject.apiKeys.touch(key, at)
  }),
]
