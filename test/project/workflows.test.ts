import { spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { filesMatching, read, root } from '../support/documents.ts'

interface Job {
  permissions?: Record<string, string>
  steps: { uses?: string; run?: string; env?: Record<string, string>; with?: Record<string, string | number> }[]
}

const workflows = filesMatching('.github/workflows/*.yml').map((path) => {
  const { permissions, jobs }: { permissions: Record<string, string>; jobs: Record<string, Job> } = parse(read(path))
  return { path, permissions, jobs: Object.entries(jobs) }
})
const release = workflows.find(({ path }) => path.endsWith('/release.yml'))
const steps = workflows.flatMap(({ jobs }) => jobs.flatMap(([, job]) => job.steps))

test('each job of the release has only the permissions that it uses', () => {
  expect(release?.permissions).toEqual({})
  expect(Object.fromEntries(release?.jobs.map(([name, { permissions }]) => [name, permissions]) ?? [])).toEqual({
    check: { contents: 'read' },
    image: { contents: 'read', packages: 'write' },
    publish: { 'id-token': 'write', attestations: 'write' },
    release: { contents: 'write' },
  })
})

test('the jobs of the release that may write run no script of the repository and install nothing', () => {
  const writing = release?.jobs.filter(([, { permissions = {} }]) => Object.values(permissions).includes('write')) ?? []
  const commands = writing.flatMap(([, job]) => job.steps.flatMap(({ run = '' }) => run))
  expect(commands.join('\n')).toContain('npm publish')
  expect(commands.filter((run) => /npm (?:ci|install|run|exec)|npx|\.ci\/|node /.test(run))).toEqual([])
})

test('the workflows use only actions of GitHub, by their major version', () => {
  const used = steps.flatMap(({ uses }) => uses ?? [])
  expect(used.length).toBeGreaterThan(5)
  expect(used.filter((uses) => !/^actions\/[\w-]+@v\d+$/.test(uses))).toEqual([])
})

test('no script of a workflow contains an expression, which could inject code or log a secret', () => {
  expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([])
  const secrets = steps.flatMap(({ env = {} }) => Object.values(env).filter((value) => value.includes('secrets.')))
  expect(secrets.map((value) => value.replaceAll(/[${} ]/g, ''))).toEqual(['secrets.NPM_TOKEN'])
})

test('the text of the release is the section of the version in the changelog', () => {
  const { stdout, stderr } = notes(root)
  expect(stderr).toBe('')
  expect(read('CHANGELOG.md')).toContain(stdout.trim())
  expect(stdout).toMatch(/^(?:### |- |\w)/)
  expect(stdout).not.toMatch(/^## /m)
})

test.for([
  ['v2.1.0', '2.1.0 - 2026-12-01', 'New.\n', ''],
  ['v2.1.0', '2.1.0 - Unreleased', '', 'CHANGELOG.md has no date for 2.1.0.\n'],
  ['v2.0.0', '2.1.0 - 2026-12-01', '', 'The tag v2.0.0 is not v2.1.0, the version of package.json.\n'],
] as const)(
  'for the tag %s and the section "%s" of the changelog, the release prints "%s%s"',
  ([tag, title, ...printed]) => {
    const folder = temporaryFolder()
    cpSync(join(root, 'deploy/release'), join(folder, 'deploy/release'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module", "version": "2.1.0" }')
    writeFileSync(join(folder, 'CHANGELOG.md'), `# Changelog\n\n## ${title}\n\nNew.\n\n## 2.0.0 - 2026-11-30\n\nOld.\n`)
    const { status, stdout, stderr } = notes(folder, tag)
    expect([status, stdout, stderr]).toEqual([printed[1] === '' ? 0 : 1, ...printed])
  },
)

function notes(folder: string, ...words: string[]) {
  const script = join(folder, 'deploy/release/notes.ts')
  return spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' })
}
