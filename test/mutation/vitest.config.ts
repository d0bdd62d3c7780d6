import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    setupFiles: ['test/mutation/setup.ts'],
    execArgv: ['--import', './db/fast-start.mjs'],
    // The modules are loaded once for all tests that are asked about a mutant.
    isolate: false,
    // A mutant that hangs is caught by the first test that waits for it.
    testTimeout: 10_000,
  },
})
