import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { root } from './documents.ts'

/** Fails if the TypeScript files of a folder do not compile. `petstore-client` is the client's source. */
export async function expectToCompile(folder: string): Promise<void> {
  const compilerOptions = {
    target: 'es2025',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    paths: {
      'petstore-client': [join(root, 'client/index.ts')],
      superjson: [join(root, 'node_modules/superjson/dist/index.d.ts')],
    },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await expect(promisify(execFile)(process.execPath, [tsc, '-p', folder])).resolves.toMatchObject({ stdout: '' })
}
