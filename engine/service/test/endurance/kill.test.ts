import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  changedRows,
  createFirstKey,
  expectAsAcknowledged,
  startChanges,
  startServer,
} from '../../../test/notes/fixtures.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { isLongForm, report } from '../../../test/support/long-form.ts'
import { connectRestClient } from '../../../test/support/rest-client.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

const kills = isLongForm ? 50 : 20

test(`after ${kills} kills during calls that clients retry until they succeed, each note is as acknowledged, exactly once`, async () => {
  const folder = temporaryFolder()
  const [key, port] = [await createFirstKey(folder), await freePort()]
  const env = { PORT: String(port) }
  const load = startChanges({
    writers: 16,
    hasKeys: true,
    connect: () => connectRestClient(`http://127.0.0.1:${port}`, key),
  })
  const startTimes: number[] = []
  for (let round = 0; round < kills; round++) {
    const begin = performance.now()
    const server = await startServer({ folder, env })
    startTimes.push(Math.round(performance.now() - begin))
    const enough = load.calls + 60 + round * 7
    while (load.calls < enough) await Promise.race([wait(1), load.ended])
    server.child.kill('SIGKILL')
    await server.ended
  }
  await startServer({ folder, env })
  await load.stop()

  const database = openDatabase(join(folder, 'data/notes.db'))
  const figures = expectAsAcknowledged(load, database.prepare<[], object>(changedRows).all())
  expect(figures.rows - figures.stored).toBeGreaterThan(kills)
  // Each call that took effect has left its key.
  expect(database.prepare('SELECT count(*) FROM idempotency_keys').pluck().get()).toBe(load.calls)
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(load.replayed).toBeGreaterThan(0)
  const [median, longest] = [startTimes.toSorted((a, b) => a - b)[kills / 2], Math.max(...startTimes)]
  expect(median).toBeLessThan(20_000)
  report('SIGKILL under 16 writers', { kills, ...figures, median, longest })
}, 600_000)
