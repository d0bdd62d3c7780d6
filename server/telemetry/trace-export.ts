import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ConsoleSpanExporter,
  ParentBasedSampler,
  type Sampler,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import manifest from '../../package.json' with { type: 'json' }
import type { TracingOptions } from './trace-variables.ts'

/** OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME come last, because they win. */
export function resource() {
  const own = { 'service.name': 'petstore', 'service.version': manifest.version }
  const detectors = [serviceInstanceIdDetector, resourceAttributesEnvDetector, serviceNameEnvDetector]
  return defaultResource().merge(resourceFromAttributes(own)).merge(detectResources({ detectors }))
}

/** Decides whether a request is traced. */
export function samplerOf({ sampler, sampleRatio }: TracingOptions): Sampler {
  const name = sampler.replace('parentbased_', '')
  const root =
    name === 'traceidratio'
      ? new TraceIdRatioBasedSampler(sampleRatio)
      : name === 'always_on'
        ? new AlwaysOnSampler()
        : new AlwaysOffSampler()
  return name === sampler ? root : new ParentBasedSampler({ root })
}

/** @param abort of the exports that run during a stop */
export function spanProcessor({ exporter, protocol, url, timeout }: TracingOptions, abort: AbortSignal): SpanProcessor {
  if (exporter === 'console') return new SimpleSpanProcessor({ exporter: new ConsoleSpanExporter() })
  const OtlpExporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter
  const otlp = new OtlpExporter({ url, timeoutMillis: timeout })
  return new BatchSpanProcessor({
    exporter: limited(otlp, () => AbortSignal.any([abort, AbortSignal.timeout(timeout)])),
  })
}

/** When the export that makes a request is given up. */
const exportLimit = new AsyncLocalStorage<AbortSignal>()

function limitRequest(message: unknown): void {
  const limit = exportLimit.getStore()
  if (!limit) return
  // Node publishes this type: https://nodejs.org/api/diagnostics_channel.html#http
  const { request } = message as { request: ClientRequest }
  const destroy = () => request.destroy(limit.reason)
  if (limit.aborted) destroy()
  else limit.addEventListener('abort', destroy)
}

/**
 * Limits the total time of an export. OpenTelemetry's own limit starts again with each byte, so a collector that sends its
 * response byte by byte would keep the export and the process alive. It offers no way to cancel a request.
 */
function limited(exporter: SpanExporter, limit: () => AbortSignal): SpanExporter {
  subscribe('http.client.request.created', limitRequest)
  return {
    export: (...parameters) => exportLimit.run(limit(), () => exporter.export(...parameters)),
    async shutdown() {
      await exporter.shutdown()
      unsubscribe('http.client.request.created', limitRequest)
    },
  }
}
