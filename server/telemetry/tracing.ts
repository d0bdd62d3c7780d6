import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
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
import {
  AlwaysOnSampler,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BaseStore, StoreObserver } from '../../db/store.ts'
import manifest from '../../package.json' with { type: 'json' }
import { toApiError } from '../api/errors.ts'
import type { Context } from '../api/trpc.ts'
import { whenEnded } from '../http/connections.ts'
import { isProbe, labelsOf } from '../http/request-labels.ts'
import { serializeError } from './repeated-errors.ts'
import { resource, samplerOf, spanProcessor } from './trace-export.ts'
import type { TracingOptions } from './trace-variables.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of a request that is traced. Null if it is not, undefined if that is not decided yet. */
    span?: Span | null
  }
}

/** Milliseconds for which a stop waits for the collector. */
const maxStopTime = 2_000
const propagator = new W3CTraceContextPropagator()
const ids = new RandomIdGenerator()

/**
 * Traces requests, procedures, calls of the store, and the time of writes in the queue and in their transaction, with
 * OpenTelemetry. Spans follow the semantic conventions for HTTP and databases
 * (https://opentelemetry.io/docs/specs/semconv/). serve.ts loads this module only if traces are exported.
 */
export class Tracing {
  /** Records the writes of traced calls. */
  readonly observer: StoreObserver = { writeQueued: () => this.#observeWrite() }
  readonly #provider: TracerProvider
  readonly #tracer: Tracer
  readonly #sampler: Sampler
  readonly #database: Attributes
  readonly #stopping = new AbortController()
  /** The span that a call of the store belongs to. */
  readonly #storeSpan = new AsyncLocalStorage<TraceContext>()

  constructor(options: TracingOptions, database: 'sqlite' | 'postgres', log: FastifyBaseLogger) {
    const warn = (message: string) => log.warn(`tracing: ${message}`)
    const ignore = () => {}
    diag.setLogger({ error: warn, warn, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN)
    this.#sampler = samplerOf(options)
    this.#provider = new TracerProvider({
      resource: resource(),
      // A span is started only if the sampler of the options has accepted its request.
      sampler: new AlwaysOnSampler(),
      spanProcessors: [spanProcessor(options, this.#stopping.signal)],
    })
    this.#tracer = this.#provider.getTracer('petstore', manifest.version)
    this.#database = { 'db.system.name': database === 'postgres' ? 'postgresql' : database }
  }

  /**
   * Starts a span for each request that is sampled. Call it before any other hook is added. The `traceparent` of a caller
   * counts only with a valid API key, because otherwise anybody could have each request traced. With that header, the span
   * starts after the check of the key, or with an error.
   */
  traceRequests(app: FastifyInstance): void {
    const receivedAt = new WeakMap<FastifyRequest, number>()
    const start = (request: FastifyRequest, reply: FastifyReply) => {
      if (request.span === undefined) this.#startRequest(request, reply, receivedAt.get(request))
    }
    app.addHook('onRequest', (request, reply, done) => {
      if (request.headers.traceparent === undefined) start(request, reply)
      else receivedAt.set(request, performance.now())
      done()
    })
    app.addHook('preHandler', (request, reply, done) => {
      start(request, reply)
      done()
    })
    app.addHook('onError', (request, reply, _error, done) => {
      start(request, reply)
      done()
    })
  }

  #startRequest(request: FastifyRequest, reply: FastifyReply, startTime?: number): void {
    const parent = request.apiKey
      ? propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter)
      : ROOT_CONTEXT
    if (isProbe(labelsOf(request)) || !this.#isSampled(parent)) {
      request.span = null
      return
    }
    const options = { kind: SpanKind.SERVER, attributes: attributesOf(request), ...(startTime && { startTime }) }
    const span = this.#tracer.startSpan(request.method, options, parent)
    request.span = span
    request.recordFault = (cause) => recordException(span, cause)
    whenEnded(reply.raw, (isComplete) => endRequest(request, reply, span, isComplete))
    const { traceId, spanId } = span.spanContext()
    request.log = request.log.child({ traceId })
    // https://www.w3.org/TR/trace-context-2/#traceresponse-header
    reply.header('traceresponse', `00-${traceId}-${spanId}-01`)
  }

  /** Asks the sampler before a span is made, because making one takes several times as long. */
  #isSampled(parent: TraceContext): boolean {
    const traceId = trace.getSpanContext(parent)?.traceId ?? ids.generateTraceId()
    const { decision } = this.#sampler.shouldSample(parent, traceId, '', SpanKind.SERVER, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
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
      typeof resource === 'object' && resource ? [[name, this.#traceMethods(name, resource, parent)]] : [],
    )
    return { ...store, ...Object.fromEntries(traced) }
  }

  #traceMethods(name: string, resource: object, parent: TraceContext): object {
    return new Proxy(resource, {
      get: (target, method: string) => {
        const member: unknown = Reflect.get(target, method)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          const own = { 'db.operation.name': method, 'db.collection.name': name }
          const options = { kind: SpanKind.CLIENT, attributes: { ...this.#database, ...own } }
          const span = this.#tracer.startSpan(`${method} ${name}`, options, parent)
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

  /** Sends the remaining spans, unless the collector does not respond in {@link maxStopTime}. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#stopping.abort(), maxStopTime)
    await this.#provider.shutdown().catch((error: Error) => diag.warn(error.message))
    clearTimeout(timer)
  }
}

/** Ends the span with the promise. An error of the client, such as an unknown id, is no error of the span. */
async function endWith<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (toApiError(error).body.status >= 500) fail(span, error instanceof Error ? error.name : 'unknown')
    throw error
  } finally {
    span.end()
  }
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function recordException(span: Span, error: unknown): void {
  const shown = serializeError(error)
  span.recordException(
    typeof shown === 'string' ? shown : { name: shown.type, message: shown.message, stack: shown.stack },
  )
}

/** The attributes that are known when a request arrives. */
function attributesOf({ id, method, originalUrl, protocol, hostname, port }: FastifyRequest): Attributes {
  return {
    'http.request.method': method,
    // Without the query, which may have what the log does not show either.
    'url.path': originalUrl.replace(/\?.*/, ''),
    'url.scheme': protocol,
    'server.address': hostname,
    ...(Number.isInteger(port) && { 'server.port': Number(port) }),
    'petstore.request_id': id,
  }
}

function endRequest(
  { method, routeOptions }: FastifyRequest,
  { statusCode }: FastifyReply,
  span: Span,
  isComplete: boolean,
): void {
  const { url: route } = routeOptions
  if (route !== undefined) {
    span.updateName(`${method} ${route}`)
    span.setAttribute('http.route', route)
  }
  if (isComplete) span.setAttribute('http.response.status_code', statusCode)
  if (!isComplete) fail(span, 'aborted')
  else if (statusCode >= 500) fail(span, String(statusCode))
  span.end()
}
