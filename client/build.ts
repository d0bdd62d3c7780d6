import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vite'

const { values } = parseArgs({ options: { declarations: { type: 'boolean' } } })
const { peerDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'))

/**
 * Builds the modules of the package in `dist`, one for `import` and one for `require`. They contain superjson, which has no
 * module for `require`. With `--declarations`, also builds the declarations, which need dependencies of their own.
 */
await build({
  configFile: false,
  envDir: false,
  logLevel: 'warn',
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    lib: {
      entry: join(import.meta.dirname, 'index.ts'),
      formats: ['es', 'cjs'],
      fileName: (format) => `index.${format === 'es' ? 'js' : 'cjs'}`,
    },
    // The notice of superjson, which its license requires.
    license: { fileName: 'licenses.md' },
    rolldownOptions: { external: Object.keys(peerDependencies) },
  },
})

if (values.declarations) {
  const folder = join(import.meta.dirname, 'declarations')
  execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--silent'], { cwd: folder })
  execFileSync(process.execPath, [join(folder, 'build.ts')], { stdio: ['ignore', 2, 2] })
}
