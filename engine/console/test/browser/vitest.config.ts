import { defineConfig } from 'vitest/config'
import { common } from '../../../test/vitest.config.ts'

/** The tests of the console in a browser, in a product that has copied the engines. See the page of the console. */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    include: ['engine/console/test/browser/{*,item/*,list/*}.test.ts'],
    globalSetup: 'engine/console/test/browser/chromium.ts',
    maxWorkers: 2,
  },
})
