import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { root } from './documents.ts'

/** Copies the engines with their tests, and what their page names besides, into a new folder. */
export function copyEngines(): string {
  const folder = temporaryFolder()
  cpSync(join(root, 'engine'), join(folder, 'engine'), {
    recursive: true,
    filter: (path) => !path.endsWith('node_modules'),
  })
  for (const path of ['node_modules', 'engine/console/test/browser/node_modules'])
    symlinkSync(join(root, path), join(folder, path))
  const { imports, dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const manifest = { name: 'product', type: 'module', imports, dependencies, devDependencies }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  for (const path of ['tsconfig.json', 'web/tsconfig.json']) {
    mkdirSync(dirname(join(folder, 'options', path)), { recursive: true })
    cpSync(join(root, path), join(folder, 'options', path))
  }
  const config = {
    extends: './options/web/tsconfig.json',
    compilerOptions: { incremental: false, tsBuildInfoFile: null },
    include: ['.'],
    exclude: ['engine/console/test/browser'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return folder
}
