import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    setupFiles: ['test/mutation/setup.ts'],
    execArgv: ['--import', './db/fast-start.mjs'],
    // Loads the modules once for all tests of a mutant.
    isolate: false,
    // The first test that waits for a hanging mutant fails.
    testTimeout: 10_000,
  },
})
