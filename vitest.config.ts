import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { defineConfig } from 'vitest/config'
import { patternsFor } from './sources.ts'

/** They start processes, compile, or read other languages, and take half of the time. `npm run test:endurance` runs them. */
const slow = [
  ...['examples', 'guides'].map((name) => `engine/client/test/${name}`),
  'engine/console/test/build',
  ...['api/patterns', 'http/header-costs', 'http/static-files'].map((name) => `engine/service/test/${name}`),
  ...['admin-port', 'monitoring', 'tracing'].map((name) => `engine/service/test/telemetry/${name}`),
  ...['backup', 'cli', 'database-commands', 'pets-export'].map((name) => `engine/service/test/commands/${name}`),
  ...['sqlite/migrations', 'store/transfer'].map((name) => `engine/store/test/${name}`),
  ...['log-fields', 'nginx', 'package', 'pages', 'tour'].map((name) => `test/project/${name}`),
  ...['fixture/transfer', 'rest/conformance', 'rest/log'].map((name) => `test/${name}`),
].map((name) => `${name}.test.ts`)
const missing = slow.filter((path) => !existsSync(new URL(path, import.meta.url)))
if (missing.length > 0) throw new Error(`vitest.config.ts names files that do not exist: ${missing.join(', ')}`)

const postgres = {
  globalSetup: 'test/support/postgres/global-setup.ts',
  setupFiles: 'test/support/postgres/setup.ts',
}

const { resolve } = createRequire(import.meta.url)

export default defineConfig({
  // Loads the same build of drizzle-orm as the service does. Loading its ES modules takes seconds (engine/store/fast-start.mjs).
  plugins: [
    {
      name: 'drizzle-orm',
      enforce: 'pre',
      resolveId: { filter: { id: /^drizzle-orm/ }, handler: (id) => resolve(id) },
    },
  ],
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: [
            'test/{document,fixture,project,rest,rpc}/*.test.ts',
            'engine/client/test/*.test.ts',
            'engine/console/test/{*,bulk/*}.test.ts',
            'engine/service/test/*/*.test.ts',
            'engine/store/test/{sqlite,store}/*.test.ts',
          ],
          exclude: slow,
          globalSetup: 'test/support/global-setup.ts',
        },
      },
      // What may depend on the database runs on both databases.
      {
        extends: true,
        test: {
          name: 'postgres',
          include: ['test/fixture/*.test.ts', 'engine/store/test/{postgres,store}/*.test.ts'],
          ...postgres,
        },
      },
      {
        extends: true,
        test: {
          name: 'endurance',
          include: ['test/{endurance,endurance/clients,faults,faults/files,processes}/*.test.ts', ...slow],
          globalSetup: 'test/support/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'release',
          include: [
            ...['version', 'documentation', 'tour'].map((name) => `test/project/${name}.test.ts`),
            'test/{document,release}/*.test.ts',
          ],
          globalSetup: 'test/support/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          // Runs alone: browsers take the time that the limits of other tests need.
          include: ['engine/console/test/{browser,list,pages,requests,shelters}/*.test.ts'],
          globalSetup: 'engine/console/test/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'endurance-postgres',
          include: [
            'test/endurance/postgres/*.test.ts',
            // The adapters hide which database they use. So their tests run on PostgreSQL only here.
            '{test/{rest,rpc},engine/service/test/auth}/*.test.ts',
            'test/endurance/{key-commands,second-resource,clients/entity-tags}.test.ts',
            // The long form also sends the hostile requests to a service on PostgreSQL.
            ...(process.env.LONG_FORM ? ['test/endurance/clients/hostile.test.ts'] : []),
          ],
          ...postgres,
        },
      },
    ],
    execArgv: ['--import', './engine/store/fast-start.mjs'],
    // Limits for a busy machine, on which a test takes many times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Loading the modules again for each file took a fifth of the time. They keep no state but caches.
    isolate: false,
    // Twice the cores of a small machine: many tests wait for processes, disks and timers.
    maxWorkers: 4,
    coverage: {
      include: patternsFor(['server', 'service', 'store', 'client', 'package'], '.{ts,mjs}'),
      reporter: ['text'],
    },
  },
})
