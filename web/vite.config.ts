import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import scalar from '@scalar/fastify-api-reference'
import react from '@vitejs/plugin-react'
import fastify from 'fastify'
import { defineConfig, type Plugin } from 'vite'

/** The service that `npm run dev:web` talks to. */
const service = 'http://127.0.0.1:3000'

/** The notices of the libraries in the scripts, which their licenses require. */
const licenseFile = 'licenses.md'

/** Leaves out the code with which Mantine adds style elements: the content security policy forbids them. */
const noStyleElements: Plugin = {
  name: 'no-style-elements',
  load(id) {
    const [, name] = /[\\/](MantineCssVariables|MantineClasses)\.mjs$/.exec(id) ?? []
    return name && `export const ${name} = () => null`
  },
}

/** The script of Scalar for browsers, which its plugin for Fastify contains. */
const scalarScript: Plugin = {
  name: 'scalar-script',
  async generateBundle() {
    const app = fastify()
    await app.register(scalar, { configuration: { url: '/openapi.json' } })
    const { payload } = await app.inject('/reference/js/scalar.js')
    this.emitFile({ type: 'asset', fileName: 'docs/scalar.js', source: payload })
  },
}

/** The notices of what Vite does not bundle: the icons, which are in our sources, and the script of Scalar. */
const otherLicenses: Plugin = {
  name: 'other-licenses',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      const notices = bundle[licenseFile]
      if (notices?.type !== 'asset') throw new Error(`The build has no ${licenseFile}.`)
      const icons = readFileSync(new URL('../engine/console/components/icons-license.txt', import.meta.url), 'utf8')
      const ofScalar = readFileSync(new URL('../LICENSE', import.meta.resolve('@scalar/fastify-api-reference')), 'utf8')
      notices.source += `\n${icons}\n## Scalar (MIT)\n\n${ofScalar}`
    },
  },
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Relative URLs, because the path of PUBLIC_URL is known only when the service starts.
  base: './',
  // `.env` files would change the console without changing its sources.
  envDir: false,
  plugins: [react(), noStyleElements, scalarScript, otherLicenses],
  build: {
    target: 'es2022',
    // The content security policy forbids inline scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: licenseFile },
    rolldownOptions: {
      input: ['index.html', 'docs/index.html'].map((page) => fileURLToPath(new URL(page, import.meta.url))),
      // What the first load needs is one file, which compresses better than several.
      output: {
        codeSplitting: {
          groups: [
            // What the page of the API reference shares with the console.
            {
              name: 'api-key',
              test: /[\\/](?:web[\\/]\w+[\\/]product|engine[\\/]console[\\/](?:sign-in[\\/]api-key|service|storage))\.ts$/,
              priority: 1,
            },
            { name: 'main', tags: ['$initial'], test: /^(?!.*[\\/]web[\\/]docs[\\/])/ },
          ],
        },
      },
      // Do not warn that plugins are slow.
      checks: { bundlerTimings: false },
    },
  },
  // The service serves the API reference, with the built console.
  server: { proxy: { '/trpc': service, '/docs': service, '/assets': service, '/openapi.json': service } },
})
