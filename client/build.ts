import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const { peerDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'))

/**
 * Builds the modules of the package in `dist`, one for `import` and one for `require`. They contain superjson, which has no
 * module for `require`. The declarations need further dependencies: see the folder `declarations`.
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
