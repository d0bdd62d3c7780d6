import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyEngines } from '../support/copied-engines.ts'
import { root } from '../support/documents.ts'

test('the tests of the engines pass in another product', () => {
  const words = ['run', '--config', 'engine/test/vitest.config.ts', '--reporter', 'dot']
  const run = spawnSync(join(root, 'node_modules/.bin/vitest'), words, {
    cwd: copyEngines(),
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  expect(run.status, run.stdout + run.stderr).toBe(0)
  expect(Number(/Tests\D+(\d+) passed/.exec(run.stdout)?.[1])).toBeGreaterThan(1_000)
})
