import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { maxCommitTime } from '../../engine/store/sqlite/writer/writer.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { openFileStore } from '../support/petstore.ts'

const block = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

test.each([
  ['and committed before', 20],
  ['after', 0],
])(
  'a create that was sent %s the event loop was blocked for longer than a commit may take succeeds',
  async (_, microtasks) => {
    const store = openFileStore(join(temporaryFolder(), 'petstore.db'))
    await store.pets.create({ name: 'first', categoryId: 1n, status: 'sold' })
    // Timers run next.
    await nextTurn()
    const created = store.pets.create({ name: 'Rex', categoryId: 1n, status: 'sold' })
    // A write is sent in a microtask.
    for (let task = 0; task < microtasks; task++) await undefined
    block(maxCommitTime + 500)
    expect(await created).toMatchObject({ id: 2n })
  },
)
