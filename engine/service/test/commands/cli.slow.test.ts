import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { openFileStore } from '../../../test/notes/database.ts'
import { commandLine, runProgram, service, startServer, variableNames } from '../../../test/notes/fixtures.ts'
import { commandsOf } from '../../../test/support/commands.ts'
import { notesIn } from '../../../test/support/log-lines.ts'
import { runCommand } from '../../../test/support/process.ts'
import { startServer as startSlowServer } from '../../../test/support/slow-server.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { createProgram } from '../../commands/program.ts'

describe('the help', () => {
  const commands = commandsOf(createProgram(service)).map(({ command }) => command)

  test('of every command has a description, an example, and the variables that it reads', () => {
    expect(commands.length).toBeGreaterThan(10)
    for (const command of commands) {
      const help = helpOf(command)
      expect(help).toMatch(/\nExamples:\n {2}\$ .*notes/)
      expect(command.description(), help).not.toBe('')
      if (!/db copy|backup verify \[/.test(help))
        expect(help).toMatch(/\nEnvironment variables:\n {2}[A-Z_]+ {2,}[a-z]/)
    }
  })

  test('has only examples that name commands and options that exist', () => {
    const examples = [helpOf(createProgram(service)), ...commands.map(helpOf)]
      .join('')
      .matchAll(/^ {2}\$ (?:[A-Z_]+=\S+ )?notes ?(.*)$/gm)
    const calls = [...examples].map(([, call = '']) => call.split(' ').filter((word) => word !== ''))
    expect(calls.length).toBeGreaterThan(10)
    for (const words of calls) {
      const { command, rest } = find(createProgram(service), words)
      const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0
      expect(!isGroup || rest.length === 0, words.join(' ')).toBe(true)
      const known = command.options.map(({ long }) => long)
      for (const option of rest.filter((word) => word.startsWith('--') && word !== '--help')) {
        expect(known, words.join(' ')).toContain(option)
      }
    }
  })

  test('names every collection', () => {
    const help = (...words: string[]) =>
      find(createProgram(service), words).command.helpInformation().replaceAll(/\s+/g, ' ')
    expect(help('books')).toContain('write all books to a file or to standard output')
    expect(help('db')).toContain('show the schema, the size and the number of books, notes, and keys')
    expect(help('db', 'copy')).toContain('copy all books, notes, and keys into an empty SQLite or PostgreSQL database')
  })

  test('describes every variable', () => {
    const help = helpOf(find(createProgram(service), ['serve']).command)
    for (const name of variableNames) expect(help).toMatch(new RegExp(`\n {2}${name} {2,}[a-z]`))
    expect(help).toMatch(/\n {2}PORT .* \(default: 3000\)\n/)
  })
})

function helpOf(command: Command): string {
  const parts: string[] = []
  command.configureOutput({ writeOut: (part) => void parts.push(part) }).outputHelp()
  return parts.join('')
}

/** Finds the command of the first words. */
function find(program: Command, [word, ...rest]: string[]): { command: Command; rest: string[] } {
  const below = program.commands.find((command) => command.name() === word)
  if (below) return find(below, rest)
  return { command: program, rest: word === undefined ? [] : [word, ...rest] }
}

test('wrong usage exits with 2, says what was probably meant, and prints nothing on standard output', async () => {
  const commands = [
    [['keys', 'create', 'shop', '--expires', 'soon'], 'soon is not a lifetime'],
    [['keys', 'create'], "missing required argument 'name'"],
    [['kyes', 'list', '--json'], "unknown command 'kyes'\n(Did you mean keys?)"],
    [['keys', 'list', '--jsno'], "unknown option '--jsno'\n(Did you mean --json?)"],
    [['serve', 'fast'], 'too many arguments'],
    [['keys', 'create', ' '], 'Name the key with'],
    [['keys', 'create', ' shop'], 'Name the key with'],
    [['backup', '~/shop.db'], 'cannot name a database file'],
    [['restore', 'shop.db\n'], 'cannot name a database file'],
    [['db', 'copy', '--from', 'file:~/shop.db', '--to', 'file:a.db'], '--from: expected a path without ~'],
    [['db', 'copy', '--from', 'here', '--to', 'file:a.db'], '--from: expected a file'],
  ] as const
  const folder = temporaryFolder()
  const runs = commands.map(([command]) => runProgram({ folder, arguments: [...command] }))
  for (const [index, [command, message]] of commands.entries()) {
    const run = runs[index]
    expect(await run?.ended, command.join(' ')).toBe(2)
    expect(run?.stderr).toContain(message)
    expect(run?.stderr).not.toMatch(/^\s+at /m)
    expect(run?.stdout).toBe('')
  }
})

test('help and version go to standard output, and the exit code is 0', async () => {
  const [help, ...versions] = [['keys', '--help'], ['--version'], ['-v'], ['version']].map((words) =>
    runProgram({ arguments: words }),
  )
  for (const version of versions)
    expect([await version.ended, version.stdout]).toEqual([0, `${service.product.version}\n`])
  expect([await help?.ended, help?.stdout, help?.stderr]).toEqual([0, expect.stringContaining('keys create shop'), ''])
})

test.for(['--help', '--version', 'keys create full', 'keys list --json'])(
  'notes %s says in one line that its output cannot be written',
  async (call) => {
    const path = join(temporaryFolder(), 'notes.db')
    openFileStore(path)
    const env = { DATABASE_URL: `file:${path}` }
    const run = runCommand(['sh', '-c', '"$@" > /dev/full', 'sh', ...commandLine, ...call.split(' ')], { env })
    expect(await run.ended).toBe(1)
    const said = notesIn(run.stderr).split('\n')
    expect(said).toContainEqual(expect.stringMatching(/^The output cannot be written: ENOSPC/))
    expect(run.stderr).not.toContain('    at ')
    if (call.includes('create')) expect(run.stderr).toContain("replace it with: notes keys rotate 'full'")
  },
)

test('an error that cannot be written still has its exit code', async () => {
  const run = runCommand(['sh', '-c', '"$@" 2> /dev/full', 'sh', ...commandLine, 'keys', 'nothing'])
  expect(await run.ended).toBe(2)
})

test('healthcheck asks the running service', async () => {
  const server = await startServer()
  await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
  const env = { HOST: '0.0.0.0', PORT: new URL(server.url).port }
  const ready = runProgram({ env, arguments: ['healthcheck'] })
  const message = `The service is ready: ${server.url}/readyz responds 200.\n`
  expect([await ready.ended, ready.stdout, ready.stderr]).toEqual([0, message, ''])
  server.child.kill('SIGINT')
  await server.ended
  const gone = runProgram({ env, arguments: ['healthcheck'] })
  const problem = `The service does not respond at ${server.url}/readyz (ECONNREFUSED). Start it, or set HOST and PORT to its address.\n`
  expect([await gone.ended, gone.stdout, gone.stderr]).toEqual([1, '', problem])
})

test('healthcheck does not wait for the end of an endless response', async () => {
  const url = await startSlowServer((_request, response) => {
    response.writeHead(503)
    Readable.from(endless()).pipe(response)
  })
  const check = runProgram({ env: { PORT: new URL(url).port }, arguments: ['healthcheck'] })
  const problem = `The service is not ready: ${url}/readyz responds 503. See its log for the cause.\n`
  expect([await check.ended, check.stderr]).toEqual([1, problem])
})

function* endless() {
  for (;;) yield Buffer.alloc(2 ** 20, ' ')
}

test('openapi prints the document that the service serves, without a database', async () => {
  const env = { PUBLIC_URL: 'https://notes.example', STAGING_URL: 'https://staging.example' }
  const run = runProgram({ arguments: ['openapi'], env })
  expect([await run.ended, run.stderr]).toEqual([0, ''])
  expect(run.stdout).toMatch(/^\{\n {2}"openapi": "3\.1\./)
  const servers = [{ url: 'https://notes.example/v1' }, { url: 'https://staging.example/v1' }]
  expect(JSON.parse(run.stdout).servers).toMatchObject(servers)
})

if (existsSync('/dev/full')) {
  test('output that cannot be written is reported in one line, unless its reader has gone', async () => {
    const command = commandLine.map((word) => `'${word}'`).join(' ')
    const full = runCommand(['sh', '-c', `exec ${command} openapi > /dev/full`])
    expect([await full.ended, full.stderr]).toEqual([1, expect.stringMatching(/^The output cannot be written: .+\n$/)])
    const gone = runCommand(['sh', '-c', `(sleep 2; ${command} openapi) | true; echo done`])
    expect([await gone.ended, gone.stderr]).toEqual([0, ''])
  })
}

if (spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0) {
  test.for(['n', 'y'])('on a terminal, keys revoke asks before it revokes a key: %s', async (answer) => {
    const folder = temporaryFolder()
    await runProgram({ folder, arguments: ['db', 'migrate'] }).ended
    await runProgram({ folder, arguments: ['keys', 'create', 'shop'] }).ended
    const command = [...commandLine, 'keys', 'revoke', 'shop'].map((word) => `'${word}'`).join(' ')
    const env = { ...process.env, DATABASE_URL: `file:${join(folder, 'data/notes.db')}` }
    const options = { input: `${answer}\n`, env, encoding: 'utf8' } as const
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], options)
    expect(stdout).toContain('Revoke shop (note_')
    expect(stdout).toContain(answer === 'y' ? 'Revoked shop (note_' : 'Nothing was changed.')
  })
}
