import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { lockedDependencies } from './locked-dependencies.ts'

/**
 * Builds the npm package of the service in the folder of the argument, which is replaced. It contains JavaScript, because
 * Node does not run TypeScript below node_modules. The console must have been built.
 */

const root = join(import.meta.dirname, '../..')
const target = resolve(process.argv[2] ?? join(root, 'dist/service'))
/** Tools of developers. */
const notShipped = ['server/ops/dev.ts', 'db/postgres/drizzle.config.ts']

rmSync(target, { recursive: true, force: true })
for (const path of globSync('{server,db}/**/*.{ts,mjs}', { cwd: root, exclude: notShipped })) {
  write(path.replace(/\.ts$/, '.js'), toJavaScript(path))
}
for (const path of globSync(['db/*/migrations/*.{sql,json}', 'server/rest/reference/*'], { cwd: root }))
  copy(path, path)
copy('web/dist', 'web/dist')
copy('LICENSE', 'LICENSE')
copy('deploy/package/README.md', 'README.md')
copy('deploy/package/petstore', 'bin/petstore')
chmodSync(join(target, 'bin/petstore'), 0o755)
writeManifests()

/** Blanks out the types, as Node does when it runs a source file, so lines and columns in stack traces stay the same. */
function toJavaScript(path: string): string {
  const source = readFileSync(join(root, path), 'utf8')
  const code = path.endsWith('.ts') ? stripTypeScriptTypes(source) : source
  // Imported modules and the files of threads. No other string ends in .ts.
  return code.replaceAll(/(?<=['/])([\w-]+)\.ts(?=')/g, '$1.js')
}

/** The service reads its version from server/package.json. npm needs package-lock.json to list the tree, and never packs it. */
function writeManifests(): void {
  const { description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const manifest = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8'))
  const { name, version, type } = manifest
  const shipped = { ...manifest, ...pinned(), description, bin: { petstore: 'bin/petstore' }, os: ['!win32'] }
  writeJson('package.json', shipped)
  writeJson('server/package.json', { version, type })
  const packages = { '': shipped, ...lockedDependencies() }
  writeJson('package-lock.json', { name, version, lockfileVersion: 3, requires: true, packages })
}

/**
 * The tested version of every package as a direct dependency, because npm ignores the lockfile of a package that it
 * installs. Packages that the tree has in a second version are pinned only in the first.
 */
function pinned(): Record<'dependencies' | 'optionalDependencies', Record<string, string>> {
  const direct = Object.entries(lockedDependencies()).filter(([path]) => path.lastIndexOf('node_modules/') === 0)
  const versions = (isOptional: boolean) =>
    Object.fromEntries(
      direct
        .filter(([, { optional = false }]) => optional === isOptional)
        .map(([path, { version }]) => [path.slice('node_modules/'.length), version]),
    )
  return { dependencies: versions(false), optionalDependencies: versions(true) }
}

function writeJson(path: string, value: object): void {
  write(path, `${JSON.stringify(value, undefined, 2)}\n`)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(target, path)), { recursive: true })
  writeFileSync(join(target, path), text)
}

function copy(from: string, to: string): void {
  cpSync(join(root, from), join(target, to), { recursive: true })
}
