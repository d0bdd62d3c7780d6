import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const client = join(import.meta.dirname, '../../client')
const { peerDependencies } = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8'))

/**
 * Builds the modules of the package in `client/dist`, one for `import` and one for `require`. They contain superjson, which has no
 * module for `require`. The declarations need further dependencies: see the folder `declarations`.
 */
await build({
  configFile: false,
  envDir: false,
  logLevel: 'warn',
  build: {
    outDir: join(client, 'dist'),
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    lib: {
      entry: join(client, 'index.ts'),
      formats: ['es', 'cjs'],
      fileName: (format) => `index.${format === 'es' ? 'js' : 'cjs'}`,
    },
    // The notice of superjson, which its license requires.
    license: { fileName: 'licenses.md' },
    rolldownOptions: { external: Object.keys(peerDependencies) },
  },
})
