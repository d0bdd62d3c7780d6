import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  changedRows,
  createFirstKey,
  expectAsAcknowledged,
  runProgram,
  startChanges,
} from '../../../test/notes/fixtures.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { isLongForm, report } from '../../../test/support/long-form.ts'
import { connectRestClient } from '../../../test/support/rest-client.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

const kills = isLongForm ? 50 : 20
const writers = 16

test(`after ${kills} kills during calls that clients retry until they succeed, each note is as acknowledged, exactly once`, async () => {
  const folder = temporaryFolder()
  const [key, port] = [await createFirstKey(folder), await freePort()]
  const load = startChanges({
    writers,
    hasKeys: true,
    connect: () => connectRestClient(`http://127.0.0.1:${port}`, key),
  })
  const startTimes: number[] = []
  for (let round = 0; round < kills; round++) {
    const { server, milliseconds } = await startUntilReady(folder, port)
    startTimes.push(milliseconds)
    const enough = load.calls + 60 + round * 7
    while (load.calls < enough) await Promise.race([wait(1), load.ended])
    server.child.kill('SIGKILL')
    await server.ended
  }
  await startUntilReady(folder, port)
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

/** Measures the milliseconds from the start of the process until /readyz responds 200. */
async function startUntilReady(folder: string, port: number) {
  const start = performance.now()
  const server = runProgram({ folder, env: { PORT: String(port), LOG_LEVEL: 'error' } })
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (response?.status === 200) return { server, milliseconds: Math.round(performance.now() - start) }
    if (server.child.exitCode !== null) throw new Error(server.stderr)
    await wait(10)
  }
}
