import { type TRPC_ERROR_CODE_KEY, type TRPC_ERROR_CODE_NUMBER, TRPCError } from '@trpc/server'
import { z } from 'zod'
import {
  ClosedStore,
  IdempotencyKeyReused,
  IdsExhausted,
  OtherRelease,
  Refusal,
  RowChanged,
  RowConflict,
  StoreUnavailable,
  TooManySearches,
} from '#store'
import { describeIssues, type Issue, isRecord, issuesOf } from './validation.ts'

/** Every code of an Error body, with its HTTP status and the closest tRPC code. */
const errorCodes = {
  invalid_request: { status: 400, trpc: 'BAD_REQUEST' },
  unauthorized: { status: 401, trpc: 'UNAUTHORIZED' },
  forbidden: { status: 403, trpc: 'FORBIDDEN' },
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

function findCode(isWanted: (each: (typeof errorCodes)[ErrorCode]) => boolean): ErrorCode | undefined {
  // Object.keys returns exactly the keys of this constant.
  return (Object.keys(errorCodes) as ErrorCode[]).find((code) => isWanted(errorCodes[code]))
}

export function errorCodeOf(status: number): ErrorCode {
  const code = findCode((each) => each.status === status)
  if (!code) throw new Error(`No error has the status ${status}.`)
  return code
}

export const rejectionReasons = [
  'missing',
  'malformed',
  'unknown',
  'revoked',
  'expired',
  'rate_limited',
  'overloaded',
] as const
export type RejectionReason = (typeof rejectionReasons)[number]

/** Why a request was rejected before it reached a procedure. The log and the metrics show it, the response does not. */
export interface Rejection {
  reason: RejectionReason
  /** The first characters of an API key that was not accepted. */
  keyStart?: string | undefined
}

interface ApiErrorOptions {
  headers?: Record<string, string> | undefined
  cause?: unknown
  rejection?: Rejection | undefined
  issues?: Issue[]
}

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

// A type with a name, which the declarations of the client do not repeat for each procedure.
/** An error in an RPC response. */
export interface RpcError {
  message: string
  /** The error code of JSON-RPC. */
  code: TRPC_ERROR_CODE_NUMBER
  data: {
    /** What went wrong, for programs. */
    code: ErrorCode
    /** What went wrong, for people. */
    message: string
    /** The HTTP status code of this call. That of the response may differ, if it has several calls. */
    status: number
    /** What is wrong with each field of an input that was not valid, that somebody has changed (`changed`), that another one has (`unique`), or that refers to nothing (`reference`). */
    issues?: Issue[]
    httpStatus: number
    /** The name of the procedure. */
    path: string | undefined
  }
}

/** An error for the client, who sees its message and headers, with RPC also its issues. Only the log shows the rest. */
export class ApiError extends TRPCError {
  readonly body: ErrorBody & { code: ErrorCode }
  readonly headers: Record<string, string>
  readonly rejection: Rejection | undefined
  readonly issues: Issue[] | undefined

  constructor(code: ErrorCode, message: string, { headers = {}, cause, rejection, issues }: ApiErrorOptions = {}) {
    const { status, trpc } = errorCodes[code]
    super({ code: trpc, message, cause })
    this.body = { code, message, status }
    this.headers = headers
    this.rejection = rejection
    this.issues = issues
  }
}

/** A row breaks the schema of the output. The message is for the operator. */
class UnreadableRow extends Error {
  override name = 'UnreadableRow'
}

/** Why an output cannot be serialized: the first of its rows that breaks the schema, or else the cause. */
export function explainUnreadable(schema: z.ZodType | undefined, output: unknown, cause: unknown): unknown {
  const [issue] = schema?.safeParse(output).error?.issues ?? []
  if (!issue) return cause
  const { path, message } = issue
  // The output is a row, a page, or what a search has found.
  const row: unknown = path.slice(0, -1).reduce((part, key) => Object(part)[key], output)
  if (!isRecord(row)) return cause
  return new UnreadableRow(
    `The row with the id ${row.id} cannot be read: ${String(path.at(-1))}: ${message}. Correct it in the database.`,
    { cause },
  )
}

/**
 * Maps any thrown value to an error for the client. No other function does.
 *
 * @param input what the caller knows the input itself as
 */
export function toApiError(thrown: unknown, input?: 'body'): ApiError {
  const fail = (code: ErrorCode, message: string) => new ApiError(code, message, { cause: thrown })
  if (thrown instanceof ApiError) return thrown
  // Only a stop closes the store, and the caller has gone then.
  if (thrown instanceof ClosedStore) return temporarilyUnavailable('The service is stopping.')
  if (thrown instanceof StoreUnavailable) return unavailable(thrown)
  if (thrown instanceof TooManySearches)
    return temporarilyUnavailable(thrown.message, { rejection: { reason: 'overloaded' } })
  if (thrown instanceof IdempotencyKeyReused)
    return fail('unprocessable', 'The Idempotency-Key was used before with another payload. Use a new one.')
  if (thrown instanceof Refusal)
    return thrown.code === 'unavailable'
      ? temporarilyUnavailable(thrown.message, { cause: thrown })
      : fail(thrown.code, thrown.message)
  if (thrown instanceof RowConflict || thrown instanceof RowChanged) {
    const code = thrown instanceof RowChanged ? 'changed' : thrown.rule
    const issues = thrown.fields.map((path) => ({ path, code }))
    return new ApiError('conflict', thrown.message, { cause: thrown, ...(issues.length > 0 && { issues }) })
  }
  if (thrown instanceof IdsExhausted)
    return fail('internal_error', `There are no ids left for new ${thrown.subject}. Trying again does not help.`)
  if (thrown instanceof TRPCError) return fromTrpc(thrown, input)
  return internalError(thrown)
}

function unavailable(cause: StoreUnavailable): ApiError {
  if (cause instanceof OtherRelease) {
    const message = 'A newer release has migrated the database, and this instance of the service is outdated.'
    return cause.isRetryable
      ? temporarilyUnavailable(message, { cause })
      : new ApiError('unavailable', message, { cause })
  }
  if (cause.isRetryable) return dataUnavailable(cause)
  // Where a statement fails, the journal of migrations is not read.
  const message =
    cause.failure === 'schema'
      ? 'The database lacks the schema of this release: a newer release has migrated it, or an operator must repair it.'
      : 'The service cannot use its database until an operator has repaired it.'
  return new ApiError('unavailable', message, { cause })
}

function fromTrpc(error: TRPCError, input?: 'body'): ApiError {
  // tRPC wraps a Zod error of the input in BAD_REQUEST, and one of the output or any other error in INTERNAL_SERVER_ERROR.
  if (error.code === 'BAD_REQUEST' && error.cause instanceof z.core.$ZodError)
    return new ApiError('invalid_request', describeIssues(error.cause, input), {
      cause: error,
      issues: issuesOf(error.cause),
    })
  if (error.code === 'INTERNAL_SERVER_ERROR' && error.cause) return toApiError(error.cause)
  const code = findCode((each) => each.trpc === error.code)
  return code && code !== 'internal_error' ? new ApiError(code, error.message, { cause: error }) : internalError(error)
}

/** What happened and what to do, for the log. The error's own message is for clients. */
export function messageForOperator({ body, cause }: ApiError): string {
  const isKnown =
    cause instanceof Error &&
    (body.code === 'unavailable' || cause instanceof IdsExhausted || cause instanceof UnreadableRow)
  return isKnown ? cause.message : 'A request failed because of a defect of the service. Report it with this line.'
}

/** 503 with Retry-After, for a condition that is expected to end soon. Without a cause, it is not logged. */
export function temporarilyUnavailable(message: string, options: ApiErrorOptions = {}): ApiError {
  return new ApiError('unavailable', message, { headers: { 'retry-after': '1' }, ...options })
}

/** @param cause without it, the error is not logged */
export function dataUnavailable(cause?: unknown): ApiError {
  return temporarilyUnavailable('The service cannot reach its data at the moment. Try again shortly.', { cause })
}

function internalError(cause: unknown): ApiError {
  return new ApiError('internal_error', 'The service failed. The cause is not in the request.', { cause })
}
