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
import { Tracing } from '../../engine/service/telemetry/tracing.ts'
import { isOnPostgres } from './database.ts'
import { product } from './product.ts'
import { type StartOptions, startTestApi } from './test-api.ts'

/**
 * Starts the service with an SDK of OpenTelemetry.
 *
 * @param ratio share of the requests without a trace of their caller that are traced
 */
export async function startTracedApi({ ratio = 1, ...options }: StartOptions & { ratio?: number } = {}) {
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  onTestFinished(() => propagation.disable())
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  })
  const tracing = new Tracing(provider.getTracer('test'), isOnPostgres ? 'postgres' : 'sqlite', product.command)
  const api = await startTestApi({ ...options, tracing })
  return { ...api, spans: () => exporter.getFinishedSpans() }
}
