import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import scalar from '@scalar/fastify-api-reference'
import type { AnyRouter } from '@trpc/server'
import react from '@vitejs/plugin-react'
import fastify from 'fastify'
import type { Plugin, UserConfig } from 'vite'
import { proceduresOf } from '#service'
import type { Procedure } from './requests/procedures.ts'

/** The service that the server of Vite for developers talks to. */
const service = 'http://127.0.0.1:3000'

/** The notices of the libraries in the scripts, which their licenses require. */
const licenseFile = 'licenses.md'

const scalarFile = 'docs/scalar.js'

/**
 * Moves the style sheets of the console below the content of its page, which the browser then shows at once. Style sheets in
 * the head would delay it by another round trip. Those that are loaded later follow them, and so take precedence.
 */
const lateStyleSheets: Plugin = {
  name: 'late-style-sheets',
  renderChunk(code) {
    return code.replace('document.head.appendChild(link)', 'document.body.appendChild(link)')
  },
  transformIndexHtml: {
    order: 'post',
    handler(html, { path }) {
      if (path !== '/index.html') return html
      const links = html.match(/ *<link rel="stylesheet".*\n/g) ?? []
      const rest = links.reduce((text, link) => text.replace(link, ''), html)
      return rest.replace(/ *<\/body>/, (end) => links.join('') + end)
    },
  },
}

/** The script of Scalar for browsers, which its plugin for Fastify contains. */
const scalarScript: Plugin = {
  name: 'scalar-script',
  async generateBundle() {
    const app = fastify()
    await app.register(scalar, { configuration: { url: '/openapi.json' } })
    const { payload } = await app.inject('/reference/js/scalar.js')
    this.emitFile({ type: 'asset', fileName: scalarFile, source: payload })
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
      const icons = readFileSync(new URL('components/icons-license.txt', import.meta.url), 'utf8')
      const ofScalar = readFileSync(new URL('../LICENSE', import.meta.resolve('@scalar/fastify-api-reference')), 'utf8')
      notices.source += `\n${icons}${scalarFile in bundle ? `\n## Scalar (MIT)\n\n${ofScalar}` : ''}`
    },
  },
}

/**
 * The configuration of Vite for a console.
 *
 * @param root the folder with the page `index.html` and, if there is one, that of the API reference, `docs/index.html`
 * @param router of the service, whose methods and paths the page shows
 */
export function consoleConfig(root: string, router: AnyRouter): UserConfig {
  const pages = ['index.html', 'docs/index.html'].filter((page) => existsSync(join(root, page)))
  return {
    root,
    // Relative URLs, because the path of PUBLIC_URL is known only when the service starts.
    base: './',
    // `.env` files would change the console without changing its sources.
    envDir: false,
    define: { SERVICE_PROCEDURES: JSON.stringify(proceduresIn(router)) },
    // wouter also brings the hook for versions of React that lack it.
    resolve: { alias: { 'use-sync-external-store/shim/index.js': 'react' } },
    plugins: [react(), lateStyleSheets, pages.length > 1 && scalarScript, otherLicenses],
    build: {
      target: 'es2022',
      // The content security policy forbids inline scripts and styles.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      license: { fileName: licenseFile },
      rolldownOptions: {
        input: pages.map((page) => join(root, page)),
        // The package does not say so itself. Otherwise the console would contain its client of WebSocket.
        treeshake: { moduleSideEffects: [{ test: /[\\/]@trpc[\\/]client[\\/]/, sideEffects: false }] },
        // What the first load needs is one file, which compresses better than several.
        output: {
          // The first load has the names of all parts, and a shorter hash compresses better.
          entryFileNames: 'assets/[name]-[hash:6].js',
          chunkFileNames: 'assets/[name]-[hash:6].js',
          assetFileNames: 'assets/[name]-[hash:6][extname]',
          codeSplitting: {
            groups: [
              // What the page of the API reference shares with the console.
              {
                name: 'api-key',
                test: /[\\/](?:product|engine[\\/]console[\\/](?:api-key|service|storage))\.ts$/,
                priority: 1,
              },
              { name: 'main', tags: ['$initial'], test: /^(?!.*[\\/]docs[\\/])/ },
            ],
          },
        },
        // Do not warn that plugins are slow.
        checks: { bundlerTimings: false },
      },
    },
    // The service serves the API reference, with the built console.
    server: { proxy: { '/trpc': service, '/docs': service, '/assets': service, '/openapi.json': service } },
  }
}

/** What the page knows of the procedures of a router. */
export function proceduresIn(router: AnyRouter): Record<string, Procedure> {
  return Object.fromEntries(
    proceduresOf(router).map(({ name, type, meta: { openapi } }) => [
      name,
      { type, ...(openapi && { method: openapi.method, path: openapi.path }) },
    ]),
  )
}
