import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type AtEnd, temporaryFolder } from '../engine/test/support/temporary.ts'
import { buildPackage } from '../test/support/built-package.ts'

const run = promisify(execFile)

export interface InstalledService {
  /** The built package, before it was packed. */
  built: string
  /** The folder in which npm has installed the package. */
  prefix: string
}

/** Packs the service and installs the tarball in a folder that every user may read. */
export async function installService(atEnd?: AtEnd): Promise<InstalledService> {
  const folder = temporaryFolder(atEnd)
  const [built, prefix] = [join(folder, 'built'), join(folder, 'prefix')]
  await buildPackage(built)
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder, built])
  const [{ filename }] = JSON.parse(stdout)
  mkdirSync(prefix)
  const words = ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--prefix', prefix]
  await run('npm', [...words, join(folder, filename)], { cwd: folder })
  chmodSync(folder, 0o755)
  return { built, prefix }
}
