import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** What this folder reads of an entry of package-lock.json. */
export interface LockedPackage {
  version: string
  license?: string
  optional?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

export type Packages = Record<string, LockedPackage>

/**
 * The packages that the service needs at run time, by their path in package-lock.json, such as `node_modules/pg`. Without
 * the packages of Node itself, which only a checkout installs.
 */
export function lockedDependencies(): Packages {
  const { packages }: { packages: Packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const found = new Set<string>()
  addDependencies('', Object.keys(packages['']?.dependencies ?? {}), packages, found)
  return Object.fromEntries(
    Object.entries(packages).flatMap(([path, entry]) => (found.has(path) ? [[path, entry]] : [])),
  )
}

function addDependencies(from: string, names: string[], packages: Packages, found: Set<string>): void {
  for (const name of names) {
    const path = resolve(from, name, packages)
    if (path === undefined || found.has(path)) continue
    found.add(path)
    addDependencies(path, dependencyNames(packages[path]), packages, found)
  }
}

/** Optional peers are left out: they are installed only if another package needs them. */
function dependencyNames(entry: LockedPackage | undefined): string[] {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = entry ?? {}
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional)
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/** Looks in the `node_modules` of the folder and of each folder above it, as Node does. */
function resolve(from: string, name: string, packages: Packages): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/'), 0))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (path in packages) return path
    if (folder === '') return undefined
  }
}
