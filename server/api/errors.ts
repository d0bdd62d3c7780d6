import { type TRPC_ERROR_CODE_KEY, TRPCError } from '@trpc/server'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { IdempotencyKeyReused, IdsExhausted, StoreUnavailable } from '../../db/store.ts'
import { describeIssues } from './validation.ts'

/** Every code of an Error body, with its HTTP status and the tRPC code that comes closest. */
const errorCodes = {
  invalid_request: { status: 400, trpc: 'BAD_REQUEST' },
  unauthorized: { status: 401, trpc: 'UNAUTHORIZED' },
  not_found: { status: 404, trpc: 'NOT_FOUND' },
  method_not_allowed: { status: 405, trpc: 'METHOD_NOT_SUPPORTED' },
  request_timeout: { status: 408, trpc: 'TIMEOUT' },
  conflict: { status: 409, trpc: 'CONFLICT' },
  payload_too_large: { status: 413, trpc: 'PAYLOAD_TOO_LARGE' },
  uri_too_long: { status: 414, trpc: 'BAD_REQUEST' },
  unsupported_media_type: { status: 415, trpc: 'UNSUPPORTED_MEDIA_TYPE' },
  expectation_failed: { status: 417, trpc: 'BAD_REQUEST' },
  unprocessable: { status: 422, trpc: 'UNPROCESSABLE_CONTENT' },
  rate_limited: { status: 429, trpc: 'TOO_MANY_REQUESTS' },
  headers_too_large: { status: 431, trpc: 'BAD_REQUEST' },
  internal_error: { status: 500, trpc: 'INTERNAL_SERVER_ERROR' },
  unavailable: { status: 503, trpc: 'SERVICE_UNAVAILABLE' },
} as const satisfies Record<string, { status: number; trpc: TRPC_ERROR_CODE_KEY }>

export type ErrorCode = keyof typeof errorCodes

/** The body of every error the service answers with. */
export const ErrorBody = z
  .object({
    code: z.string().meta({ description: 'Machine-readable error code.', examples: ['invalid_request'] }),
    message: z.string().meta({ description: 'Human-readable description.', examples: ['name: required'] }),
    status: z
      .int()
      .min(400)
      .max(599)
      .meta({ description: 'The HTTP status code of the response.', examples: [400] }),
  })
  .meta({ id: 'Error', description: 'What went wrong.' })
export type ErrorBody = z.infer<typeof ErrorBody>

/** An error that is meant for the caller: its message and headers leave the process, its cause only reaches the log. */
export class ApiError extends TRPCError {
  readonly body: ErrorBody
  readonly headers: Record<string, string>

  constructor(
    code: ErrorCode,
    message: string,
    { headers = {}, cause }: { headers?: Record<string, string> | undefined; cause?: unknown } = {},
  ) {
    const { status, trpc } = errorCodes[code]
    super({ code: trpc, message, cause })
    this.body = { code, message, status }
    this.headers = headers
  }
}

/** The single mapping from anything thrown to what the caller may see of it. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof StoreUnavailable) {
    const message = thrown.isRetryable
      ? 'The service cannot reach its data at the moment. Try again shortly.'
      : 'The service cannot use its database until an operator has repaired it.'
    const headers = thrown.isRetryable ? { 'retry-after': '1' } : undefined
    return new ApiError('unavailable', message, { headers, cause: thrown })
  }
  if (thrown instanceof IdempotencyKeyReused) {
    return new ApiError('unprocessable', 'The Idempotency-Key was used before with another payload. Use a new one.', {
      cause: thrown,
    })
  }
  if (thrown instanceof IdsExhausted) {
    return new ApiError('internal_error', 'There are no ids left for new animals. Trying again does not help.', {
      cause: thrown,
    })
  }
  if (thrown instanceof TRPCError) return fromTrpc(thrown)
  return fromHttp(thrown)
}

function fromTrpc(error: TRPCError): ApiError {
  // tRPC wraps a Zod error of the input as a bad request, and as an internal error one of the output or whatever is thrown.
  if (error.code === 'BAD_REQUEST' && error.cause instanceof z.core.$ZodError)
    return new ApiError('invalid_request', describeIssues(error.cause), { cause: error })
  if (error.code === 'INTERNAL_SERVER_ERROR' && error.cause) return toApiError(error.cause)
  if (error.code === 'PARSE_ERROR')
    return new ApiError('invalid_request', 'The request cannot be parsed.', { cause: error })
  const code = (Object.keys(errorCodes) as ErrorCode[]).find((candidate) => errorCodes[candidate].trpc === error.code)
  return code && code !== 'internal_error' ? new ApiError(code, error.message, { cause: error }) : internalError(error)
}

/** Errors of Fastify and of Node's HTTP parser, by their codes. Their messages are replaced, since they tell of code, not of use. */
function fromHttp(thrown: unknown): ApiError {
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? String(thrown.code) : ''
  const known = httpErrors[code]
  if (known) return new ApiError(known.code, known.message, { cause: thrown })
  if (code.startsWith('HPE_'))
    return new ApiError('invalid_request', 'The request is not valid HTTP/1.1.', { cause: thrown })
  if (isRefusal(thrown)) return new ApiError('invalid_request', 'The request cannot be read.', { cause: thrown })
  return internalError(thrown)
}

/** Fastify marks what the client did wrong with a status below 500. */
function isRefusal(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    'statusCode' in thrown &&
    Number(thrown.statusCode) >= 400 &&
    Number(thrown.statusCode) < 500
  )
}

const httpErrors: Record<string, { code: ErrorCode; message: string }> = {
  FST_ERR_BAD_URL: { code: 'invalid_request', message: 'The URL is malformed: check its percent-encoding.' },
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'payload_too_large', message: 'The body is larger than 64 KiB.' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'invalid_request',
    message: 'The body is not as long as its Content-Length says.',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    message: 'Send the body as Content-Type: application/json.',
  },
  FST_ERR_CTP_EMPTY_TYPE: {
    code: 'unsupported_media_type',
    message: 'Send the body as Content-Type: application/json.',
  },
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', message: 'The request line and headers are larger than 16 KiB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'payload_too_large',
    message: 'The chunk extensions of the body are too large.',
  },
  ECONNRESET: { code: 'invalid_request', message: 'The connection was closed before the body was complete.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', message: 'The request did not arrive in time.' },
}

function internalError(cause: unknown): ApiError {
  return new ApiError('internal_error', 'The service failed to answer. The fault is not in the request.', { cause })
}

/** Faults of the service reach the log with their cause; what is meant to be is told to the caller only. */
export function logFault({ body, message, cause }: ApiError, log: FastifyBaseLogger): void {
  const isMeant = body.status < 500 || (body.code === 'unavailable' && cause === undefined)
  if (!isMeant) log.error({ err: cause }, message)
}

/** Answers with the Error body of anything thrown. */
export function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toApiError(thrown)
  return prepareReply(error, request, reply).send(error.body)
}

/** Gives an answer the status and headers of an error, whatever its body is to be. */
export function prepareReply(error: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  logFault(error, request.log)
  // Fastify closes the connection after a body that it could not use. Removing the header would omit Keep-Alive too.
  if (reply.raw.shouldKeepAlive && reply.hasHeader('connection')) {
    const seconds = reply.server.server.keepAliveTimeout / 1_000
    reply.headers({ connection: 'keep-alive', 'keep-alive': `timeout=${seconds}` })
  }
  return reply.code(error.body.status).headers(error.headers)
}
