import { propagation } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { onTestFinished } from 'vitest'
import { tracingWith } from '../../service/telemetry/tracing.ts'
import { isOnPostgres } from './database.ts'
import type { ProductTests } from './product.ts'
import type { StartOptions, TestApi } from './test-api.ts'

export function tracedApiTests<Store, Api extends TestApi<Store>>(
  { product }: ProductTests,
  { startTestApi }: { startTestApi(options: StartOptions<Store>): Promise<Api> },
) {
  /**
   * Starts the service with an SDK of OpenTelemetry.
   *
   * @param ratio share of the requests without a trace of their caller that are traced
   */
  async function startTracedApi({ ratio = 1, ...options }: StartOptions<Store> & { ratio?: number } = {}) {
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    onTestFinished(() => propagation.disable())
    const exporter = new InMemorySpanExporter()
    const provider = new TracerProvider({
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
      spanProcessors: [new SimpleSpanProcessor({ exporter })],
    })
    const tracing = tracingWith(provider.getTracer('test'), isOnPostgres ? 'postgres' : 'sqlite', product.command)
    const api = await startTestApi({ ...options, tracing })
    return { ...api, spans: () => exporter.getFinishedSpans() }
  }

  return { startTracedApi }
}
