import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const built = join(import.meta.dirname, 'dist')
const digestFile = '.digest'

/**
 * Builds the console into `web/dist`, unless what is there was made from the same sources. With `--if-possible`, a failure
 * is no more than a sentence: the service can do without.
 */
try {
  const digest = digestOfSources()
  if (digest !== digestOf(built)) await build(digest)
} catch (error) {
  if (!parseArgs({ options: { 'if-possible': { type: 'boolean' } } }).values['if-possible']) throw error
  const [reason] = (error instanceof Error ? error.message : String(error)).split('\n')
  const instead = existsSync(join(built, 'index.html')) ? 'an older one' : 'none'
  process.stderr.write(`The console could not be built, and the service starts with ${instead}. ${reason}\n`)
}

async function build(digest: string): Promise<void> {
  const vite = await import('vite')
  if (process.stderr.isTTY) process.stderr.write('Building the console …\n')
  // The shell's own would be heeded, and make a console for development.
  process.env.NODE_ENV = 'production'
  // Beside its place and then put there, since others may build it, too, or begin to serve it.
  const [fresh, former] = [`${built}.${process.pid}`, `${built}.former.${process.pid}`]
  try {
    await vite.build({
      configFile: join(import.meta.dirname, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: fresh, emptyOutDir: true },
    })
    writeFileSync(join(fresh, digestFile), digest)
    put(fresh, former, digest)
  } finally {
    for (const folder of [fresh, former]) rmSync(folder, { recursive: true, force: true })
  }
}

/** Others may put theirs in the same place meanwhile: then it is tried again, unless theirs is as good. */
function put(fresh: string, former: string, digest: string): void {
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

/** Of all that the console is made from. */
function digestOfSources(): string {
  const files = globSync(['web/**', 'client/**', 'package-lock.json', 'tsconfig.json'], {
    cwd: root,
    exclude: ['web/dist', 'web/dist.*', 'web/screenshots'],
    withFileTypes: true,
  })
  const paths = files.filter((file) => file.isFile()).map((file) => relative(root, join(file.parentPath, file.name)))
  const hash = createHash('sha256')
  for (const path of paths.map((each) => each.replaceAll(sep, '/')).sort()) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  }
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
