import { existsSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const built = join(import.meta.dirname, 'dist')

/**
 * Builds the console into `web/dist`. With `--if-possible`, a failed build only prints a message, because the service can
 * start without the console.
 */
try {
  await build()
} catch (error) {
  if (!parseArgs({ options: { 'if-possible': { type: 'boolean' } } }).values['if-possible']) throw error
  const [reason] = (error instanceof Error ? error.message : String(error)).split('\n')
  const instead = existsSync(join(built, 'index.html')) ? 'an older one' : 'none'
  process.stderr.write(`The console could not be built, and the service starts with ${instead}. ${reason}\n`)
}

async function build(): Promise<void> {
  // A source that changes from now on is newer than the build: see build-if-stale.sh.
  const startedAt = new Date()
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
    utimesSync(join(fresh, 'index.html'), startedAt, startedAt)
    replaceBuild(fresh, former)
  } finally {
    for (const folder of [fresh, former]) rmSync(folder, { recursive: true, force: true })
  }
}

/** Replaces the build. Tries again if another process does so at the same time. */
function replaceBuild(fresh: string, former: string): void {
  for (let trial = 1; existsSync(fresh); trial++) {
    try {
      rmSync(former, { recursive: true, force: true })
      if (existsSync(built)) renameSync(built, former)
      renameSync(fresh, built)
    } catch (error) {
      if (trial === 10) throw error
    }
  }
}
