import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    execArgv: ['--import', './db/fast-start.mjs'],
    testTimeout: 30_000,
    maxWorkers: 2,
    coverage: {
      include: ['server/**', 'db/**', 'client/**'],
      exclude: ['**/*.json', '**/*.sql'],
      reporter: ['text'],
    },
  },
})
