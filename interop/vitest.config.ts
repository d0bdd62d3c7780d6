import { defineConfig } from 'vitest/config'

/**
 * Other people's tools on this service: the clients they generate, and the suites of the REST interface with Prism between
 * caller and service, which compares every request and answer with the OpenAPI document. The suite of 64-bit integers is
 * not among these, since Prism takes all numbers for doubles.
 */
export default defineConfig({
  root: `${import.meta.dirname}/..`,
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'interop', include: ['interop/*.test.ts'], globalSetup: 'test/support/global-setup.ts' },
      },
      {
        extends: true,
        test: {
          name: 'prism',
          include: ['contract', 'decisions', 'idempotency', 'parity'].map((name) => `test/rest/${name}.test.ts`),
          setupFiles: 'interop/prism/setup.ts',
        },
      },
    ],
    execArgv: ['--import', './db/fast-start.mjs'],
    testTimeout: 30_000,
    maxWorkers: 2,
  },
})
