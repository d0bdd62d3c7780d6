import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { openStore } from '../../db/open.ts'
import { resources, type Store } from '../../db/resources.ts'
import type { StoreObserver } from '../../db/store.ts'
import type { TracingOptions } from '../../server/telemetry/trace-variables.ts'
import { Tracing } from '../../server/telemetry/tracing.ts'
import { isOnPostgres, type TestDatabase, testDatabase } from './database.ts'
import { type StartOptions, startTestApi } from './test-api.ts'
import { startTraceCollector } from './trace-collector.ts'

/** Starts the service with a collector. `stop` sends all spans to it. */
export async function startTracedApi(
  traceOptions: Partial<TracingOptions> = {},
  options: StartOptions = {},
  open: (observer: StoreObserver) => Promise<Store> = openObserved,
) {
  const collector = await startTraceCollector()
  const tracing = new Tracing(
    {
      exporter: 'otlp',
      url: `${collector.url}/v1/traces`,
      protocol: 'http/protobuf',
      timeout: 10_000,
      sampler: 'parentbased_traceidratio',
      sampleRatio: 1,
      ...traceOptions,
    },
    isOnPostgres ? 'postgres' : 'sqlite',
    pino({ level: 'silent' }),
  )
  const store = await open(tracing.observer)
  const api = await startTestApi({ ...options, store, tracing })
  return { ...api, collector, stop: () => tracing.stop() }
}

export async function openObserved(observer: StoreObserver, database?: TestDatabase): Promise<Store> {
  const { location } = database ?? (await testDatabase())
  const store = await openStore(resources, location, { busyTimeout: 1_000, observer })
  onTestFinished(() => store.close())
  return store
}
