import { defineConfig } from 'vitest/config'

/**
 * Tests with external tools: a generated client, the installed package, and the suites of the REST interface through Prism,
 * a proxy that compares every request and response with the OpenAPI document. The suite of 64-bit integers does not run
 * through Prism, because Prism parses numbers as doubles.
 */
export default defineConfig({
  root: `${import.meta.dirname}/..`,
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'interop',
          include: ['interop/*.test.ts'],
          globalSetup: ['engine/console/test/browser/chromium.ts', 'test/support/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'prism',
          include: [
            ...['contract', 'decisions', 'entity-tags'].map((name) => `test/rest/${name}.test.ts`),
            'engine/service/test/api/idempotency.test.ts',
          ],
          setupFiles: 'interop/prism/setup.ts',
        },
      },
    ],
    execArgv: ['--import', './engine/store/fast-start.mjs'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
})
