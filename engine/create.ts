import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * Makes a product: `npx node engine/create.ts <folder>`. It has a copy of the engines with their tests, and the notes of
 * their pages, from which its own collections are made.
 */

const root = join(import.meta.dirname, '..')
const tests = 'engine/console/test'

/** The part of the manifest that every product needs. */
const shared = ['imports', 'dependencies', 'optionalDependencies', 'devDependencies', 'overrides', 'allowScripts']

const scripts = {
  prestart: 'vite build web --configLoader native',
  start: 'node main.ts',
  check: 'tsc',
  test: 'vitest run --config engine/test/vitest.config.ts',
}

/** @throws {Error} if the folder has files */
export function createProduct(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty. Name a new folder.`)
  cpSync(join(root, 'engine'), join(folder, 'engine'), {
    recursive: true,
    filter: (path) => !['node_modules', 'screenshots'].includes(basename(path)),
  })
  cpSync(join(root, tests, 'notes/public'), join(folder, 'web/public'), { recursive: true })
  cpSync(join(root, '.npmrc'), join(folder, '.npmrc'))

  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const writeJson = (path: string, value: object) => write(path, `${JSON.stringify(value, null, 2)}\n`)
  const read = (path: string) => readFileSync(join(root, path), 'utf8')

  const manifest = JSON.parse(read('package.json'))
  const parts = shared.map((name) => [name, manifest[name]])
  writeJson('package.json', {
    name: basename(folder),
    private: true,
    type: 'module',
    scripts,
    ...Object.fromEntries(parts),
  })
  const [ofNode, ofPages] = ['tsconfig.json', 'web/tsconfig.json'].map((path) => JSON.parse(read(path)).compilerOptions)
  const { tsBuildInfoFile: _, ...compilerOptions } = { ...ofNode, ...ofPages, incremental: false }
  writeJson('tsconfig.json', {
    compilerOptions,
    include: ['.'],
    exclude: ['node_modules', 'web/dist', `${tests}/browser`],
  })
  write('.gitignore', 'node_modules/\ndata/\nweb/dist/\n')
  for (const page of globSync('engine/*/README.md', { cwd: root })) {
    for (const [, code = ''] of read(page).matchAll(/^```\w+\n(.*?)^```$/gms)) {
      const [, path] = /^(?:\/\/|--|<!--) ([\w./]+\.\w+)/.exec(code) ?? []
      if (path !== undefined) write(path, code)
    }
  }
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2)
  try {
    if (folder === undefined) throw new Error('Usage: npx node engine/create.ts <folder>')
    createProduct(resolve(folder))
    process.stdout.write(`${folder} has the engines and an example. There, run npm install and npm start.\n`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
