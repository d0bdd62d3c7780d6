import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { lockedDependencies } from '../../deploy/package/locked-dependencies.ts'
import { root } from './documents.ts'

/** Builds the npm package of the service in a folder. */
export async function buildPackage(folder: string): Promise<void> {
  const script = join(root, 'deploy/package/build.ts')
  await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', script, folder])
}

/**
 * Builds the package below the `node_modules` of a folder, as npm installs it, with links to its dependencies.
 *
 * @returns the path of the package
 */
export async function layOutPackage(folder: string): Promise<string> {
  const modules = join(folder, 'node_modules')
  const target = join(modules, 'petstore-service')
  await buildPackage(target)
  for (const path of Object.keys(lockedDependencies())) {
    if (path.lastIndexOf('node_modules/') > 0) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(root, path), join(folder, path))
  }
  mkdirSync(join(modules, '.bin'))
  symlinkSync(process.execPath, join(modules, '.bin/node'))
  symlinkSync('../petstore-service/bin/petstore', join(modules, '.bin/petstore'))
  return target
}
