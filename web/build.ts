import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { filesOf, folders, type Part, patternsFor } from '../sources.ts'

const root = join(import.meta.dirname, '..')
const built = join(import.meta.dirname, 'dist')
const digestFile = '.digest'

/**
 * Builds the console into `web/dist`, unless the build there has the same sources. With `--if-possible`, a failed build
 * only prints a message, because the service can start without the console.
 */
try {
  // A source that changes from now on is newer than the build: see build-if-stale.sh.
  const startedAt = new Date()
  const digest = digestOfSources()
  if (digest === digestOf(built)) utimesSync(join(built, digestFile), startedAt, startedAt)
  else await build(digest, startedAt)
} catch (error) {
  if (!parseArgs({ options: { 'if-possible': { type: 'boolean' } } }).values['if-possible']) throw error
  const [reason] = (error instanceof Error ? error.message : String(error)).split('\n')
  const instead = existsSync(join(built, 'index.html')) ? 'an older one' : 'none'
  process.stderr.write(`The console could not be built, and the service starts with ${instead}. ${reason}\n`)
}

async function build(digest: string, startedAt: Date): Promise<void> {
  const vite = await import('vite')
  if (process.stderr.isTTY) process.stderr.write('Building the console …\n')
  // Vite would use the value of the shell, which may build for development.
  process.env.NODE_ENV = 'production'
  // Builds beside the target and then renames, because another process may build or read it at the same time.
  const [fresh, former] = [`${built}.${process.pid}`, `${built}.former.${process.pid}`]
  try {
    await vite.build({
      configFile: join(import.meta.dirname, 'vite.config.ts'),
      // Bundling it would bundle the router, too.
      configLoader: 'native',
      logLevel: 'warn',
      build: { outDir: fresh, emptyOutDir: true },
    })
    writeFileSync(join(fresh, digestFile), digest)
    utimesSync(join(fresh, digestFile), startedAt, startedAt)
    replaceBuild(fresh, former, digest)
  } finally {
    for (const folder of [fresh, former]) rmSync(folder, { recursive: true, force: true })
  }
}

/** Replaces the build. If another process does so at the same time, tries again unless its build has the same sources. */
function replaceBuild(fresh: string, former: string, digest: string): void {
  for (let trial = 1; digest !== digestOf(built); trial++) {
    try {
      rmSync(former, { recursive: true, force: true })
      if (existsSync(built)) renameSync(built, former)
      renameSync(fresh, built)
    } catch (error) {
      if (trial === 10) throw error
    }
  }
}

/** The digest of all sources of the program, of which the console uses some. */
function digestOfSources(): string {
  // Safe: these are its names.
  const parts = Object.keys(folders) as Part[]
  const patterns = [...patternsFor(parts, ''), 'package-lock.json', 'sources.ts', 'tsconfig.json']
  const hash = createHash('sha256')
  for (const path of filesOf(patterns, ['web/screenshots'])) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  }
  return hash.digest('hex')
}

/** The digest of the sources of a build. */
function digestOf(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, digestFile), 'utf8')
  } catch {
    return undefined
  }
}
