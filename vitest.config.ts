import { defineConfig } from 'vitest/config'

/** The test files that run on SQLite, and those that run on PostgreSQL. Some run on both. */
const onSqlite = 'test/{api,auth,client,http,ops,project,rest,rpc,sqlite,web}/*.test.ts'
const onPostgres = 'test/{auth,postgres,rest,rpc}/*.test.ts'
const storeSequences = 'test/endurance/store-sequences.test.ts'

const postgres = {
  globalSetup: 'test/support/postgres/global-setup.ts',
  setupFiles: 'test/support/postgres/setup.ts',
}

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'sqlite', include: [onSqlite], globalSetup: 'test/support/global-setup.ts' },
      },
      { extends: true, test: { name: 'postgres', include: [onPostgres], ...postgres } },
      {
        extends: true,
        test: { name: 'endurance', include: ['test/endurance/*.test.ts'], exclude: [storeSequences] },
      },
      {
        extends: true,
        test: {
          name: 'endurance-postgres',
          // The long form also sends the hostile requests to a service on PostgreSQL.
          include: [storeSequences, ...(process.env.LONG_FORM ? ['test/endurance/hostile.test.ts'] : [])],
          ...postgres,
        },
      },
    ],
    execArgv: ['--import', './db/fast-start.mjs'],
    testTimeout: 30_000,
    // The default of one second is too short on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // Loading the modules again for each file took a fifth of the time. They keep no state but caches.
    isolate: false,
    // One more than the cores of a small machine, because many tests wait for processes, disks and timers.
    maxWorkers: 3,
    coverage: {
      include: ['server/**', 'db/**', 'client/**'],
      exclude: ['**/*.json', '**/*.sql', 'client/build.ts'],
      reporter: ['text'],
    },
  },
})
