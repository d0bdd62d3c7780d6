// Tests the tests: changes the code in one place after the other, and looks whether a test fails.
// `npm run test:mutation` does it for all of it, `npm run test:mutation -- store` for a part.
import { availableParallelism } from 'node:os'
import { Stryker } from '@stryker-mutator/core'

/** The tests of each part run within one process: those that start others would not see what was changed. */
const parts = {
  domain: {
    mutate: [
      'server/api/{idempotency-key,int64,output,pets,procedures,rest-meta,revision-cache,router,trpc,validation}.ts',
      'server/http/routing.ts',
      'server/rest/{adapter,document,input,links,operations}.ts',
      'server/rpc/*.ts',
    ],
    tests:
      'contract decisions document idempotency int64 output parity procedures prototype-pollution revision-cache rpc calls superjson-writer',
  },
  connections: {
    mutate: [
      'server/http/{connection-closing,connections,error-responses,health,load-shedding,request-checks,response-headers,routing,server}.ts',
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
    mutate: ['db/*.ts', 'db/sqlite/{connection,failure,header,own-migrations,patience,prepare,schema}.ts'],
    tests: 'database failure health migrations unusable-database',
  },
  // Without what only runs in threads and processes of its own: copies, restores, and where the writer's thread begins.
  store: {
    mutate: ['db/sqlite/{idempotency,open-file,reader,reads,store,thread,writer,writes}.ts'],
    tests: 'contract database health idempotency migrations storage-faults',
    // What a test covers in the writer's thread is not told.
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
    // Most texts that the code compares are types too, so that TypeScript finds the change; others are for people.
    mutator: { excludedMutations: ['StringLiteral'] },
    coverageAnalysis,
    ignoreStatic: coverageAnalysis === 'perTest',
    ignorePatterns: ['data', 'test/mutation/node_modules'],
    // The tests wait as long as they compute.
    concurrency: 2 * availableParallelism(),
    timeoutMS: 20_000,
    // TypeScript 7 cannot rewrite it, and nothing in it needs to be.
    tsconfigFile: 'none',
    // Not below node_modules, where Node reads no TypeScript.
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
