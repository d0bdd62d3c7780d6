import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
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

/**
 * Puts the styles of the console into a cascade layer. It is the first one of the page, so on the API reference those of
 * Scalar take precedence. Only the style sheet that adapts Scalar is outside of it.
 */
const styleLayer: Plugin = {
  name: 'style-layer',
  enforce: 'pre',
  transform: (code, id) => (/(?<!reference)\.css$/.test(id) ? `@layer console {\n${code}\n}` : undefined),
}

/** The icons are in our sources, so Vite does not know their license. */
const iconsLicense: Plugin = {
  name: 'icons-license',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      const notices = bundle[licenseFile]
      if (notices?.type !== 'asset') throw new Error(`The build has no ${licenseFile}.`)
      notices.source += `\n${readFileSync(new URL('components/icons-license.txt', import.meta.url), 'utf8')}`
    },
  },
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Relative URLs, because the path of PUBLIC_URL is known only when the service starts.
  base: './',
  // `.env` files would change the console without changing its sources.
  envDir: false,
  plugins: [react(), noStyleElements, styleLayer, iconsLicense],
  build: {
    target: 'es2022',
    // The content security policy forbids inline scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: licenseFile },
    rolldownOptions: {
      // What the first load needs is one file, which compresses better than several.
      output: {
        codeSplitting: {
          groups: [{ name: 'main', tags: ['$initial'] }],
        },
      },
      // Do not warn that plugins are slow.
      checks: { bundlerTimings: false },
    },
  },
  // The service serves the API reference, with the built console.
  server: { proxy: { '/trpc': service, '/docs': service, '/assets': service, '/openapi.json': service } },
})
