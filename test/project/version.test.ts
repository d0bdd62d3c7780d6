import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createProgram } from '../../engine/service/commands/program.ts'
import manifest from '../../package.json' with { type: 'json' }
import { filesMatching, read, root } from '../support/documents.ts'
import { service } from '../support/petstore.ts'

const { version } = manifest

test('every place that names the version names that of package.json', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  const named = {
    'client/package.json': JSON.parse(read('client/package.json')).version,
    'package-lock.json': packages[''].version,
    'package-lock.json, client': packages.client.version,
    '--version': createProgram(service).version(),
    'CHANGELOG.md': newestIn('CHANGELOG.md'),
    'engine/CHANGELOG.md': newestIn('engine/CHANGELOG.md'),
  }
  expect(named).toEqual(Object.fromEntries(Object.keys(named).map((place) => [place, version])))
  const files = [
    ...filesMatching('deploy/**/*.{yaml,service}'),
    ...filesMatching('{README,{docs,client,deploy}/**/*}.md'),
  ]
  const texts = files.flatMap((path) =>
    [...read(path).matchAll(/(?:petstore(?:-service|-client)?[:@-])v?(\d+\.\d+\.\d+)/g)].map(([text, found]) => ({
      path,
      text,
      found,
    })),
  )
  expect(texts.length).toBeGreaterThan(4)
  expect(texts.filter(({ found }) => found !== version)).toEqual([])
})

test('the changelog says what is new in this version', () => {
  const [, section = ''] = read('CHANGELOG.md').split(new RegExp(`^## ${RegExp.escape(version)} - .*$`, 'm'))
  expect(section.split(/^## /m)[0]).toMatch(/^### (?:Changed|Added|Fixed|Removed|Security)\n\n- /m)
})

/** The file is not written for a version that is released, which has a tag. */
test('the schema, the document and the command line are those that npm run release:update has written', async () => {
  const current = {
    version,
    schema: hashOf(filesMatching('db/migrations/*/*.sql').map(read)),
    document: hashOf([read('server/openapi.json')]),
    commandLine: hashOf(helpOf(createProgram(service))),
  }
  const tags = spawnSync('git', ['tag', '--list', `v${version}`], { cwd: root, encoding: 'utf8' })
  if (tags.stdout) {
    const message = `Version ${version} is released: set a new version, and describe the change in CHANGELOG.md.`
    expect(current, message).toEqual(JSON.parse(read('deploy/release.json')))
  } else {
    await expect(`${JSON.stringify(current, undefined, 2)}\n`).toMatchFileSnapshot('../../deploy/release.json')
  }
})

/** The newest version of a changelog. */
function newestIn(changelog: string): string | undefined {
  return /^## (\d\S+) - (?:Unreleased|\d{4}-\d\d-\d\d)$/m.exec(read(changelog))?.[1]
}

function hashOf(texts: string[]): string {
  return createHash('sha256').update(texts.join('\0')).digest('hex')
}

/** The help of a command and of those below it. */
function helpOf(command: ReturnType<typeof createProgram>): string[] {
  return [command.helpInformation(), ...command.commands.flatMap(helpOf)]
}
