import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The service that `npm run dev:web` talks to. */
const service = 'http://127.0.0.1:3000'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // What would change the console without changing its sources.
  envDir: false,
  plugins: [react()],
  build: {
    target: 'es2022',
    // The policy of the page lets no script or style in that is part of the page itself.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A slow machine is not worth a warning.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  server: { proxy: { '/trpc': service, '/docs': service, '/openapi.json': service } },
})
