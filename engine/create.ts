import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { crc32 } from 'node:zlib'

/**
 * Makes a product: `npx node engine/create.ts <folder>`. It has a copy of the engines with their tests, and the notes of
 * their pages, from which its own collections are made. With `--update`, its engines become those of this repository.
 */

const root = join(import.meta.dirname, '..')
const tests = 'engine/console/test'

/** The part of the manifest that every product needs. */
const shared = ['imports', 'dependencies', 'optionalDependencies', 'devDependencies', 'overrides', 'allowScripts']

/** The packages that only this repository needs. */
const others = ['ajv', 'redos-detector', 'yaml']

const manifest = JSON.parse(read('package.json'))

const scripts = {
  build: 'vite build web --configLoader native',
  start: manifest.scripts.start.replace('server/launch.mjs', '--import ./engine/store/fast-start.mjs main.ts'),
  dev: 'exec node --import ./engine/store/fast-start.mjs engine/dev.ts main.ts',
  'db:generate': 'node engine/generate.ts drizzle.config.ts',
  check: 'biome check && tsc && tsc -p web',
  'check:engines': 'tsc -p tsconfig.engines.json',
  test: 'vitest run --config engine/test/vitest.config.ts --project product',
  'test:engines': 'vitest run --config engine/test/vitest.config.ts',
}

/** @throws {Error} if the folder has files */
export function createProduct(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty. Name a new folder.`)
  copyEngine(folder)
  cpSync(join(root, 'engine/create'), folder, { recursive: true })
  for (const path of ['public/favicon.svg', 'docs/index.html'])
    cpSync(join(root, tests, 'notes', path), join(folder, 'web', path))
  cpSync(join(root, '.npmrc'), join(folder, '.npmrc'))

  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const writeJson = (path: string, value: object) => write(path, jsonText(value))
  const names = namesOf(basename(folder))
  const product = { name: names.notes, private: true, type: 'module', scripts }
  writeJson('package.json', { ...product, ...sharedParts() })
  const [ofNode, ofPages] = ['tsconfig.json', 'web/tsconfig.json'].map((path) => JSON.parse(read(path)))
  // The tests of the engines, which take most of the time, are compiled by a script of their own.
  const engines = ['store', 'service', 'client', 'test/support/postgres/global-setup.ts']
  const included = ['*.ts', 'test', ...engines.map((path) => `engine/${path}`)]
  writeJson('tsconfig.json', { ...ofNode, include: included, exclude: ['engine/*/test'] })
  const pages = { include: ['.', '../engine/console'], exclude: ['dist', '../engine/console/test'] }
  writeJson('web/tsconfig.json', { ...ofPages, ...pages })
  writeJson('tsconfig.engines.json', {
    extends: './web/tsconfig.json',
    compilerOptions: { incremental: false },
    include: ['engine'],
    exclude: ['engine/console/test/browser'],
  })
  write('.gitignore', 'node_modules/\ndata/\nweb/dist/\n*.db*\n')
  const { files: _, overrides: __, ...style } = JSON.parse(read('biome.json'))
  const off = (group: string, ...rules: string[]) => ({
    [group]: Object.fromEntries(rules.map((rule) => [rule, 'off'])),
  })
  writeJson('biome.json', {
    ...style,
    // As npm writes package.json.
    json: { formatter: { expand: 'always' } },
    // The engines are checked where they come from.
    files: { includes: ['**', '!engine', '!migrations'] },
    overrides: [
      { includes: ['**/*.config.ts'], linter: { rules: off('style', 'noDefaultExport') } },
      {
        includes: ['test/**', 'try.ts', 'client.ts'],
        linter: {
          rules: { ...off('style', 'noProcessEnv', 'noRestrictedImports'), ...off('suspicious', 'noConsole') },
        },
      },
    ],
  })
  for (const page of globSync('engine/*/README.md', { cwd: root })) {
    for (const [, code = ''] of read(page).matchAll(/^```\w+\n(.*?)^```$/gms)) {
      const [, path] = /^(?:\/\/|--|<!--) ([\w./]+\.\w+)/.exec(code) ?? []
      if (path !== undefined) write(path, code)
    }
  }
  for (const path of ['product.ts', 'web/index.html', 'web/docs/index.html', 'web/public/favicon.svg', 'Dockerfile'])
    write(
      path,
      readFileSync(join(folder, path), 'utf8').replaceAll(/notes_?|0x4e4f5445|npm start/gi, (word) =>
        String(names[word]),
      ),
    )
}

/** What the names of the example become in a folder with this name. */
function namesOf(folder: string): Record<string, string> {
  const words = folder.toLowerCase().match(/[a-z][a-z0-9]*/g) ?? ['notes']
  const title = words.join(' ')
  return {
    Notes: title.charAt(0).toUpperCase() + title.slice(1),
    notes: words.join('-'),
    notes_: `${words.join('_')}_`,
    'npm start': scripts.start,
    '0x4e4f5445': `0x${(crc32(words.join()) >>> 1).toString(16)}`,
  }
}

/**
 * Replaces the engines of a product, and adds what they need to its manifest. What the product has added there stays.
 *
 * @returns the packages in the manifest that these engines do not need
 * @throws {Error} if its folder has no engines, or changes of them that git does not have
 */
export function updateProduct(folder: string): string[] {
  if (folder === root)
    throw new Error('This is the repository that the engines come from. Name the folder of a product.')
  const path = join(folder, 'package.json')
  if (!existsSync(join(folder, 'engine/store')) || !existsSync(path))
    throw new Error(`${folder} has no engines. Without --update, they are copied into a new folder.`)
  const { status, stdout } = spawnSync('git', ['status', '--porcelain', '--', 'engine'], { cwd: folder })
  if (status !== 0 || stdout.length > 0)
    throw new Error('Commit engine/ first. Then git shows what of yours the update replaces.')
  rmSync(join(folder, 'engine'), { recursive: true })
  copyEngine(folder)
  const own = JSON.parse(readFileSync(path, 'utf8'))
  const parts = sharedParts()
  for (const [name, part] of Object.entries(parts)) own[name] = { ...own[name], ...part, ...newer(own[name], part) }
  writeFileSync(path, jsonText(own))
  const kinds = ['dependencies', 'devDependencies']
  return kinds.flatMap((kind) => Object.keys(own[kind]).filter((name) => !(name in Object(parts[kind]))))
}

/** The packages of which a product has a newer version than the engines. */
function newer(own: Record<string, unknown> = {}, part: Record<string, unknown>): Record<string, unknown> {
  const numbersOf = (version: unknown) => String(version).replace(/^\D*/, '').split('.').map(Number)
  function isNewer([name, version]: [string, unknown]): boolean {
    const [mine, theirs] = [numbersOf(version), numbersOf(part[name])]
    const index = mine.findIndex((number, each) => number !== theirs[each])
    return name in part && Number(mine[index]) > Number(theirs[index])
  }
  return Object.fromEntries(Object.entries(own).filter(isNewer))
}

function copyEngine(folder: string): void {
  cpSync(join(root, 'engine'), join(folder, 'engine'), {
    recursive: true,
    filter: (path) => !['node_modules', 'screenshots', 'create', 'create.ts'].includes(basename(path)),
  })
  // It must be part of each copy.
  cpSync(join(root, 'LICENSE'), join(folder, 'engine/LICENSE'))
}

function sharedParts(): Record<string, Record<string, unknown>> {
  const parts = shared.map((name) => [name, Object.entries(manifest[name])] as const)
  return Object.fromEntries(
    parts.map(([name, entries]) => [name, Object.fromEntries(entries.filter(([each]) => !others.includes(each)))]),
  )
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

if (import.meta.main) {
  const usage = 'Usage: npx node engine/create.ts [--update] <folder>'
  try {
    const { values, positionals } = parseArgs({ options: { update: { type: 'boolean' } }, allowPositionals: true })
    const [folder] = positionals
    if (folder === undefined || positionals.length > 1) throw new Error(usage)
    if (values.update) {
      const more = updateProduct(resolve(folder))
      const packages =
        more.length > 0 ? ` package.json also has ${more.join(', ')}: yours, or what older engines needed.` : ''
      process.stdout.write(
        `${folder} has the newest engines: see engine/CHANGELOG.md.${packages} There, run npm install and npm test.\n`,
      )
    } else {
      createProduct(resolve(folder))
      process.stdout.write(
        `${folder} has the engines and an example. There, run npm install, npm run build and npm start. engine/README.md has recipes.\n`,
      )
    }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
