import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyEngines } from '../support/copied-engines.ts'
import { root } from '../support/documents.ts'

/** Milliseconds. The suite takes a minute or two on a quiet machine. */
const timeLimit = 900_000

test.for([
  { path: 'engine/test', files: [], least: 1_000 },
  // One of them stands for the others, which take minutes.
  { path: 'engine/console/test/browser', files: ['notes.test'], least: 2 },
])('the tests in $path pass in another product', { timeout: timeLimit }, ({ path, files, least }) => {
  const words = ['run', ...files, '--config', `${path}/vitest.config.ts`, '--reporter', 'dot']
  const { PATH, CHROMIUM_PATH } = process.env
  const run = spawnSync(join(root, 'node_modules/.bin/vitest'), words, {
    cwd: copyEngines({ withConsole: true, withTests: true }),
    encoding: 'utf8',
    env: { PATH, CHROMIUM_PATH, NO_COLOR: '1' },
  })
  expect(run.status, run.stdout + run.stderr).toBe(0)
  expect(Number(/Tests\D+(\d+) passed/.exec(run.stdout)?.[1])).toBeGreaterThanOrEqual(least)
})
