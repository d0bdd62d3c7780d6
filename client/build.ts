import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Contents by file name. */
type Files = Map<string, string>

const root = join(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const stage = mkdtempSync(join(tmpdir(), 'petstore-client-'))
try {
  compileInto(stage)
  const files = packageFiles(stage)
  checkImports(files)
  put(files, join(root, 'dist/client'))
} finally {
  rmSync(stage, { recursive: true })
}

/** The client, and as much of the service as its types are inferred from. */
function compileInto(folder: string): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const words = [tsc, '-p', join(import.meta.dirname, 'tsconfig.build.json'), '--outDir', folder]
  execFileSync(process.execPath, words, { stdio: ['ignore', 2, 2] })
}

/** Of the service only the type of its router. */
function packageFiles(stage: string): Files {
  const client = textsIn(join(stage, 'client')).map(([name, text]): [string, string] => [
    name,
    // tsc rewrites the imports of JavaScript, not those of declarations.
    text.replace("'../server/api/router.ts'", "'./router.js'").replace(/('\.\/[\w-]+)\.ts'/g, "$1.js'"),
  ])
  return new Map([...client, ['router.d.ts', routerDeclaration(new Map(textsIn(join(stage, 'server/api'))))]])
}

function textsIn(folder: string): [string, string][] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [name, readFileSync(join(folder, name), 'utf8')])
}

/**
 * tsc writes the router's type out in full, down to the inputs and outputs, so that it needs nothing of the service but two
 * names: what a procedure is given besides its input, and how it appears on the REST door. Neither concerns a client.
 */
function routerDeclaration(declarations: Files): string {
  const type = replaceOnce(
    declarations.get('router.d.ts') ?? '',
    'export declare const appRouter:',
    'export type AppRouter =',
  )
  const alone = replaceOnce(type, '\nexport type AppRouter = typeof appRouter;', '')
  const opaque = alone.replace(/import\("\.\/(?:trpc|rest-meta)\.ts"\)\.\w+/g, 'object')
  return [...declarations.values()].flatMap(commentedProcedures).reduce(restoreComment, opaque)
}

interface CommentedProcedure {
  comment: string
  /** How its declaration begins. */
  start: string
}

function commentedProcedures(declaration: string): CommentedProcedure[] {
  const pattern = /(\/\*\*(?:(?!\*\/).)*\*\/)\s+(\w+: import\("@trpc\/server"\)\.TRPC\w+Procedure<)/gs
  return [...declaration.matchAll(pattern)].map(([, comment = '', start = '']) => ({ comment, start }))
}

/** tsc leaves out the comments of other files, and with them that a procedure is deprecated. */
function restoreComment(router: string, { comment, start }: CommentedProcedure): string {
  return replaceOnce(router, ` ${start}`, ` ${comment}\n        ${start}`)
}

function replaceOnce(text: string, part: string, replacement: string): string {
  const [before, after, ...more] = text.split(part)
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`The declaration of the router should contain "${part}" once.`)
  }
  return before + replacement + after
}

/** Whatever is imported must be in the package or in what is installed with it. */
function checkImports(files: Files): void {
  const wrong = [...files].flatMap(([name, text]) =>
    [...text.matchAll(/\b(?:from|import)\s*\(?\s*(['"])(.+?)\1|\/\/\/\s*<reference.*/g)]
      .map(([reference, , specifier]) => specifier ?? reference)
      .filter((specifier) => !isProvided(specifier, name, files))
      .map((specifier) => `${name} needs ${specifier}`),
  )
  if (wrong.length > 0) throw new Error(`The package lacks what it needs.\n${wrong.join('\n')}`)
}

function isProvided(specifier: string, importer: string, files: Files): boolean {
  const [, own] = /^\.\/([\w-]+)\.js$/.exec(specifier) ?? []
  if (own !== undefined) return files.has(own + (importer.endsWith('.d.ts') ? '.d.ts' : '.js'))
  const [, dependency = ''] = /^(@[\w-]+\/[\w-]+|[\w-]+)(?:\/|$)/.exec(specifier) ?? []
  return Object.hasOwn(manifest.dependencies, dependency)
}

/** Each file appears as a whole, so that several builds, and who reads meanwhile, do not disturb each other. */
function put(files: Files, folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of files) {
    const unfinished = join(folder, `../${name}.${process.pid}`)
    writeFileSync(unfinished, text)
    renameSync(unfinished, join(folder, name))
  }
  for (const name of readdirSync(folder)) {
    if (!files.has(name)) rmSync(join(folder, name), { recursive: true, force: true })
  }
}
