import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { engines, filesOf, modulesOf, patternsFor } from '../../sources.ts'
import { temporaryFolder } from '../support/temporary.ts'

const root = join(import.meta.dirname, '../..')
const biome = join(root, 'node_modules/.bin/biome')

test('two files that import each other are refused, also if one of them imports only a type', () => {
  const files = {
    'engine/store/a.ts': "import type { b } from './b.ts'\nexport type A = typeof b",
    'engine/store/b.ts': "import type { A } from './a.ts'\nexport const b: A | 1 = 1",
    'engine/store/c.ts': "export { b } from './b.ts'",
  }
  expect(lint(files, 'noImportCycles')).toEqual(new Set(['engine/store/a.ts', 'engine/store/b.ts']))
})

test('no folder of the service imports itself through other folders, also not for a type', () => {
  const graph = importsOfFolders()
  expect([...(graph.get('engine/service/rest') ?? [])]).toContain('engine/service/api')
  expect(cyclesIn(graph)).toEqual([])
})

test('no folder has more than 16 source files, but for the support of the tests', () => {
  const sources = filesOf([
    '{bench,examples,interop,test}/**/*.{ts,tsx,mjs}',
    ...patternsFor([...engines, 'server', 'package', 'page'], '.{ts,tsx,mjs}'),
  ])
  const folders = Map.groupBy(sources, (path) => dirname(path))
  expect(folders.size).toBeGreaterThan(30)
  const large = [...folders].filter(([, files]) => files.length > 16).map(([folder]) => folder)
  expect(large).toEqual(['engine/service/http', 'test/support'])
})

/**
 * What each folder imports. The files directly in an engine are nodes of their own: some compose the folders below
 * them, and others, such as the configuration and the port of the store, are imported there.
 */
function importsOfFolders(): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const file of modulesOf('server', 'service', 'store', 'client', 'package')) {
    const [from, code] = [nodeOf(file), readFileSync(join(root, file), 'utf8')]
    const targets = [...code.matchAll(/\b(?:from|import) ?\(?'(\.[^']+\.(?:ts|mjs))'/g)]
      .map(([, path = '']) => nodeOf(join(dirname(file), path)))
      .filter((to) => to !== from)
    graph.set(from, new Set([...(graph.get(from) ?? []), ...targets]))
  }
  return graph
}

function nodeOf(file: string): string {
  return /^(?:engine\/\w+|server|db)$/.test(dirname(file)) ? file : dirname(file)
}

/** The groups of nodes that reach each other. */
function cyclesIn(graph: Map<string, Set<string>>): string[][] {
  const reached = new Map([...graph.keys()].map((start) => [start, reachableFrom(graph, start)]))
  const groups = [...reached].map(([start, nodes]) => [...nodes].filter((node) => reached.get(node)?.has(start)).sort())
  return [...new Set(groups.filter((group) => group.length > 0).map((group) => group.join(' ')))]
    .sort()
    .map((group) => group.split(' '))
}

/** Without the node itself, unless a cycle leads back to it. */
function reachableFrom(graph: Map<string, Set<string>>, start: string): Set<string> {
  const found = new Set<string>()
  const visit = (node: string) => {
    for (const next of graph.get(node) ?? []) {
      if (!found.has(next)) {
        found.add(next)
        visit(next)
      }
    }
  }
  visit(start)
  return found
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
