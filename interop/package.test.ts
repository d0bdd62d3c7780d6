import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitForOutput } from '../engine/test/support/process.ts'
import type { AtEnd } from '../engine/test/support/temporary.ts'
import { bannerKey, startServer } from '../test/support/petstore.ts'
import { type InstalledPackage, installPackage } from './installed-package.ts'

const run = promisify(execFile)
const attw = join(import.meta.dirname, 'node_modules/@arethetypeswrong/cli/dist/index.js')

let installed: InstalledPackage
const cleanings: Parameters<AtEnd>[0][] = []
beforeAll(async () => {
  installed = await installPackage((clean) => cleanings.push(clean))
}, 120_000)
afterAll(async () => {
  for (const clean of cleanings) await clean()
})

test('the package installs tRPC and nothing else', () => {
  const { packages } = JSON.parse(readFileSync(join(installed.project, 'package-lock.json'), 'utf8'))
  expect(Object.keys(packages).sort()).toEqual([
    '',
    'node_modules/@trpc/client',
    'node_modules/@trpc/server',
    'node_modules/petstore-client',
    'node_modules/typescript',
  ])
})

test('publint reports no problems', async () => {
  const bytes = readFileSync(installed.tarball)
  const { messages } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true })
  expect(messages).toEqual([])
})

test('arethetypeswrong reports no problems', async () => {
  const words = ['--profile', 'node16', '--no-definitely-typed', '--format', 'ascii', '--no-emoji']
  // The command fails if there is a problem.
  const { stdout } = await run(process.execPath, [attw, installed.tarball, ...words])
  expect(stdout).toContain('"petstore-client"')
})

const modules = join(import.meta.dirname, 'node_modules')
const compilers = {
  5.4: join(modules, 'typescript-5.4/lib/tsc.js'),
  5.9: join(modules, 'typescript/lib/tsc.js'),
  6: join(modules, 'typescript-6/lib/tsc.js'),
  7: join(import.meta.dirname, '../node_modules/typescript/bin/tsc'),
}
const resolutions = {
  nodenext: ['--module', 'nodenext'],
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
}

test.for(
  ([5.4, 5.9, 6, 7] as const).flatMap((version) =>
    (['nodenext', 'bundler'] as const).map((each) => [version, each] as const),
  ),
)('TypeScript %s with %s resolution accepts correct uses and rejects wrong ones', async ([version, resolution]) => {
  const target = ['--target', 'es2022', '--lib', 'es2022,dom']
  // tRPC supports TypeScript 5.7 and newer. With older ones, its declarations work but cannot be checked.
  const strict = ['--noEmit', '--strict', '--skipLibCheck', String(version < 5.7)]
  const files = ['front-end.ts', 'wrong-uses.ts', 'calls.ts']
  const words = [compilers[version], ...target, ...strict, ...resolutions[resolution], ...files]
  const {
    code = 0,
    stdout,
    stderr,
  } = await run(process.execPath, words, { cwd: installed.project }).catch((error) => error)
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('editors mark pets.get as deprecated', () => {
  const [service, file] = editorOf('front-end.ts')
  const deprecated = service.getSuggestionDiagnostics(file).filter(({ reportsDeprecated }) => reportsDeprecated)
  expect(deprecated.map(({ messageText }) => messageText)).toEqual(["'get' is deprecated.", "'get' is deprecated."])
})

test.for([
  ['a procedure', 'list.query', 'Returns a paginated list of pets, in ascending order of their ids.', []],
  ['a mutation', 'create.mutate', 'Adds a new pet. When the response arrives, the pet is stored.', []],
  ['a field with bounds and a default', 'limit: 5', 'Maximum number of pets returned. Integer: 1 to 100.', ['20']],
  ['a field of an input', 'categoryId: 9', 'Identifier of the category the pet belongs to. 64-bit integer.', []],
  ['a field with a default', 'status }', 'Availability of the pet.', ['"available"']],
  ['a field of an output', 'name, categoryId', "The pet's name: not only white space, no control characters.", []],
  ['a type', 'Pet = await', 'A pet of the store.', []],
  ['an option of the client', 'apiKey })', 'An API key of the service.', []],
] as const)('editors show the description of %s', ([, place, description, defaults]) => {
  const [service, file] = editorOf('front-end.ts')
  const position = readFileSync(file, 'utf8').indexOf(place)
  const { documentation, tags = [] } = service.getQuickInfoAtPosition(file, position) ?? {}
  expect(ts.displayPartsToString(documentation)).toContain(description)
  const shown = tags.filter(({ name }) => name === 'defaultValue').map(({ text }) => ts.displayPartsToString(text))
  expect(shown).toEqual(defaults)
})

test.for([
  ['a procedure', 'list.query', 'list: _trpc_server.TRPCQueryProcedure<{'],
  ['a field', 'limit: 5', 'limit?: number | undefined;'],
  ['a type', 'NewPet = {', 'type NewPet = {'],
] as const)('"go to definition" of %s leads to its declaration', ([, place, declaration]) => {
  const [service, file] = editorOf('front-end.ts')
  const [definition] = service.getDefinitionAtPosition(file, readFileSync(file, 'utf8').indexOf(place)) ?? []
  const { fileName = '', contextSpan = { start: 0 } } = definition ?? {}
  expect(fileName).toContain('node_modules/petstore')
  expect(readFileSync(fileName, 'utf8').slice(contextSpan.start)).toMatch(
    new RegExp(`^${declaration.replaceAll(/[?|{<.]/g, String.raw`\$&`)}`),
  )
})

/** The language service that editors use, and the path of a file of the project. */
function editorOf(name: string): [ts.LanguageService, file: string] {
  const file = join(installed.project, name)
  const service = ts.createLanguageService({
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    getCompilationSettings: () => ({ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true }),
    getCurrentDirectory: () => installed.project,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const text = ts.sys.readFile(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
  })
  return [service, file]
}

/** The result of `visit` on a service without pets. */
const visited = [
  '1 Rex 9007199254740993 pending',
  '1 Rex 9007199254740993 pending',
  '1 Rex 9007199254740993 pending',
  'not_found',
]

test.for(nodes())('the package runs in Node $version', async ({ node }) => {
  const source = readFileSync(join(installed.project, 'front-end.ts'), 'utf8')
  const target = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  writeFileSync(join(installed.project, 'front-end.js'), ts.transpile(source, target))
  const script = `
    import { visit } from './front-end.js'
    console.log(JSON.stringify(await visit(...process.argv.slice(-2))))
  `
  const server = await startServer()
  const words = ['--input-type=module', '--eval', script, server.url, await waitForOutput(server, bannerKey)]
  const { stdout, stderr } = await run(node, words, { cwd: installed.project })
  expect({ visited: JSON.parse(stdout), stderr }).toEqual({ visited, stderr: '' })
})

/** Every installed version of Node: the one that runs this test, and those in the PATH. */
function nodes(): { version: string; node: string }[] {
  const found = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  const versions = [process.execPath, ...found.filter((path) => existsSync(path))].map((node) => ({
    node,
    version: execFileSync(node, ['--print', 'process.version'], { encoding: 'utf8' }).trim(),
  }))
  return versions.filter(({ version }, index) => versions.findIndex((other) => other.version === version) === index)
}
