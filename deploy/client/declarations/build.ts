import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { appRouter } from '../../../server/router.ts'
import { addTsdoc } from '../tsdoc.ts'

const root = join(import.meta.dirname, '../../..')
const target = join(root, 'client/dist/index.d.ts')
const { peerDependencies } = JSON.parse(readFileSync(join(root, 'client/package.json'), 'utf8'))
const { imports }: { imports: Record<string, string> } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** tRPC's declarations use `Disposable`, which the `lib` of many projects does not have, and do not refer to it themselves. */
const libOfTrpc = '/// <reference lib="esnext.disposable" />\n'

/** Resolves the entries of the engines. */
const entries = {
  name: 'entries',
  resolveId: (id: string) => imports[id] && join(compiled, imports[id].replace(/\.ts$/, '.d.ts')),
}

/** Bundles the declarations of the package into one file, with the types of the server that they refer to. */
const compiled = mkdtempSync(join(tmpdir(), 'petstore-client-'))
try {
  compileInto(compiled)
  const bundled = await rollup({
    input: join(compiled, 'client/index.d.ts'),
    external: (id) => /^[^./#]/.test(id),
    plugins: [entries, dts(), { name: 'tsdoc', renderChunk: (code) => `${libOfTrpc}${addTsdoc(code, appRouter)}` }],
    onwarn: fail,
  })
  const { output } = await bundled.write({ file: target })
  checkImports(output[0].imports)
  // TypeScript reads `.d.ts` as the declarations of an ES module here, so `require` needs a file of its own.
  copyFileSync(target, target.replace(/\.d\.ts$/, '.d.cts'))
} finally {
  rmSync(compiled, { recursive: true })
}

/** Compiles the client, and the modules of the server that define the type of its router. */
function compileInto(folder: string): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const project = join(import.meta.dirname, 'tsconfig.json')
  execFileSync(process.execPath, [tsc, '-p', project, '--outDir', folder], { stdio: ['ignore', 2, 2] })
  // The router's type refers to these types of the server. A client does not use them, and they refer to the store.
  const unused: Record<string, string[]> = {
    // They refer to the store. The entry exports them beside what the router's type uses.
    'engine/service/api/transfer.d.ts': ['ItemStore<New>', 'ItemType<New>', 'Transfer<Store, New>'],
    'engine/service/rest/input.d.ts': ['readBody'],
    'engine/service/procedures/procedures.d.ts': ['proceduresOf'],
    'engine/service/procedures/trpc.d.ts': [
      ...['CachedContext', 'QueryContext', 'MutationContext'].map(
        (name) => `${name}<Store, Settings = unknown, Dependencies = unknown>`,
      ),
      'MutatingStore<Store>',
      ...['SessionContext', 'ProcedureMeta', 'CachedMeta', 'QueryMeta', 'MutationMeta'],
    ],
    'db/store.d.ts': ['Store'],
  }
  for (const [file, types] of Object.entries(unused))
    writeFileSync(join(folder, file), types.map((type) => `export type ${type} = object\n`).join(''))
}

function fail({ message }: { message: string }): never {
  throw new Error(message)
}

/** Throws if the declarations import a package that is not installed together with the client. */
function checkImports(names: string[]): void {
  const unknown = names.find((name) => !Object.hasOwn(peerDependencies, name))
  if (unknown !== undefined)
    throw new Error(`The client imports ${unknown}, which is not one of its peer dependencies.`)
}
