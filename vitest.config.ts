import { defineConfig } from 'vitest/config'
import { common, postgres } from './engine/test/vitest.config.ts'
import { patternsFor } from './sources.ts'

/**
 * Tests that start processes, compile, or read other languages, and take half of the time. `npm run test:endurance` runs
 * them.
 */
const slow = '{test,engine}/**/*.slow.test.ts'

export default defineConfig({
  ...common,
  test: {
    ...common.test,
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: [
            'test/{client,deploy,document,project,rest,rpc,store}/*.test.ts',
            'test/file/*.test.ts',
            'engine/client/test/*.test.ts',
            'engine/console/test/{*,bulk/*}.test.ts',
            'test/console/*.test.ts',
            'engine/service/test/!(postgres|endurance)/*.test.ts',
            'engine/store/test/{collections,sqlite,store}/*.test.ts',
          ],
          exclude: [slow],
          globalSetup: 'test/support/global-setup.ts',
        },
      },
      // What may depend on the database runs on both databases.
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [
            'test/store/*.test.ts',
            'test/postgres/*.test.ts',
            'engine/store/test/{collections,postgres,store}/*.test.ts',
            'engine/service/test/api/{adapters,change,errors,history,idempotency,int64,own-procedures,parts,time}.test.ts',
            'engine/service/test/{commands/import.slow,postgres/*,telemetry/spans}.test.ts',
          ],
          ...postgres,
        },
      },
      {
        extends: true,
        test: {
          name: 'endurance',
          include: [
            'test/{endurance,endurance/clients,faults,processes}/*.test.ts',
            'engine/service/test/endurance/{,files/}*.test.ts',
            slow,
          ],
          globalSetup: 'test/support/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'release',
          include: [
            ...['version', 'documentation', 'tour.slow'].map((name) => `test/project/${name}.test.ts`),
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
          include: [
            'engine/console/test/browser/{*,item/*,list/*}.test.ts',
            'test/console/{browser,item,list,pages}/*.test.ts',
          ],
          globalSetup: ['engine/console/test/browser/chromium.ts', 'test/support/global-setup.ts'],
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
            'test/endurance/key-commands.test.ts',
            // The long form also sends the hostile requests to a service on PostgreSQL.
            ...(process.env.LONG_FORM ? ['test/endurance/clients/hostile.test.ts'] : []),
          ],
          ...postgres,
        },
      },
    ],
    coverage: {
      include: patternsFor(['server', 'service', 'store', 'client', 'package'], '.{ts,mjs}'),
      reporter: ['text'],
    },
  },
})
