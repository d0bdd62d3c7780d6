import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyEngines } from '../support/copied-engines.ts'
import { root } from '../support/documents.ts'

/** Milliseconds. The suite takes a minute or two on a quiet machine. */
const timeLimit = 900_000

test.for([
  ['engine/test', 1_000],
  ['engine/console/test/browser', 1],
] as const)('the tests in %s pass in another product', { timeout: timeLimit }, ([path, least]) => {
  const words = ['run', '--config', `${path}/vitest.config.ts`, '--reporter', 'dot']
  const run = spawnSync(join(root, 'node_modules/.bin/vitest'), words, {
    cwd: copyEngines(),
    encoding: 'utf8',
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
  })
  expect(run.status, run.stdout + run.stderr).toBe(0)
  expect(Number(/Tests\D+(\d+) passed/.exec(run.stdout)?.[1])).toBeGreaterThan(least)
})
