import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, posix, resolve } from 'node:path'
import { filesOf, patternsFor, program } from '../../sources.ts'
import { lockedDependencies, type Packages } from './locked-dependencies.ts'

/**
 * Builds the npm package of the service in the folder of the argument, which is replaced. It contains JavaScript, because
 * Node does not run TypeScript below node_modules. The console must have been built.
 */

const root = join(import.meta.dirname, '../..')
const target = resolve(process.argv[2] ?? join(root, 'dist/service'))
/** Tools of developers. */
const notShipped = ['db/drizzle.postgres.config.ts', 'db/tables.ts']
/** Files for the machine on which the service runs. */
const operations = globSync(
  [
    'petstore*.{service,timer}',
    'petstore*/*',
    'nginx-tls.conf',
    'prometheus-alerts.yaml',
    'grafana-dashboard.json',
  ].map((pattern) => `deploy/${pattern}`),
  { cwd: root },
)

rmSync(target, { recursive: true, force: true })
for (const path of filesOf(patternsFor(program, '.{ts,mjs}'), notShipped)) {
  write(path.replace(/\.ts$/, '.js'), toJavaScript(path))
}
for (const path of filesOf(['db/migrations/*/*.{sql,json}'])) copy(path, path)
for (const path of ['web/dist', 'LICENSE', ...operations]) copy(path, path)
writeManual()
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

/**
 * Copies the documents. Links to files that the package does not contain lead to the repository instead.
 */
function writeManual(): void {
  const { homepage, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const repository = `${homepage.replace('#readme', '')}/blob/v${version}`
  const paths = globSync(['docs/**/*.md', 'CHANGELOG.md', 'SECURITY.md'], {
    cwd: root,
    exclude: ['docs/**/node_modules'],
  })
  for (const path of paths) writeDocument(path, path)
  writeDocument('deploy/package/README.md', 'README.md')

  function writeDocument(from: string, to: string): void {
    const text = readFileSync(join(root, from), 'utf8')
    const linked = text.replaceAll(/(?<=\]\()(?!https?:)[^)#\s]+/g, (link) => {
      const file = posix.join(dirname(from), link)
      const isPacked = paths.includes(file) || existsSync(join(target, file))
      return isPacked ? posix.relative(dirname(to), file) : `${repository}/${file}`
    })
    write(to, linked)
  }
}

/**
 * The manifest of the root without what only developers need. npm needs package-lock.json to list the tree, and never packs
 * it. `gitHead` is npm's own field for the commit of a package; the metrics have it as the revision.
 */
function writeManifests(): void {
  const { workspaces, scripts, devDependencies, optionalDependencies, overrides, allowScripts, ...manifest } =
    JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const locked = lockedDependencies()
  const shipped = {
    ...manifest,
    imports: shippedEntries(manifest.imports),
    ...revision(),
    bin: { petstore: 'bin/petstore' },
    ...pinned(locked, manifest.dependencies),
    os: ['!win32'],
  }
  writeJson('package.json', shipped)
  const { name, version } = manifest
  writeJson('package-lock.json', {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': shipped, ...locked },
  })
}

/** The entries of the engines that the package contains. */
function shippedEntries(imports: Record<string, string>): Record<string, string> {
  const entries = Object.entries(imports).map(([name, path]) => [name, path.replace(/\.ts$/, '.js')] as const)
  return Object.fromEntries(entries.filter(([, path]) => existsSync(join(target, path))))
}

/** The commit, if the sources are a checkout of Git. */
function revision(): { gitHead?: string } {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' })
  return status === 0 ? { gitHead: stdout.trim() } : {}
}

/**
 * The tested version of every package as a direct dependency, because npm ignores the lockfile of a package that it
 * installs. Packages that the tree has in a second version are pinned only in the first.
 *
 * @param declared keep a range if they have one
 */
function pinned(
  locked: Packages,
  declared: Record<string, string>,
): Record<'dependencies' | 'optionalDependencies', Record<string, string>> {
  const direct = Object.entries(locked).filter(([path]) => path.lastIndexOf('node_modules/') === 0)
  const versions = (isOptional: boolean) =>
    Object.fromEntries(
      direct
        .filter(([, { optional = false }]) => optional === isOptional)
        .map(([path, { version }]) => {
          const name = path.slice('node_modules/'.length)
          return [name, declared[name] ?? version]
        }),
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
