import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import {
  DiagLogLevel,
  defaultTextMapGetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Context as TraceContext,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BaseStore, StoreObserver } from '../../db/store.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Context } from '../api/trpc.ts'
import { whenEnded } from '../http/connections.ts'
import { isProbe, labelsOf } from '../http/request-labels.ts'

export interface TracingOptions {
  /** The base URL of a collector that speaks OTLP over HTTP; `/v1/traces` is added. */
  endpoint: string
  /** Share of the traces that start here, from 0 to 1. A caller that sends `traceparent` decides for its own traces. */
  sampleRatio: number
  serviceName: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of a request that is traced. */
    span?: Span
  }
}

/** Milliseconds after which an export is given up with all its attempts, also during a stop. */
const maxExportTime = 2_000
const propagator = new W3CTraceContextPropagator()

/**
 * Traces requests, procedures, calls of the store, and the time of writes in the queue and in their transaction, with
 * OpenTelemetry. Spans have the names of the semantic conventions for HTTP
 * (https://opentelemetry.io/docs/specs/semconv/http/http-spans/). serve.ts loads this module only if an endpoint is set.
 */
export class Tracing {
  /** Records the writes of traced calls. */
  readonly observer: StoreObserver = { writeQueued: () => this.#observeWrite() }
  readonly #provider: TracerProvider
  readonly #tracer: Tracer
  readonly #sampleRatio: number
  /** The span that a call of the store belongs to. */
  readonly #storeSpan = new AsyncLocalStorage<TraceContext>()

  constructor({ endpoint, sampleRatio, serviceName }: TracingOptions, log: FastifyBaseLogger) {
    const warn = (message: string) => log.warn(`tracing: ${message}`)
    const ignore = () => {}
    diag.setLogger({ error: warn, warn, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN)
    const exporter = new LimitedExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: maxExportTime })
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': manifest.version }),
      sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
      spanProcessors: [new BatchSpanProcessor({ exporter })],
    })
    this.#tracer = this.#provider.getTracer('petstore', manifest.version)
    this.#sampleRatio = sampleRatio
  }

  /** Starts a span for each request. Call it before any other hook is added. */
  traceRequests(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      this.#startRequest(request, reply)
      done()
    })
  }

  #startRequest(request: FastifyRequest, reply: FastifyReply): void {
    const isFromCaller = request.headers.traceparent !== undefined
    const parent = isFromCaller ? propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter) : ROOT_CONTEXT
    // Before a span is made, because OpenTelemetry's own sampler would make one for each request.
    const startsHere = trace.getSpanContext(parent) === undefined
    if ((startsHere && Math.random() >= this.#sampleRatio) || isProbe(labelsOf(request))) return
    const span = this.#tracer.startSpan(request.method, { kind: SpanKind.SERVER }, parent)
    if (!span.isRecording()) return
    request.span = span
    whenEnded(reply.raw, (isComplete) => endRequest(request, reply, span, isComplete))
    const { traceId, spanId } = span.spanContext()
    request.log = request.log.child({ traceId })
    // https://www.w3.org/TR/trace-context-2/#traceresponse-header
    reply.header('traceresponse', `00-${traceId}-${spanId}-01`)
  }

  /** Adds spans to the calls of a request that is traced. */
  traceCalls({ span }: FastifyRequest, ctx: Context): Context {
    if (!span) return ctx
    const parent = trace.setSpan(ROOT_CONTEXT, span)
    return {
      ...ctx,
      traceCall: (name, call) =>
        this.#inSpan(name, parent, (inner) => call({ ...ctx, store: this.#traceStore(ctx.store, inner) })),
    }
  }

  #traceStore(store: BaseStore, parent: TraceContext): BaseStore {
    const traced = Object.entries<unknown>({ ...store }).flatMap(([name, resource]) =>
      typeof resource === 'object' && resource ? [[name, this.#traceMethods(`store.${name}`, resource, parent)]] : [],
    )
    return { ...store, ...Object.fromEntries(traced) }
  }

  #traceMethods(name: string, resource: object, parent: TraceContext): object {
    return new Proxy(resource, {
      get: (target, method: string) => {
        const member: unknown = Reflect.get(target, method)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          const span = this.#tracer.startSpan(`${name}.${method}`, {}, parent)
          const result: unknown = this.#storeSpan.run(trace.setSpan(parent, span), () =>
            Reflect.apply(member, target, args),
          )
          if (result instanceof Promise) return endWith(span, result)
          span.end()
          return result
        }
      },
    })
  }

  async #inSpan<T>(name: string, parent: TraceContext, work: (inner: TraceContext) => Promise<T>): Promise<T> {
    const span = this.#tracer.startSpan(name, {}, parent)
    return endWith(span, work(trace.setSpan(parent, span)))
  }

  #observeWrite(): ReturnType<NonNullable<StoreObserver['writeQueued']>> {
    const parent = this.#storeSpan.getStore()
    if (!parent) return () => {}
    const queuedAt = performance.now()
    return (times) => {
      if (!times) return
      this.#addSpan('write queue', parent, queuedAt, times.startedAt)
      this.#addSpan('transaction', parent, times.startedAt, times.committedAt)
      if (times.committingAt !== undefined) this.#addSpan('commit', parent, times.committingAt, times.committedAt)
    }
  }

  /** Adds a span of the past. OpenTelemetry takes times of `performance.now()`. */
  #addSpan(name: string, parent: TraceContext, start: number, end: number): void {
    this.#tracer.startSpan(name, { startTime: start }, parent).end(end)
  }

  /** Sends the remaining spans, unless the collector does not respond in {@link maxExportTime}. */
  async stop(): Promise<void> {
    await this.#provider.shutdown().catch((error: Error) => diag.warn(error.message))
  }
}

/** The time limit of the export that makes a request. */
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
class LimitedExporter extends OTLPTraceExporter {
  constructor(options: ConstructorParameters<typeof OTLPTraceExporter>[0]) {
    super(options)
    subscribe('http.client.request.created', limitRequest)
  }

  override export(...parameters: Parameters<OTLPTraceExporter['export']>): void {
    exportLimit.run(AbortSignal.timeout(maxExportTime), () => super.export(...parameters))
  }

  override async shutdown(): Promise<void> {
    await super.shutdown()
    unsubscribe('http.client.request.created', limitRequest)
  }
}

/** Ends the span with the promise. */
async function endWith<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end()
  }
}

function endRequest(
  { id, method, routeOptions }: FastifyRequest,
  { statusCode }: FastifyReply,
  span: Span,
  isComplete: boolean,
): void {
  const { url: route } = routeOptions
  if (route !== undefined) {
    span.updateName(`${method} ${route}`)
    span.setAttribute('http.route', route)
  }
  span.setAttributes({ 'http.request.method': method, 'petstore.request_id': id })
  if (isComplete) span.setAttribute('http.response.status_code', statusCode)
  else span.setAttribute('error.type', 'aborted')
  if (!isComplete || statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}
