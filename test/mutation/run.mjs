// Mutation testing: changes the code in one place after the other and checks that a test fails.
// `npm run test:mutation` tests all parts, `npm run test:mutation -- store` one part.
import { availableParallelism } from 'node:os'
import { Stryker } from '@stryker-mutator/core'

/** The tests of a part run in one process. Tests that start other processes would not see the changed code. */
const parts = {
  domain: {
    mutate: [
      'server/api/{idempotency-key,int64,output,pets,procedures,router,trpc,validation}.ts',
      'server/cache/*.ts',
      'server/http/routing.ts',
      'server/rest/{adapter,document,input,links,operations}.ts',
      'server/rpc/*.ts',
    ],
    tests:
      'contract decisions document idempotency int64 output parity procedures prototype-pollution revision-cache rpc calls superjson-writer',
  },
  connections: {
    mutate: [
      'server/http/{connection-closing,connections,error-responses,health,limits,load-shedding,request-checks,response-headers,routing,server}.ts',
      'server/rest/reference.ts',
    ],
    tests:
      'health http http-connections http-continue http-errors overload pipelining security security-headers smuggling',
  },
  errors: {
    mutate: ['server/{app,api/errors}.ts'],
    tests: 'config contract decisions document errors http-errors idempotency log rate-limit rpc security',
  },
  access: {
    mutate: ['server/auth/*.ts', 'server/config.ts', 'server/ops/{duration,keys,operator-error}.ts'],
    tests: 'config keys rate-limit security',
  },
  files: {
    mutate: ['db/*.ts', 'db/sqlite/migrate.ts', 'db/sqlite/file/*.ts', 'db/sqlite/store/prepare.ts'],
    tests: 'database failure health migrations unusable-database',
  },
  // Without backups and restores, whose code runs only in other processes.
  store: {
    mutate: [
      'db/sqlite/{idempotency,statements}.ts',
      'db/sqlite/{recovery,store,writer}/*.ts',
      '!db/sqlite/store/prepare.ts',
    ],
    tests: 'contract database health idempotency migrations lost-database lost-log disk-faults',
    // Stryker does not learn which lines a test covers in the writer thread.
    coverageAnalysis: 'off',
  },
}

const asked = process.argv.slice(2)
const total = { detected: 0, valid: 0 }
for (const [name, { mutate, tests, coverageAnalysis = 'perTest' }] of Object.entries(parts)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const results = await new Stryker({
    mutate,
    testFiles: [`test/**/{${tests.replaceAll(' ', ',')}}.test.ts`],
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    plugins: ['@stryker-mutator/vitest-runner'],
    // Most strings that the code compares are also types, so TypeScript finds a change. The others are messages.
    mutator: { excludedMutations: ['StringLiteral'] },
    coverageAnalysis,
    ignoreStatic: coverageAnalysis === 'perTest',
    ignorePatterns: ['data', 'test/mutation/node_modules'],
    // The tests wait about half of the time.
    concurrency: 2 * availableParallelism(),
    timeoutMS: 20_000,
    // Stryker cannot rewrite it with TypeScript 7, and does not need to.
    tsconfigFile: 'none',
    // Not in node_modules, where Node does not strip types.
    tempDirName: '.stryker',
    incremental: true,
    incrementalFile: `node_modules/.cache/mutation-${name}.json`,
    reporters: ['clear-text', 'progress'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  }).runMutationTest()
  const detected = results.filter(({ status }) => status === 'Killed' || status === 'Timeout')
  const missed = results.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
  total.detected += detected.length
  total.valid += detected.length + missed.length
}
console.log(
  `Detected ${total.detected} of ${total.valid} changes: ${((100 * total.detected) / total.valid).toFixed(1)} %`,
)
