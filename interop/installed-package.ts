import { execFile } from 'node:child_process'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { type AtEnd, temporaryFolder } from '../engine/test/support/temporary.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')

export interface InstalledPackage {
  tarball: string
  /** A project that contains only the installed package, a compiler and code that uses the package. */
  project: string
}

/** Packs the client and installs the tarball in a new project. */
export async function installPackage(atEnd: AtEnd): Promise<InstalledPackage> {
  const folder = temporaryFolder(atEnd)
  await run('npm', ['run', 'pack:client', '--', '--pack-destination', folder], { cwd: root })
  const [filename = ''] = globSync('*.tgz', { cwd: folder })
  const tarball = join(folder, filename)

  const project = join(folder, 'project')
  cpSync(join(import.meta.dirname, 'package'), project, { recursive: true })
  const types = readFileSync(join(root, 'test/rpc/rpc.types.ts'), 'utf8')
  writeFileSync(join(project, 'calls.ts'), types.replace("'../../client/index.ts'", "'petstore-client'"))
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const words = ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball, `typescript@${ts.version}`]
  await run('npm', words, { cwd: project })
  return { tarball, project }
}
