import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Plugin, rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { appRouter } from '../server/router.ts'
import { addTsdoc } from './tsdoc.ts'

const root = join(import.meta.dirname, '..')
const target = join(root, 'dist/client')
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Builds the package that other projects install: one module in `dist/client`, and one declaration file. */
const compiled = mkdtempSync(join(tmpdir(), 'petstore-client-'))
try {
  compileInto(compiled)
  rmSync(target, { recursive: true, force: true })
  await bundle('index.js')
  await bundle('index.d.ts', dts(), { name: 'tsdoc', renderChunk: (code) => addTsdoc(code, appRouter) })
} finally {
  rmSync(compiled, { recursive: true })
}

/** Compiles the client, and the modules of the server that define the type of its router. */
function compileInto(folder: string): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const project = join(import.meta.dirname, 'tsconfig.build.json')
  execFileSync(process.execPath, [tsc, '-p', project, '--outDir', folder], { stdio: ['ignore', 2, 2] })
  // The router's type refers to these types of the server. A client does not use them, and they refer to the store.
  const unused = {
    'server/api/trpc.d.ts': ['ResolverContext<Store>', 'ReplayContext<Store>', 'ProcedureMeta', 'MutationMeta'],
    'db/resources.d.ts': ['Store'],
  }
  for (const [file, types] of Object.entries(unused))
    writeFileSync(join(folder, file), types.map((type) => `export type ${type} = object\n`).join(''))
}

/** Bundles a compiled file of the client, together with what it imports from the server, into one file of the package. */
async function bundle(name: string, ...plugins: Plugin[]): Promise<void> {
  const bundled = await rollup({
    input: join(compiled, 'client', name),
    external: /^[^./]/,
    plugins,
    onwarn: fail,
  })
  const { output } = await bundled.write({ file: join(target, name) })
  checkImports(output[0].code)
}

function fail({ message }: { message: string }): never {
  throw new Error(message)
}

/** Throws if the bundle imports a package that is not installed together with the client. */
function checkImports(code: string): void {
  for (const [, specifier = ''] of code.matchAll(/\b(?:from|import)[ (]*["']([^"']+)/g)) {
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
    if (!Object.hasOwn(dependencies, name))
      throw new Error(`The client imports ${name}, which is not one of its dependencies.`)
  }
}
