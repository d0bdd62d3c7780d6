import { expect, onTestFinished, test } from 'vitest'
import { createMetrics } from '../../engine/service/telemetry/metrics.ts'
import { samplesIn } from '../../engine/test/support/metrics.ts'
import { emptyDatabase } from '../../engine/test/support/postgres/databases.ts'
import { matches, queries, selectorsIn } from '../support/monitoring.ts'
import { openPostgres, product } from '../support/petstore.ts'

test('every series about PostgreSQL that the dashboard and the alerts select exists', async () => {
  const metrics = createMetrics(product)
  const store = await openPostgres({ url: await emptyDatabase(), observer: metrics.store.observer })
  onTestFinished(() => store.close())
  metrics.store.watch(store)
  const samples = samplesIn(await metrics.text())
  const selectors = queries()
    .flatMap(({ expr }) => selectorsIn(expr))
    .filter(({ name }) => name.startsWith('petstore_postgres_'))
  expect(selectors.length).toBeGreaterThan(5)
  expect(selectors.filter((selector) => !samples.some((sample) => matches(selector, sample)))).toEqual([])
})
