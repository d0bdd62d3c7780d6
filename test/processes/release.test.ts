import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { root } from '../support/documents.ts'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

type Break = (folder: string) => void

test.for([
  [
    'a forgotten version',
    'names the version names that of package.json',
    replaceIn('client/package.json', version, '0.0.0'),
  ],
  ['a forgotten changelog entry', 'CHANGELOG.md', replaceIn('CHANGELOG.md', `## ${version} - `, '## 0.0.0 - ')],
  ['an extra packed file', 'engine/store/extra.js', append('engine/store/extra.ts', '')],
  [
    'a changed document',
    'npm run openapi:update updates it',
    replaceIn('server/pets/pets.ts', "summary: 'List", "summary: 'Show"),
  ],
  ['a broken link', 'no-such-page.md', append('CONTRIBUTING.md', '\n[page](docs/no-such-page.md)\n')],
  [
    'an example that does not compile',
    'examples/script.ts',
    append('examples/script.ts', "\nconst id: bigint = '1'\n"),
  ],
] as [mistake: string, message: string, Break][])('npm run release:check reports %s', async ([, message, breakIt]) => {
  const folder = copyOfRepository()
  breakIt(folder)
  // With the settings of npm for the registry, which may be variables. Safe: no value of process.env is undefined.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` } as Record<string, string>
  const run = runCommand(['npm', 'run', 'release:check'], { folder, env })
  expect(await run.ended, run.stdout).not.toBe(0)
  expect(run.stdout + run.stderr).toContain(message)
})

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

  replaceIn('server/openapi.json', 'List', 'Show')(folder)
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

function append(path: string, text: string): Break {
  return (folder) => appendFileSync(join(folder, path), text)
}

function replaceIn(path: string, from: string, to: string): Break {
  return (folder) => {
    const file = join(folder, path)
    const text = readFileSync(file, 'utf8')
    expect(text).toContain(from)
    writeFileSync(file, text.replace(from, to))
  }
}
