import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** The service that `npm run dev:web` talks to. */
const service = 'http://127.0.0.1:3000'

/** Leaves out the code with which Mantine adds style elements: the content security policy forbids them. */
const noStyleElements: Plugin = {
  name: 'no-style-elements',
  load(id) {
    const [, name] = /[\\/](MantineCssVariables|MantineClasses)\.mjs$/.exec(id) ?? []
    return name && `export const ${name} = () => null`
  },
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Relative URLs, because the path of PUBLIC_URL is known only when the service starts.
  base: './',
  // `.env` files would change the console without changing its sources.
  envDir: false,
  plugins: [react(), noStyleElements],
  build: {
    target: 'es2022',
    // The content security policy forbids inline scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The notices of the libraries in the scripts, which their licenses require.
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      // What the first load needs is one file, which compresses better than several.
      output: { codeSplitting: { groups: [{ name: 'main', tags: ['$initial'] }] } },
      // Do not warn that plugins are slow.
      checks: { bundlerTimings: false },
    },
  },
  server: { proxy: { '/trpc': service, '/docs': service, '/openapi.json': service } },
})
