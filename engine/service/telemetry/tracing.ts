import {
  type Attributes,
  ProxyTracer,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Context as TraceContext,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BaseStore } from '#store'
import { toApiError } from '../api/errors.ts'
import { isRecord } from '../api/validation.ts'
import { isProbe, labelsOf, whenEnded } from '../http/request.ts'
import { routeOf } from '../http/routing.ts'
import type { Context } from '../procedures/trpc.ts'
import type { Product } from '../product.ts'
import { serializeError } from './log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of a request that is traced. Null if it is not, undefined if that is not decided yet. */
    span?: Span | null
  }
}

/** The tracer of an SDK of OpenTelemetry, if there is one. Warns of one that cannot be used. */
export function registeredTracer(
  { command, version }: Pick<Product, 'command' | 'version'>,
  onWarning: (message: string) => void,
): Tracer | undefined {
  const tracer = trace.getTracer(command, version)
  if (!(tracer instanceof ProxyTracer)) return tracer
  // Each copy of @opentelemetry/api registers here. It ignores an older one without a message.
  const registered: unknown = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'))
  if (isRecord(registered) && 'trace' in registered)
    onWarning(
      `Requests are not traced: the SDK of OpenTelemetry has version ${registered.version} of @opentelemetry/api, which is older than that of the service. Install a newer SDK.`,
    )
  return undefined
}

/** Spans follow the conventions for HTTP and databases (https://opentelemetry.io/docs/specs/semconv/). */
export function tracingWith(tracer: Tracer, database: 'sqlite' | 'postgres', command: string) {
  // The conventions lack it.
  const requestId = `${command}.request_id`
  const databaseAttributes = { 'db.system.name': database === 'postgres' ? 'postgresql' : database }

  /**
   * Adds a span to each request whose API key was checked, or that failed. Call it before any other hook is added. The
   * `traceparent` of a caller counts only with a valid API key, because otherwise anybody could have each request traced.
   */
  function traceRequests(app: FastifyInstance): void {
    app.addHook('preHandler', async (request, reply) => startRequest(request, reply))
    app.addHook('onError', async (request, reply) => startRequest(request, reply))
  }

  function startRequest(request: FastifyRequest, reply: FastifyReply): void {
    if (request.span !== undefined) return
    request.span = null
    if (isProbe(labelsOf(request))) return
    const parent = request.apiKey ? propagation.extract(ROOT_CONTEXT, request.headers) : ROOT_CONTEXT
    // The request has arrived before the check of its key.
    const startTime = Date.now() - reply.elapsedTime
    const attributes = { ...attributesOf(request), [requestId]: request.id }
    const options = { kind: SpanKind.SERVER, attributes, startTime }
    const span = tracer.startSpan(request.method, options, parent)
    if (!span.isRecording()) return
    request.span = span
    request.recordFault = (cause) => recordException(span, cause)
    whenEnded(reply.raw, (isComplete) => {
      describeResponse(span, request, reply, isComplete)
      span.end(startTime + reply.elapsedTime)
    })
    const { traceId, spanId } = span.spanContext()
    request.log = request.log.child({ traceId })
    // https://www.w3.org/TR/trace-context-2/#traceresponse-header
    reply.header('traceresponse', `00-${traceId}-${spanId}-01`)
  }

  /** Adds spans to the calls of a request that is traced. */
  function traceCalls({ span }: FastifyRequest, ctx: Context): Context {
    if (!span) return ctx
    const parent = trace.setSpan(ROOT_CONTEXT, span)
    return {
      ...ctx,
      traceCall: (name, own, call) =>
        inSpan(name, {}, parent, (inner) =>
          call({ ...own, store: traceStore(own.store, inner), traceCall: undefined }),
        ),
    }
  }

  function traceStore(store: BaseStore, parent: TraceContext): BaseStore {
    const traced = Object.entries<unknown>({ ...store }).flatMap(([name, resource]) =>
      typeof resource === 'object' && resource ? [[name, traceMethods(name, resource, parent)]] : [],
    )
    return { ...store, ...Object.fromEntries(traced) }
  }

  function traceMethods(name: string, resource: object, parent: TraceContext): object {
    return new Proxy(resource, {
      get: (target, method: string) => {
        const member: unknown = Reflect.get(target, method)
        // All others return a promise.
        if (typeof member !== 'function' || method === 'revision') return member
        const attributes = { ...databaseAttributes, 'db.operation.name': method, 'db.collection.name': name }
        const options = { kind: SpanKind.CLIENT, attributes }
        return (...args: unknown[]) =>
          inSpan(`${method} ${name}`, options, parent, async () => Reflect.apply(member, target, args))
      },
    })
  }

  /** Works in a span, which is active meanwhile. An error of the client, such as an unknown id, is no error of the span. */
  function inSpan<T>(
    name: string,
    options: SpanOptions,
    parent: TraceContext,
    work: (inner: TraceContext) => Promise<T>,
  ): Promise<T> {
    return tracer.startActiveSpan(name, options, parent, async (span) => {
      try {
        return await work(trace.setSpan(parent, span))
      } catch (error) {
        if (toApiError(error).body.status >= 500) fail(span, error instanceof Error ? error.name : 'unknown')
        throw error
      } finally {
        span.end()
      }
    })
  }

  return { traceRequests, traceCalls }
}

export type Tracing = ReturnType<typeof tracingWith>

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
function attributesOf({ method, originalUrl, protocol, hostname, port }: FastifyRequest): Attributes {
  return {
    'http.request.method': method,
    // Without the query, which may have what the log does not show either.
    'url.path': originalUrl.replace(/\?.*/, ''),
    'url.scheme': protocol,
    'server.address': hostname,
    ...(Number.isInteger(port) && { 'server.port': Number(port) }),
  }
}

function describeResponse(span: Span, request: FastifyRequest, { statusCode }: FastifyReply, isComplete: boolean) {
  const route = routeOf(request)
  if (route !== undefined) {
    span.updateName(`${request.method} ${route}`)
    span.setAttribute('http.route', route)
  }
  if (!isComplete) return fail(span, 'aborted')
  span.setAttribute('http.response.status_code', statusCode)
  if (statusCode >= 500) fail(span, String(statusCode))
}
