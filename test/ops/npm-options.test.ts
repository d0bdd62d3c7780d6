import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { refuseOptionsTakenByNpm } from '../../server/cli/npm-options.ts'
import { createProgram } from '../../server/cli/program.ts'
import { composition } from '../../server/composition.ts'
import { UsageError } from '../../server/ops/operator-error.ts'
import { root } from '../support/documents.ts'
import { type Run, runCommand } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

const program = createProgram(composition)
const byNpm = { npm_lifecycle_event: 'petstore' }

test('a command that npm runs is refused if npm took an option of it, and nothing is done', async () => {
  const folder = temporaryFolder()
  const refused = runByNpm(folder, ['db', 'migrate', '--dry-run'])
  expect([await refused.ended, refused.stdout, refused.stderr]).toEqual([
    2,
    '',
    'Nothing was done, because these options went to npm: --dry-run. Use npx, which passes all options on: npx petstore db migrate --dry-run\n',
  ])
  expect(existsSync(join(folder, 'data'))).toBe(false)
  const passedOn = runByNpm(folder, ['--', 'db', 'migrate', '--dry-run'])
  expect([await passedOn.ended, passedOn.stderr]).toEqual([0, ''])
  expect(passedOn.stdout).toContain('-- 0000_init')
})

test('npx passes the options on', async () => {
  const run = runCommand(['npx', 'petstore', 'config', 'check', '--help'], { folder: root })
  expect([await run.ended, run.stderr]).toEqual([0, ''])
  expect(run.stdout).toMatch(/^Usage: petstore config check /)
})

test('every option of every command is noticed when npm takes it', () => {
  const options = optionsIn(program)
  expect(options.length).toBeGreaterThan(15)
  for (const { words, flag, value } of options) {
    const env = { ...byNpm, [`npm_config_${flag.slice(2).replaceAll('-', '_')}`]: value }
    const refuse = () => refuseOptionsTakenByNpm(program, words, env)
    expect(refuse, `${words.join(' ')} ${flag}`).toThrow(UsageError)
    expect(refuse).toThrow(`npx petstore ${words.join(' ')} ${flag}`)
  }
})

test.for<[string[], Record<string, string>, string]>([
  [['keys', 'create', 'x'], { npm_config_expires: '90' }, 'npx petstore keys create x --expires 90'],
  // npm passes the value on as an argument.
  [['pets', 'export', 'csv'], { npm_config_format: 'true' }, 'npx petstore pets export … --format <format>'],
  [['config'], { npm_config_json: 'true' }, 'npx petstore config --json'],
  [
    ['pets', 'import', 'a.csv'],
    { npm_config_dry_run: 'true', npm_config_skip_invalid: 'true' },
    'npx petstore pets import a.csv --dry-run --skip-invalid',
  ],
])('the message for %j with %j shows the right command', ([words, env, command]) => {
  expect(() => refuseOptionsTakenByNpm(program, words, { ...byNpm, ...env })).toThrow(
    new RegExp(`: ${RegExp.escape(command)}$`),
  )
})

test.for<[string, string[], Record<string, string>]>([
  ['an option of another command', ['backup'], { ...byNpm, npm_config_format: 'csv', npm_config_force: 'true' }],
  ['an option that was passed on, too', ['keys', 'list', '--json'], { ...byNpm, npm_config_json: 'true' }],
  ['an option that npm was told to leave out', ['db', 'migrate'], { ...byNpm, npm_config_dry_run: 'false' }],
  ['a variable that npm leaves empty', ['db', 'migrate'], { ...byNpm, npm_config_dry_run: '' }],
  ['npx', ['keys', 'list'], { npm_lifecycle_event: 'npx', npm_config_json: 'true' }],
  ['no npm', ['keys', 'list'], { npm_config_json: 'true' }],
])('%s does not matter', ([, words, env]) => {
  expect(() => refuseOptionsTakenByNpm(program, words, env)).not.toThrow()
})

function runByNpm(folder: string, words: string[]): Run {
  // npm runs the command in the checkout, which may have a database.
  const env = { DATABASE_URL: `file:${join(folder, 'data/petstore.db')}` }
  return runCommand(['npm', 'run', '--silent', '--prefix', root, 'petstore', ...words], { folder, env })
}

/** Each option of the commands without subcommands, and a value that npm sets for it. */
function optionsIn(command: Command, words: string[] = []): { words: string[]; flag: string; value: string }[] {
  const own = command.options.map(({ long, required }) => ({
    words,
    flag: String(long),
    value: required ? '7' : 'true',
  }))
  const below = command.commands.flatMap((each) => optionsIn(each, [...words, each.name()]))
  return below.length > 0 ? below : own
}
