import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { createProduct, type Options, withNamesOf } from '../../engine/create.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { engines, filesOf, folders, patternsFor } from '../../sources.ts'
import config from '../../vitest.config.ts'
import { copyEngines } from '../support/copied-engines.ts'
import { codeBlocksOf, document, read, root } from '../support/documents.ts'

/** Not words such as repetition and pipeThrough. */
const namedPet = /(?<!re|com|pi)pet|\bcategory_?id\b|'(?:available|sold)'/i

test.for(engines)('the engine %s does not name the product or its resource', (part) => {
  const modules = filesOf(patternsFor([part], part === 'console' ? '.{ts,tsx,css}' : '.{ts,mjs}'))
  const naming = modules.flatMap((path) => [path, ...read(path).split('\n')].filter((line) => namedPet.test(line)))
  // Existing databases have this number, whatever the product is.
  expect(naming.filter((line) => !/^ \* .*"PETS" in ASCII/.test(line))).toEqual([])
})

test('a pattern that matches no file fails', () => {
  expect(() => filesOf(['db/**/*.ts', 'engine/nothing/*.ts'])).toThrow('No file matches engine/nothing/*.ts')
})

test('every pattern of biome.json matches a file', () => {
  const { files, overrides } = JSON.parse(read('biome.json'))
  const { includes }: { includes: string[] } = files
  const ofRules = overrides.flatMap(({ includes = [] }: { includes?: string[] }) => includes)
  const patterns = [...includes, ...ofRules].map((pattern) => pattern.replace(/^!/, '').replace(/\/meta$/, '/meta/*'))
  expect(patterns.length).toBeGreaterThan(10)
  for (const pattern of new Set(patterns)) expect(filesOf([pattern]).length).toBeGreaterThan(0)
})

test('the image has every folder of the sources', () => {
  const dockerfile = read('deploy/Dockerfile')
  for (const folder of ['server', 'db', 'client', 'web', 'engine', ...folders.store, ...folders.service])
    expect(dockerfile).toContain(`\nCOPY ${folder} ${folder}/\n`)
})

// The first run takes half a minute of CPU time.
test('the engines compile in another product, and their tests where they are asked for', { timeout: 900_000 }, () => {
  const folder = copyEngines({ withConsole: true, withTests: true })
  const compile = (part: string, info: string) =>
    spawnSync(
      join(root, 'node_modules/.bin/tsc'),
      ['-p', join(folder, part), '--incremental', '--tsBuildInfoFile', info],
      { encoding: 'utf8' },
    )
  const parts = ['.', 'web', 'engine/test']
  const infos = parts.map((part) => {
    // What the last run has found out saves most of the time.
    const name = `${part.replace('/', '-')}.tsbuildinfo`
    const info = join(folder, name)
    const cache = join(root, `node_modules/.cache/copied-engines-${name}`)
    if (existsSync(cache)) cpSync(cache, info)
    const compiled = compile(part, info)
    expect([compiled.stdout, compiled.status]).toEqual(['', 0])
    const own = `${cache}.${process.pid}`
    cpSync(info, own)
    renameSync(own, cache)
    return info
  })
  writeFileSync(join(folder, 'engine/store/test/wrong.ts'), "export const wrong: number = ''\n")
  expect(parts.map((part, index) => compile(part, String(infos[index])).status)).toEqual([0, 0, 1])
})

test.for([{}, { withConsole: true }])('a new product keeps the rules of its lint: %o', (options) => {
  const biome = join(root, 'node_modules/.bin/biome')
  const folder = copyEngines(options)
  const lint = () => spawnSync(biome, ['check'], { cwd: folder, encoding: 'utf8' })
  const { status, stdout, stderr } = lint()
  expect(status, stdout + stderr).toBe(0)
  writeFileSync(join(folder, 'test/deep.ts'), "export { openStore } from '../engine/store/index.ts'\n")
  expect(lint().stderr).toContain('Import an engine through its entries')
})

test.for([
  { least: 8 },
  { least: 8, withTests: true },
  { least: 18, withConsole: true },
  { least: 18, withConsole: true, withTests: true },
])('a product gets the packages that the engines import, and no other: %o', ({ least, ...options }) => {
  const folder = copyEngines(options)
  const code = globSync(['*.ts', 'engine/**/*.{ts,tsx,mjs}'], { cwd: folder, exclude: ['**/node_modules'] })
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('\n')
  const imported = new Set([...code.matchAll(/ (?:from |import\()'(@[^/']+\/[^/']+|[^/']+)/g)].map(([, name]) => name))
  const { devDependencies } = JSON.parse(read('package.json'))
  // The compiler needs the others, and the scripts of the product need Biome.
  const needed = Object.keys(devDependencies).filter(
    (name) =>
      imported.has(name.replace('@types/', '')) || ['@biomejs/biome', '@types/node', 'typescript'].includes(name),
  )
  const product = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect(needed.length).toBeGreaterThanOrEqual(least)
  expect(Object.keys(product.devDependencies)).toEqual(needed)
})

const variants: Options[] = [{}, { withConsole: true }]
test.for(variants)('a product gets no tests, but what its own and the pages of the engines need: %o', (options) => {
  const folder = copyEngines(options)
  const files = globSync('engine/**/test/**', { cwd: folder, withFileTypes: true }).filter((each) => each.isFile())
  expect(files.map(({ name }) => name).filter((name) => name.endsWith('.test.ts'))).toEqual([])
  const kept = files.filter(({ name }) => name.endsWith('.ts')).map(({ parentPath, name }) => join(parentPath, name))
  expect(kept.length).toBeGreaterThan(10)
  const targets = kept.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/ (?:from |import\()'(\.[^']+)/g)].map(([, to = '']) =>
      join(path, '..', to),
    ),
  )
  const links = linksOfEngines(folder).map((link) => join(folder, link))
  const lacking = [...targets, ...links].filter((path) => !existsSync(path))
  expect(lacking.filter((path) => options.withConsole || !path.includes('/engine/console/'))).toEqual([])
})

test('a product without a console has neither its folders nor its script', () => {
  const folder = copyEngines({ withTests: true })
  expect(['web', 'engine/console'].filter((path) => existsSync(join(folder, path)))).toEqual([])
  expect(readFileSync(join(folder, 'package.json'), 'utf8')).not.toMatch(/web|"build"/)
})

test('the names of the example become those of the folder, also in upper case', () => {
  const [names, own] = ['Notes notes notes_a NOTES NOTES_A', 'My shop my-shop my_shop_a MY-SHOP MY_SHOP_A']
  expect(withNamesOf('2_My-shop', names)).toBe(own)
  expect(withNamesOf('café', 'Notes')).toBe('Cafe')
  const folder = join(temporaryFolder(), '123')
  expect(() => createProduct(folder)).toThrow('123 has no letter from A to Z')
  expect(existsSync(folder)).toBe(false)
})

test('the page of a product names the script that starts it, which its container does not need', () => {
  const folder = copyEngines()
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain('`npm start` start this service')
  expect(readFileSync(join(folder, 'Dockerfile'), 'utf8')).toMatch(/^CMD exec node .* main\.ts$/m)
})

test('the recipes name files that a product has, or are about new ones', () => {
  const folder = copyEngines({ withConsole: true })
  const blocks = codeBlocksOf(document('engine/README.md'), 'ts')
  const paths = blocks.map(({ code }) => /engine\/(.*)/.exec(code)?.[1]?.replace('console/test/notes', 'web'))
  const names = paths.map((path) => String(path?.replace('test/notes/', '')))
  const lacking = names.filter((name) => !existsSync(join(folder, name)))
  expect(names).toContain('web/resources.ts')
  expect(new Set(lacking).difference(new Set(['books.ts', 'printer.ts', 'sqlite.ts', 'postgres.ts']))).toEqual(
    new Set(),
  )
})

test('the pages of the engines link to nothing outside', () => {
  expect(linksOfEngines().length).toBeGreaterThan(5)
  expect(linksOfEngines().filter((path) => !path.startsWith('engine/'))).toEqual([])
})

/** The files to which the pages of the engines link. */
function linksOfEngines(folder = root): string[] {
  return globSync('engine/{,*/}README.md', { cwd: folder }).flatMap((page) =>
    [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = '']) =>
      normalize(join(page, '..', path)),
    ),
  )
}

test('the page of each engine lists its folders', () => {
  for (const engine of ['store', 'service', 'console']) {
    const [, inside = ''] = /^## Inside$(.*?)^## /ms.exec(read(`engine/${engine}/README.md`)) ?? []
    const listed = [...inside.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = '']) => names.match(/\w[\w-]*/g) ?? [])
    const folders = readdirSync(join(root, 'engine', engine), { withFileTypes: true }).filter((each) =>
      each.isDirectory(),
    )
    expect(listed.toSorted()).toEqual(
      folders
        .map(({ name }) => name)
        .filter((name) => name !== 'test')
        .toSorted(),
    )
  }
})

test('the engines refer to no document and no decision that a product does not have', () => {
  const files = filesOf(['engine/{store,service,client,console}/**/*.{ts,tsx,md}']).filter(
    (path) => !path.includes('/test/'),
  )
  const references = files.flatMap((path) =>
    (read(path).match(/\bdocs\/(?:guides|reference|background)\/|\bdecisions? \d+|of this repository/g) ?? []).map(
      (found) => `${path}: ${found}`,
    ),
  )
  expect(files.length).toBeGreaterThan(100)
  expect(references).toEqual([])
})

test('each test file belongs to a project of Vitest', () => {
  // Safe: none of the projects of this file is a function or a path.
  const projects = config.test?.projects as { test: { include: string[] } }[]
  const listed = new Set(projects.flatMap(({ test: { include } }) => globSync(include, { cwd: root })))
  const files = globSync('{test,engine}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules'] })
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((path) => !listed.has(path))).toEqual([])
})
