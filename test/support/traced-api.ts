import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { openStore } from '../../db/open.ts'
import { resources, type Store } from '../../db/resources.ts'
import type { StoreObserver } from '../../db/store.ts'
import { Tracing } from '../../server/telemetry/tracing.ts'
import { testDatabase } from './database.ts'
import { type StartOptions, startTestApi } from './test-api.ts'
import { startTraceCollector } from './trace-collector.ts'

/** Starts the service with a collector. `stop` sends all spans to it. */
export async function startTracedApi(sampleRatio = 1, options: StartOptions = {}, open = openObserved) {
  const collector = await startTraceCollector()
  const tracing = new Tracing({ endpoint: collector.url, sampleRatio, serviceName: 'test' }, pino({ level: 'silent' }))
  const store = await open(tracing.observer)
  const api = await startTestApi({ ...options, store, tracing })
  return { ...api, collector, stop: () => tracing.stop() }
}

async function openObserved(observer: StoreObserver): Promise<Store> {
  const { location } = await testDatabase(onTestFinished)
  const store = await openStore(resources, location, { busyTimeout: 1_000, observer })
  onTestFinished(() => store.close())
  return store
}
