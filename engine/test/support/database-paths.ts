import { mkdirSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { temporaryFolder } from './temporary.ts'

/** The real path of a database, and a spelling of it for `DATABASE_URL`. */
export interface DatabasePaths {
  /** The real path. SQLite puts the log beside it. */
  path: string
  /** The spelling in `DATABASE_URL`. */
  given: string
}

/** All kinds of paths to a database file. The file need not exist yet. */
export const spellings: [name: string, spell: (path: string) => string][] = [
  ['a direct path', (path) => path],
  ['a link to the file', linkTo],
  ['a link to a link to the file', (path) => linkTo(linkTo(path))],
  ['a link in a parent folder', (path) => join(linkTo(dirname(path)), basename(path))],
  ['a relative path', (path) => relative('', path)],
]

/** Returns the path of a database that does not exist yet. */
export function databasePaths(spell: (path: string) => string): DatabasePaths {
  const folder = join(temporaryFolder(), 'data')
  mkdirSync(folder)
  const path = join(folder, 'petstore.db')
  return { path, given: spell(path) }
}

/** Creates a relative link in a new folder. */
export function linkTo(path: string): string {
  const link = join(temporaryFolder(), 'link')
  symlinkSync(relative(dirname(link), path), link)
  return link
}
