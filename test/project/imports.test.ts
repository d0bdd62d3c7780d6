import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { engines, filesOf, modulesOf, patternsFor } from '../../sources.ts'

const root = join(import.meta.dirname, '../..')
const biome = join(root, 'node_modules/.bin/biome')

/** Which engines each engine imports, by their entries. */
const imported: Record<string, string[]> = {
  store: [],
  service: ['store'],
  client: ['service'],
  console: ['client', 'service', 'store'],
}

test('an import past the entries of an engine fails the lint check', () => {
  const probes = {
    'server/pets/a.ts': ['../../engine/store/index.ts', true],
    'server/pets/b.ts': ['#store', false],
    'web/pets/c.ts': ['../../engine/console/resource.ts', true],
    'engine/service/commands/d.ts': ['../../store/open.ts', true],
    'engine/service/commands/e.ts': ['../operator/format.ts', false],
    'engine/console/f.ts': ['../client/retry.ts', true],
    'client/g.ts': ['../server/router.ts', false],
  } as const
  const files = Object.entries(probes).map(([path, [module]]) => [path, `export { something } from '${module}'`])
  const refused = Object.entries(probes).filter(([, [, isRefused]]) => isRefused)
  expect(lint(Object.fromEntries(files), 'noRestrictedImports')).toEqual(new Set(refused.map(([path]) => path)))
})

test('each entry of the engines is one file', () => {
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(Object.keys(imports)).toContain('#store')
  expect(Object.keys(imports).length).toBeLessThanOrEqual(13)
  expect(JSON.stringify(imports)).not.toContain('*')
})

test.for(engines)('the engine %s imports nothing of the product, and of other engines what it may', (engine) => {
  const files = filesOf(patternsFor([engine], '.{ts,tsx,mjs}'))
  const imports = files.flatMap((file) => importsIn(file).map((path) => ({ file, path })))
  expect(imports.length).toBeGreaterThan(3)
  const [ofEngines, relative] = [true, false].map((isEntry) =>
    imports.filter(({ path }) => path.startsWith('#') === isEntry),
  )
  expect(new Set(ofEngines?.map(({ path }) => path.replace(/^#|\/.*/g, '')))).toEqual(new Set(imported[engine]))
  const outside = relative?.filter(({ file, path }) => !join(dirname(file), path).startsWith(`engine/${engine}/`))
  expect(outside).toEqual([])
})

test('the tests of the store reach no other engine, also not through their support', () => {
  const tests = filesOf(['engine/store/test/**/*.ts'])
  const reached = new Set(tests)
  // It also visits what it adds.
  for (const file of reached)
    if (!file.startsWith('#'))
      for (const path of importsIn(file)) reached.add(path.startsWith('#') ? path : join(dirname(file), path))
  expect(reached.size).toBeGreaterThan(tests.length + 50)
  expect([...reached].filter((path) => /^(?:#(?!store)|engine\/(?!store|test))/.test(path))).toEqual([])
})

test('the root is small: at most 20 modules and 700 lines in server/ and db/', () => {
  const files = modulesOf('server')
  expect(files.length).toBeLessThanOrEqual(20)
  const lines = files.flatMap((file) => readFileSync(join(root, file), 'utf8').trimEnd().split('\n'))
  expect(lines.length).toBeLessThanOrEqual(700)
})

test('two files that import each other are refused, also if one of them imports only a type', () => {
  const files = {
    'engine/store/a.ts': "import type { b } from './b.ts'\nexport type A = typeof b",
    'engine/store/b.ts': "import type { A } from './a.ts'\nexport const b: A | 1 = 1",
    'engine/store/c.ts': "export { b } from './b.ts'",
  }
  expect(lint(files, 'noImportCycles')).toEqual(new Set(['engine/store/a.ts', 'engine/store/b.ts']))
})

test('no folder imports itself through other folders, also not for a type', () => {
  const graph = importsOfFolders()
  expect([...(graph.get('engine/service/rest') ?? [])]).toContain('engine/service/api')
  expect([...(graph.get('engine/console/resource/page') ?? [])]).toContain('engine/console/resource/list')
  expect(cyclesIn(graph)).toEqual([])
})

test('no folder has more than 16 source files, but for the support of the tests', () => {
  const sources = filesOf([
    '{bench,examples,interop,test}/**/*.{ts,tsx,mjs}',
    'engine/**/test/**/*.{ts,tsx,mjs}',
    ...patternsFor([...engines, 'server', 'package', 'page'], '.{ts,tsx,mjs}'),
  ])
  const folders = Map.groupBy(sources, (path) => dirname(path))
  expect(folders.size).toBeGreaterThan(30)
  const large = [...folders].filter(([, files]) => files.length > 16).map(([folder]) => folder)
  expect(large).toEqual(['engine/test/support', 'test/support'])
})

/** The paths and the entries of engines that a file imports. */
function importsIn(file: string): string[] {
  const code = readFileSync(join(root, file), 'utf8')
  return [...code.matchAll(/\b(?:from|import) ?\(?'([.#][^']+)'/g)].map(([, path = '']) => path)
}

/**
 * What each folder imports. The files directly in an engine are nodes of their own: some compose the folders below
 * them, and others, such as the configuration and the port of the store, are imported there.
 */
function importsOfFolders(): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const file of filesOf(patternsFor([...engines, 'server', 'package'], '.{ts,tsx,mjs}'))) {
    const from = nodeOf(file)
    const targets = importsIn(file)
      .filter((path) => /^\..*\.(?:tsx?|mjs)$/.test(path))
      .map((path) => nodeOf(join(dirname(file), path)))
      .filter((to) => to !== from)
    graph.set(from, new Set([...(graph.get(from) ?? []), ...targets]))
  }
  return graph
}

function nodeOf(file: string): string {
  return /^(?:engine\/\w+|server|db)$/.test(dirname(file)) ? file : dirname(file)
}

/** The nodes of cycles, and those that import them: what is left without the nodes that import no other one. */
function cyclesIn(graph: Map<string, Set<string>>): string[] {
  const rest = new Map(graph)
  for (let size = Infinity; rest.size < size; ) {
    size = rest.size
    for (const [node, targets] of rest) if (![...targets].some((target) => rest.has(target))) rest.delete(node)
  }
  return [...rest.keys()]
}

/** Lints the files with the rules of the project and returns the paths of those that break the rule. */
function lint(files: Record<string, string>, rule: string): Set<string> {
  const folder = temporaryFolder()
  copyFileSync(join(root, 'biome.json'), join(folder, 'biome.json'))
  for (const [path, code] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), code)
  }
  const { stdout } = spawnSync(biome, ['lint', '--vcs-enabled=false', '--reporter=github', '--max-diagnostics=none'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const lines = stdout.split('\n').filter((line) => line.includes(`/${rule},`))
  return new Set(lines.map((line) => relative(folder, /file=(.*?),line/.exec(line)?.[1] ?? '')))
}
