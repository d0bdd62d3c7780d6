import { globSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** Where the sources are: for the tests of the project, the coverage and the builds. */

const root = import.meta.dirname

/** The folders of each part: the engines, and the product. */
export const folders = {
  store: ['engine/store'],
  service: ['engine/service'],
  client: ['engine/client'],
  console: ['engine/console'],
  server: ['server', 'db'],
  package: ['client'],
  page: ['web'],
}
export type Part = keyof typeof folders

/** The parts that know no product. */
export const engines: Part[] = ['store', 'service', 'client', 'console']

/** What the program consists of when it runs. */
export const program: Part[] = ['server', 'service', 'store']

/** Patterns for the files of parts whose paths end like this. */
export function patternsFor(parts: Part[], ending: string): string[] {
  return parts.flatMap((part) => folders[part].map((folder) => `${folder}/**/*${ending}`))
}

/** The modules of parts. */
export function modulesOf(...parts: Part[]): string[] {
  return filesOf(patternsFor(parts, '.{ts,mjs}'))
}

/**
 * The files that match the patterns, relative to the root, in the order of their paths. What a build makes is left out,
 * and so are the tests of the engines, unless a pattern names their folder.
 *
 * @throws {Error} if one of the patterns matches no file, as after a move
 */
export function filesOf(patterns: string[], exclude: string[] = []): string[] {
  const generated = ['**/node_modules', '**/dist', '**/dist.*']
  const found = patterns.flatMap((pattern) => {
    const tests = /\btest\b/.test(pattern) ? [] : ['engine/**/test']
    const entries = globSync(pattern, { cwd: root, exclude: [...generated, ...tests, ...exclude], withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    if (files.length === 0) throw new Error(`No file matches ${pattern}. Correct the pattern, here or in sources.ts.`)
    return files.map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll(sep, '/'))
  })
  return [...new Set(found)].sort()
}
