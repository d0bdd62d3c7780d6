import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyEngines } from '../support/copied-engines.ts'
import { root } from '../support/documents.ts'

/** Milliseconds. The suite takes a minute or two on a quiet machine. */
const timeLimit = 900_000

test('the tests of the engines pass in another product', { timeout: timeLimit }, () => {
  const words = ['run', '--config', 'engine/test/vitest.config.ts', '--reporter', 'dot']
  const run = spawnSync(join(root, 'node_modules/.bin/vitest'), words, {
    cwd: copyEngines(),
    encoding: 'utf8',
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
  })
  expect(run.status, run.stdout + run.stderr).toBe(0)
  expect(Number(/Tests\D+(\d+) passed/.exec(run.stdout)?.[1])).toBeGreaterThan(1_000)
})
