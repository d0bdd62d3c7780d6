import { defineConfig } from 'vitest/config'

const isLongForm = process.env.LONG_FORM !== undefined

/** The suites of the folders that `npm test` runs on SQLite, and of those that it runs on PostgreSQL. */
const onSqlite = 'test/{api,auth,client,http,ops,project,rest,rpc,sqlite,web}/*.test.ts'
const onPostgres = 'test/{auth,postgres,rest,rpc}/*.test.ts'

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'sqlite', include: [onSqlite], globalSetup: 'test/support/global-setup.ts' },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          // The long form sends the hostile requests to a service on PostgreSQL, too.
          include: [onPostgres, ...(isLongForm ? ['test/endurance/hostile.test.ts'] : [])],
          globalSetup: 'test/support/postgres/global-setup.ts',
          setupFiles: 'test/support/postgres/setup.ts',
        },
      },
      { extends: true, test: { name: 'endurance', include: ['test/endurance/*.test.ts'] } },
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
