import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Load, type LoadMeter, processLoad } from '../../server/http/load-shedding.ts'
import { readMetric } from '../support/metrics.ts'
import { startTestApi } from '../support/test-api.ts'

const idle: Load = { lag: 0, heap: 0 }

const overloads: [name: string, load: Load][] = [
  ['the event loop lags', { lag: 251, heap: 0 }],
  ['the event loop is blocked the whole time', { lag: Number.NaN, heap: 0 }],
  ['the heap is almost full', { lag: 0, heap: 0.86 }],
]

test.for(overloads)(
  'while %s, requests get 503 with Retry-After, except for metrics, and are served afterwards',
  async ([, load]) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const meter = meterOf({ lag: 250, heap: 0.85 })
    const { app, rest } = await startTestApi({ loadMeter: meter })
    await app.ready()
    const listAfterASecond = () => {
      vi.advanceTimersByTime(1_000)
      return rest.get('/v1/pets')
    }
    expect((await listAfterASecond()).status).toBe(200)
    meter.load = load
    const refused = await listAfterASecond()
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '1' } })
    expect(refused.text).toContain('too much to do')
    expect((await rest.get('/openapi.json')).status).toBe(200)
    const { text } = await rest.get('/metrics')
    expect(readMetric(text, 'petstore_requests_rejected_total', { reason: 'overloaded' })).toBe(1)
    meter.load = idle
    expect((await listAfterASecond()).status).toBe(200)
  },
)

test('the time that a start takes does not count as load', async () => {
  const meter = meterOf(idle)
  const { app } = await startTestApi({ loadMeter: meter })
  expect(meter.isStarted).toBe(false)
  await app.ready()
  expect(meter.isStarted).toBe(true)
})

test('the lag of a blocked event loop is its mean since the last measurement', async () => {
  const meter = processLoad()
  meter.start()
  onTestFinished(() => meter.stop())
  await block()
  const { lag, heap } = meter.read()
  expect(lag).toBeGreaterThan(250)
  expect(heap).toBeGreaterThan(0)
  expect(heap).toBeLessThan(1)
  // Nothing has run since the measurement.
  expect(meter.read().lag).toBeNaN()
})

interface TestMeter extends LoadMeter {
  load: Load
  isStarted: boolean
}

function meterOf(load: Load): TestMeter {
  return {
    load,
    isStarted: false,
    start() {
      this.isStarted = true
    },
    read() {
      return this.load
    },
    stop() {},
  }
}

/** Lets the event loop lag for 1.2 s. */
async function block(): Promise<void> {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let i = 0; i < 3; i++) {
    Atomics.wait(pause, 0, 0, 400)
    await nextTurn()
  }
}
