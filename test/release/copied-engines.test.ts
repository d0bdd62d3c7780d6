import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyEngines } from '../support/copied-engines.ts'
import { root } from '../support/documents.ts'

/** Milliseconds. The suite takes a minute or two on a quiet machine. */
const timeLimit = 900_000

test.for([
  { path: 'engine/test', chosen: ['--project=!endurance'], least: 1_000 },
  // Two files stand for the others, which take minutes.
  { path: 'engine/test', chosen: ['--project=endurance', 'endurance/restart', 'endurance/commits'], least: 2 },
  { path: 'engine/console/test/browser', chosen: ['notes.test'], least: 2 },
])('the tests in $path pass in another product: $chosen', { timeout: timeLimit }, ({ path, chosen, least }) => {
  const words = ['run', ...chosen, '--config', `${path}/vitest.config.ts`, '--reporter', 'dot']
  const { PATH, CHROMIUM_PATH } = process.env
  const run = spawnSync(join(root, 'node_modules/.bin/vitest'), words, {
    cwd: copyEngines({ withConsole: true, withTests: true }),
    encoding: 'utf8',
    env: { PATH, CHROMIUM_PATH, NO_COLOR: '1' },
  })
  expect(run.status, run.stdout + run.stderr).toBe(0)
  expect(Number(/Tests\D+(\d+) passed/.exec(run.stdout)?.[1])).toBeGreaterThanOrEqual(least)
})
