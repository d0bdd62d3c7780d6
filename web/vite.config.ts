import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The service that `npm run dev:web` talks to. */
const service = 'http://127.0.0.1:3000'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // `.env` files would change the console without changing its sources.
  envDir: false,
  plugins: [react()],
  build: {
    target: 'es2022',
    // The content security policy forbids inline scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The notices of the libraries in the scripts, which their licenses require.
    license: { fileName: 'licenses.md' },
    // Do not warn that plugins are slow.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  server: { proxy: { '/trpc': service, '/docs': service, '/openapi.json': service } },
})
