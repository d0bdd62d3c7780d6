import { createRequire } from 'node:module'
import { join } from 'node:path'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

const { resolve } = createRequire(import.meta.url)

/** What tests need wherever they run. */
export const common = {
  // Loads the same build of drizzle-orm as the service does. Its ES modules take seconds (engine/store/fast-start.mjs).
  plugins: [
    {
      name: 'drizzle-orm',
      enforce: 'pre',
      resolveId: { filter: { id: /^drizzle-orm/ }, handler: (id) => resolve(id) },
    },
  ],
  test: {
    execArgv: ['--import', join(import.meta.dirname, '../store/fast-start.mjs')],
    // Limits for a busy machine, on which a test takes many times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Loading the modules again for each file took a fifth of the time. They keep no state but caches, and queues that
    // are empty after each test.
    isolate: false,
    // Twice the cores of a small machine: many tests wait for processes, disks and timers.
    maxWorkers: 4,
  },
} satisfies ViteUserConfig

/** The settings of projects on PostgreSQL. */
export const postgres = {
  globalSetup: 'engine/test/support/postgres/global-setup.ts',
  setupFiles: 'engine/test/support/postgres/setup.ts',
}

/** The tests of a product that has copied the engines, its own and theirs: `npx vitest run --config engine/test/vitest.config.ts`. */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    projects: [
      {
        extends: true,
        test: {
          name: 'product',
          include: ['test/**/*.test.ts'],
          globalSetup: 'engine/test/support/postgres/given-server.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: [
            'engine/client/test/*.test.ts',
            'engine/console/test/{*,bulk/*}.test.ts',
            'engine/service/test/!(postgres|endurance)/*.test.ts',
            'engine/store/test/{collections,sqlite,store}/*.test.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [
            'engine/store/test/{collections,postgres,store}/*.test.ts',
            'engine/service/test/postgres/*.test.ts',
          ],
          ...postgres,
        },
      },
      {
        extends: true,
        test: { name: 'endurance', include: ['engine/service/test/endurance/{,files/}*.test.ts'] },
      },
    ],
  },
})
