import { mkdirSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { temporaryFolder } from './temporary.ts'

/** A real path in a folder of the test's own, and a way to spell it in `DATABASE_URL`. */
export interface DatabasePaths {
  /** Where the file is, and where SQLite puts its log. */
  path: string
  /** What the service is told. */
  given: string
}

/** Every way that a path may lead to the database file, which need not exist yet. */
export const spellings: [name: string, spell: (path: string) => string][] = [
  ['a direct path', (path) => path],
  ['a link to the file', linkTo],
  ['a link to a link to the file', (path) => linkTo(linkTo(path))],
  ['a link in a parent folder', (path) => join(linkTo(dirname(path)), basename(path))],
  ['a relative path', (path) => relative('', path)],
]

/** Names a database that does not exist yet. */
export function databasePaths(spell: (path: string) => string): DatabasePaths {
  const folder = join(temporaryFolder(), 'data')
  mkdirSync(folder)
  const path = join(folder, 'petstore.db')
  return { path, given: spell(path) }
}

/** A relative link in a folder of its own. */
export function linkTo(path: string): string {
  const link = join(temporaryFolder(), 'link')
  symlinkSync(relative(dirname(link), path), link)
  return link
}
