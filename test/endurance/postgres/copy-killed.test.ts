import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { addingRows } from '../../support/petstore.ts'
import { addingKeys, fill, kinds, newDatabases, specOf, startCopy } from '../../support/postgres/copies.ts'

test.for(kinds)(
  'a copy into %s whose process is killed four times leaves the target empty or complete',
  async (kind) => {
    const { from, to } = await newDatabases(kind === 'sqlite' ? 'postgres' : 'sqlite', kind)
    const [folder, count, kills] = [temporaryFolder(), 10_000, 4]
    const signals: unknown[] = []
    await fill(from, addingRows(count, 'pet'), addingKeys(1))
    let length = 0
    for (let round = 0; round <= kills; round++) {
      await fill(to, 'DELETE FROM pets', 'DELETE FROM api_keys')
      const begin = performance.now()
      const run = startCopy(folder, specOf(from), specOf(to))
      // The first round measures how long a copy takes. The kills of the other rounds are spread over that time.
      await Promise.race([
        run.ended,
        round > 0 ? wait((length * (round - Math.random() / 2)) / (kills + 1)) : run.ended,
      ])
      run.child.kill('SIGKILL')
      signals.push(await run.ended)
      if (round === 0) length = performance.now() - begin
      const found = (await to.rows('pets')).length
      expect([0, count]).toContain(found)
      expect(await to.rows('api_keys')).toHaveLength(found / count)
    }
    expect(signals[0]).toBe(0)
    expect(signals).toContain('SIGKILL')
  },
)
