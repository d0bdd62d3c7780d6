import { defineConfig } from 'vitest/config'

/** The suites of both doors and of the API keys: they hold word for word on PostgreSQL, too. */
const onBothDatabases = [
  'conformance',
  'contract',
  'decisions',
  // So many requests take a while; the long form asks them here, too.
  ...(process.env.LONG_FORM ? ['hostile'] : []),
  'idempotency',
  'int64',
  'keys',
  'log',
  'parity',
  'rate-limit',
  'rpc',
  'rpc-direct',
  'security',
]

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['test/*.test.ts', 'test/web/*.test.ts'],
          globalSetup: 'test/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [...onBothDatabases.map((name) => `test/${name}.test.ts`), 'test/postgres/*.test.ts'],
          globalSetup: 'test/postgres/global-setup.ts',
          setupFiles: 'test/postgres/setup.ts',
        },
      },
    ],
    execArgv: ['--import', './db/fast-start.mjs'],
    testTimeout: 30_000,
    // The default, a second, is too short on a machine that is busy.
    expect: { poll: { timeout: 10_000 } },
    // To load the modules anew for each file took a fifth of the time. What they keep (nothing but caches) may be shared.
    isolate: false,
    // One more than the cores of a small machine: many tests wait for processes, disks and time to pass.
    maxWorkers: 3,
    coverage: {
      include: ['server/**', 'db/**', 'client/**'],
      exclude: ['**/*.json', '**/*.sql', 'client/build.ts'],
      reporter: ['text'],
    },
  },
})
