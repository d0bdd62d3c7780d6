import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isLongForm, report } from '../../engine/test/support/long-form.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { makeDatabase, runToEnd, startServer, textsIn } from '../support/petstore.ts'

const pets = isLongForm ? 1_000_000 : 20_000
/** Seconds, for a small database on a busy machine. */
const maxTime = 120

test('a backup is made, verified and restored on another machine within minutes', async () => {
  const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()]
  const database = makeDatabase(join(folder, 'data/petstore.db'), pets)
  const backup = join(elsewhere, 'copy.db')
  const figures = {
    backup: await secondsOf(() => run(folder, 'backup', backup)),
    verify: await secondsOf(() => run(elsewhere, 'backup', 'verify', backup)),
    restore: await secondsOf(() => run(elsewhere, 'restore', backup)),
    start: await secondsOf(() => startServer({ folder: elsewhere })),
  }
  report('recovery', { pets, mebibytes: Math.round(statSync(database).size / 2 ** 20), ...figures })
  expect(textsIn(join(elsewhere, 'data/petstore.db')).length).toBe(pets)
  for (const [step, seconds] of Object.entries(figures)) expect(seconds, step).toBeLessThan(maxTime)
})

const run = (folder: string, ...words: string[]) => runToEnd({ folder, arguments: words })

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return Math.round((performance.now() - begin) / 100) / 10
}
