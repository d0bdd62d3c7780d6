import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { root } from '../support/documents.ts'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('a change after the release asks for a new version, and npm run release:update does not hide it', async () => {
  const folder = copyOfRepository()
  const commit = 'git -c user.name=test -c user.email=test@example.com commit --quiet --allow-empty --message=Release'
  execFileSync('sh', ['-c', `git init --quiet && ${commit} && git tag v${version}`], { cwd: folder })
  const update = async () => {
    const words = ['run', '--project', 'release', 'test/project/version.test.ts', '--update']
    const run = runCommand([process.execPath, 'node_modules/vitest/vitest.mjs', ...words], { folder })
    return { code: await run.ended, output: run.stdout + run.stderr }
  }
  const unchanged = await update()
  expect(unchanged.code, unchanged.output).toBe(0)

  const document = join(folder, 'server/openapi.json')
  writeFileSync(document, readFileSync(document, 'utf8').replace('List', 'Show'))
  const released = readFileSync(join(folder, 'deploy/release.json'), 'utf8')
  const changed = await update()
  expect(changed.code).not.toBe(0)
  expect(changed.output).toContain(`Version ${version} is released: set a new version`)
  expect(readFileSync(join(folder, 'deploy/release.json'), 'utf8')).toBe(released)
})

/** The files that Git knows, the built console, and a link to the dependencies. */
function copyOfRepository(): string {
  const folder = temporaryFolder()
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const path of String(listed).split('\0').filter(Boolean)) cpSync(join(root, path), join(folder, path))
  cpSync(join(root, 'web/dist'), join(folder, 'web/dist'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
