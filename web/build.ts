import { createHash } from 'node:crypto'

import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const built = join(import.meta.dirname, 'dist')
const digestFile = '.digest'

if (import.meta.main) await buildConsole()

/** Builds the console into `web/dist`, unless what is there was made from the same sources. */
export async function buildConsole(): Promise<void> {
  const digest = digestOfSources()
  if (digest === digestOf(built)) return
  const vite = await import('vite').catch(explainAbsence)
  if (!vite) return
  if (process.stderr.isTTY) process.stderr.write('Building the console …\n')
  // The shell's own would be heeded, and make a console for development.
  process.env.NODE_ENV = 'production'
  // Elsewhere and then put in place, since others may build it, too, or serve what is there.
  const folder = join(root, 'node_modules/.cache', `console-${process.pid}`)
  await vite.build({
    configFile: join(import.meta.dirname, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: true },
  })
  writeFileSync(join(folder, digestFile), digest)
  putInPlace(folder)
}

function putInPlace(folder: string): void {
  rmSync(built, { recursive: true, force: true })
  try {
    renameSync(folder, built)
  } catch (error) {
    rmSync(folder, { recursive: true })
    if (digestOf(built) === undefined) throw error
  }
}

/** Of all that the console is made from. */
function digestOfSources(): string {
  const patterns = ['web/**', 'client/**', 'package-lock.json', 'tsconfig.json']
  const files = globSync(patterns, { cwd: root, exclude: ['web/dist', 'web/screenshots'], withFileTypes: true })
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
  const hash = createHash('sha256')
  for (const path of paths.sort()) hash.update(`${path}\0`).update(readFileSync(path)).update('\0')
  return hash.digest('hex')
}

/** Of what a built console was made from. */
function digestOf(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, digestFile), 'utf8')
  } catch {
    return undefined
  }
}

function explainAbsence(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
  process.stderr.write(
    'The console is not built, since its tools are not installed: "npm ci" without --omit=dev installs them.\n',
  )
}
