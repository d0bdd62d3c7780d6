import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createProduct, type Options } from '../../engine/create.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { root } from './documents.ts'

/** A new product with the name of the example, and with the packages of this repository. */
export function copyEngines(options: Options = {}): string {
  const folder = join(temporaryFolder(), 'notes')
  createProduct(folder, options)
  for (const path of [
    'node_modules',
    ...(options.withTests && options.withConsole ? ['engine/console/test/browser/node_modules'] : []),
  ])
    symlinkSync(join(root, path), join(folder, path))
  return folder
}
