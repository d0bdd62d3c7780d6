import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, type ErrorCode, messageForOperator, type Rejection, toApiError } from '../api/errors.ts'
import { limits } from './limits.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether a fault is logged, as {@link oncePerSecond} says. */
    mayLogFault: MayLog
  }
  interface FastifyRequest {
    rejection: Rejection | undefined
    /** Adds the cause of a fault to the trace. Only a traced request has it. */
    recordFault?: (cause: unknown) => void
  }
}

type FaultReceiver = Pick<FastifyRequest, 'recordFault'> & {
  log: Pick<FastifyBaseLogger, 'error'>
  server: Pick<FastifyInstance, 'mayLogFault'>
}

/** Errors of Fastify and of Node's HTTP parser. Their own messages describe the code rather than the request. */
const httpErrors: Record<string, [code: ErrorCode, message: string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', `The body is larger than ${limits.body / 1024} KiB.`],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as its Content-Length says.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as Content-Type: application/json.'],
  FST_ERR_CTP_EMPTY_TYPE: ['unsupported_media_type', 'Send the body as Content-Type: application/json.'],
  HPE_HEADER_OVERFLOW: [
    'headers_too_large',
    `The request line and headers are larger than ${limits.headers / 1024} KiB.`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'The chunk extensions of the body are too large.'],
  ECONNRESET: ['invalid_request', 'The connection was closed before the body was complete.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
}

/** Maps anything thrown while a request is served to the error that the client receives. */
export function toHttpError(thrown: unknown): ApiError {
  // Safe: what the value lacks is undefined.
  const { code, statusCode = 0 } = Object(thrown) as Partial<FastifyError>
  const known = httpErrors[String(code)]
  if (known) return new ApiError(...known, { cause: thrown })
  if (String(code).startsWith('HPE_'))
    return new ApiError('invalid_request', 'The request is not valid HTTP/1.1.', { cause: thrown })
  // Fastify gives errors of the client a status below 500.
  if (thrown instanceof Error && statusCode >= 400 && statusCode < 500)
    return new ApiError('invalid_request', 'The request cannot be read.', { cause: thrown })
  return toApiError(thrown)
}

/** Milliseconds between two lines about one cause. */
const interval = 1_000
/** Bounds the memory if messages contain values. */
const maxCauses = 1_000

/** Returns how many lines about this cause were dropped since the last one, or undefined to drop this one, too. */
type MayLog = (cause: string) => number | undefined

/** A rate limit of one log line a second for each cause: an outage must not fill the disk. */
export function oncePerSecond(now = () => performance.now()): MayLog {
  const causes = new Map<string, { at: number; others: number }>()
  return (cause) => {
    const last = causes.get(cause)
    if (last && now() - last.at < interval) {
      last.others++
      return undefined
    }
    if (causes.size >= maxCauses) causes.clear()
    causes.set(cause, { at: now(), others: 0 })
    return last?.others ?? 0
  }
}

/** Logs and traces a fault of the service with its cause, but not errors of the client, and overload. */
export function reportFault(error: ApiError, { log, recordFault, server }: FaultReceiver): void {
  const { body, cause } = error
  if (body.status < 500 || (body.code === 'unavailable' && cause === undefined)) return
  const message = messageForOperator(error)
  // All defects have the same message.
  const others = server.mayLogFault(cause instanceof Error ? `${message} ${cause.message}` : message)
  if (others !== undefined) log.error({ err: cause, ...(others > 0 && { others }) }, message)
  recordFault?.(cause)
}

export function handleErrors(app: FastifyInstance): void {
  app.decorateRequest('rejection', undefined)
  app.decorate('mayLogFault', oncePerSecond())
  app.setErrorHandler((thrown, request, reply) => {
    const error = toHttpError(thrown)
    return prepareReply(error, request, reply).send(error.body)
  })
}

/** Sets the status and headers of an error on a reply, reports a fault, and notes a rejection. The caller sends the body. */
export function prepareReply(error: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reportFault(error, request)
  request.rejection = error.rejection
  // Fastify closes the connection after a body that it could not use. Removing the header would omit Keep-Alive too.
  if (reply.raw.shouldKeepAlive && reply.hasHeader('connection')) {
    const seconds = reply.server.server.keepAliveTimeout / 1_000
    reply.headers({ connection: 'keep-alive', 'keep-alive': `timeout=${seconds}` })
  }
  return reply.code(error.body.status).headers(error.headers)
}
